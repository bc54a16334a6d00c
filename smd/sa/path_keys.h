// In which partition two ports talk (IBA 10.9.3): one that both are in, and not both as limited
// members.
#pragma once

#include <optional>
#include <vector>

#include "smd/sa/subnet_view.h"

namespace smd::sa {

/// The P_Key that a path from `source` to `target` carries. With `asked`, that one where its
/// partition joins them; else the source's key of the default partition, or of the first in the
/// order of the file that joins them. Nothing where none does, or none of `allowed` partitions;
/// without any, all are.
[[nodiscard]] std::optional<PKey> find_path_key(const SubnetView& view,
                                                PortIdx source,
                                                PortIdx target,
                                                std::optional<PKey> asked,
                                                const std::vector<NumberRange>& allowed = {});

}  // namespace smd::sa
