// Answers about one path: PathRecord and TraceRecord.
#pragma once

#include <optional>

#include "smd/ib/types.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/query.h"

namespace smd::sa {

// PathRecord requests: from which ports to which, and which of the paths between them keep what the
// request asks for (IBA 15.2.5.16, 15.4.5).

[[nodiscard]] Answer find_path_records(const SubnetView& view,
                                       const Query& query,
                                       const QueryLimits& limits);

/// The value of MTU, rate or lifetime that the answer carries: what the path has, lowered (raised,
/// for a lifetime) where the request asks for less; nothing where the path cannot keep it.
/// "Exactly" a rate is the path's own and no other, as clients know it from OpenSM.
[[nodiscard]] std::optional<std::uint8_t> choose_mtu(const Bound& bound, std::uint8_t path);
[[nodiscard]] std::optional<std::uint8_t> choose_rate(const Bound& bound, std::uint8_t path);
[[nodiscard]] std::optional<std::uint8_t> choose_life_time(const Bound& bound, std::uint8_t path);

// TraceRecord (IBA 15.2.5.19): the nodes along a path, in order, the first and the last included.
// Asked for with GetTraceTable and a PathRecord that names both ends.

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
