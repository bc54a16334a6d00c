// PathRecord requests: from which ports to which, and which of the ways between them keep what the
// request asks for (IBA 15.2.5.16, 15.4.5).
#pragma once

#include <optional>

#include "smd/sa/path_record.h"
#include "smd/sa/query.h"

namespace smd::sa {

[[nodiscard]] Answer find_path_records(const SubnetView& view,
                                       const Query& query,
                                       const QueryLimits& limits);

/// The value of MTU, rate or lifetime that the answer carries: what the path has, lowered (raised,
/// for a lifetime) where the request asks for less; nothing where the path cannot keep it.
/// "Exactly" a rate is the path's own and no other, as clients know it from OpenSM.
[[nodiscard]] std::optional<std::uint8_t> choose_mtu(const Bound& bound, std::uint8_t path);
[[nodiscard]] std::optional<std::uint8_t> choose_rate(const Bound& bound, std::uint8_t path);
[[nodiscard]] std::optional<std::uint8_t> choose_life_time(const Bound& bound, std::uint8_t path);

}  // namespace smd::sa
