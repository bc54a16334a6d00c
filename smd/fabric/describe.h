// Node descriptions arrive after the snapshot they belong to.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "smd/fabric/fabric.h"

namespace smd {

/// The same snapshot with the descriptions that `known` has; nodes it does not have keep theirs.
[[nodiscard]] std::shared_ptr<const Fabric> with_descriptions(
    const Fabric& fabric, const std::map<Guid, std::string>& known);

}  // namespace smd
