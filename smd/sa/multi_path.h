// MultiPathRecord (IBA 15.2.5.20): paths from any of some ports to any of others. The request names
// them by GID; the answer is PathRecords.
#pragma once

#include <vector>

#include "smd/sa/path_record.h"
#include "smd/sa/query.h"

namespace smd::sa {

struct MultiPathRecord {
  PathRecord wanted;              // what is asked of each path; its GIDs and LIDs mean nothing
  std::uint8_t independence = 0;  // 2 bits; 1: as little in common as can be
  std::vector<Gid> sgids;         // at most 255, as the next
  std::vector<Gid> dgids;

  friend bool operator==(const MultiPathRecord&, const MultiPathRecord&) = default;
};

namespace multi_path_component {
inline constexpr std::uint64_t kIndependence = component_bit(17);
inline constexpr std::uint64_t kSgidCount = component_bit(19);
inline constexpr std::uint64_t kDgidCount = component_bit(20);
}  // namespace multi_path_component

/// Malformed when there are fewer GIDs than the counts say.
Result<MultiPathRecord> decode_multi_path_record(std::span<const std::byte> data);

[[nodiscard]] std::vector<std::byte> encode_multi_path_record(const MultiPathRecord& record);

/// Paths are those of the tables in force. Where fewer are asked for than there are, and
/// independent ones, see independence.h.
[[nodiscard]] Answer find_multi_paths(const SubnetView& view,
                                      const Query& query,
                                      std::span<const std::byte> data,
                                      const QueryLimits& limits);

}  // namespace smd::sa
