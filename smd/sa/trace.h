// TraceRecord (IBA 15.2.5.19): the nodes along a path, in order, the first and the last included.
// Asked for with GetTraceTable and a PathRecord that names both ends.
#pragma once

#include "smd/ib/types.h"
#include "smd/sa/query.h"

namespace smd::sa {

struct TraceRecord {
  std::uint64_t gid_prefix = kDefaultSubnetPrefix;
  std::uint16_t generation = 0;  // ids of one generation can be compared; ours are GUIDs and stay
  std::uint8_t node_type = 0;    // raw
  std::uint64_t node = 0;
  std::uint64_t chassis = 0;  // system image GUID
  std::uint64_t entry_port_id = 0;
  std::uint64_t exit_port_id = 0;
  PortNum entry_port;  // 0: the path begins here, or came in by port 0
  PortNum exit_port;   // 0: it ends here

  friend bool operator==(const TraceRecord&, const TraceRecord&) = default;
};

inline constexpr std::size_t kTraceRecordSize = 48;

Result<TraceRecord> decode_trace_record(std::span<const std::byte> data);

/// Requires: data.size() >= 48.
void encode_record(const TraceRecord& record, std::span<std::byte> data);

/// Of the first path that the request means; none where there is no such path.
[[nodiscard]] Answer find_trace(const SubnetView& view,
                                const Query& query,
                                const QueryLimits& limits);

}  // namespace smd::sa
