// Queries for records that stand in the snapshot as they are. Each looks up the LID or GUID that
// the request names and scans only what that leaves.
#pragma once

#include "smd/sa/query.h"

namespace smd::sa {

[[nodiscard]] Answer find_node_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_port_info_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_switch_info_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_sm_info_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_guid_info_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_link_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_lft_records(const SubnetView&, const Query&, const QueryLimits&);

}  // namespace smd::sa
