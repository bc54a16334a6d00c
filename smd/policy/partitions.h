// Without a partition file: every end port is a full member of the default partition.
#pragma once

#include <vector>

#include "smd/policy/table_check.h"

namespace smd {

/// Looks at the first P_Key block of every end port. A table without the default partition gets it
/// where it is a limited member, in its first free entry, or in entry 0 when it has none. After
/// power-on every table has it (IBA 10.9.2), so this only repairs what somebody left behind.
[[nodiscard]] std::vector<TableCheck> build_default_pkey_checks(const Fabric& fabric);

}  // namespace smd
