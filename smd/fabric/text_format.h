// A snapshot in the syntax of ibnetdiscover and ibsim (docs/formats/net-file.md).
#pragma once

#include <string>

#include "smd/fabric/fabric.h"
#include "smd/fabric/lid_map.h"

namespace smd {

/// Nodes in snapshot order; LIDs as the map says.
[[nodiscard]] std::string print_net(const Fabric& fabric, const LidMap& lids);

}  // namespace smd
