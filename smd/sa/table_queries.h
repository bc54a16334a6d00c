// Queries for tables of ports. P_Keys as agents confirmed them, for the trusted alone; rows and
// arbitration as they are set, where routes or the site want certain ones: what nobody configured
// is not read.
#pragma once

#include "smd/sa/query.h"

namespace smd::sa {

/// The ports of the same agent that have tables of their own: the end port, or all of its switch.
[[nodiscard]] IndexRange<PortIdx> ports_at(const Fabric& fabric, PortIdx end);

/// The row that we set: what routes need goes before what the site wants.
[[nodiscard]] std::optional<SlToVl> find_set_row(const SubnetView& view, PortIdx in, PortIdx out);

[[nodiscard]] Answer find_p_key_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_sl_to_vl_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_vl_arb_records(const SubnetView&, const Query&, const QueryLimits&);

}  // namespace smd::sa
