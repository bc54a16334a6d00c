// Queries for tables of ports. P_Keys as agents confirmed them, for the trusted alone; rows and
// arbitration as they are set, where routes or the site want certain ones: what nobody configured
// is not read.
#pragma once

#include "smd/sa/query.h"

namespace smd::sa {

[[nodiscard]] Answer find_p_key_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_sl_to_vl_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_vl_arb_records(const SubnetView&, const Query&, const QueryLimits&);

}  // namespace smd::sa
