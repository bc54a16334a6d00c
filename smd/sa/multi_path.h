// MultiPathRecord: paths between groups of ports, and as independent ones as there are.
#pragma once

#include <span>
#include <vector>

#include "smd/sa/path_finder.h"
#include "smd/sa/query.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {

// Paths that share as little as they can (IBA 15.2.5.20, IndependenceSelector).

/// At most `per_pair` of the records between any two GIDs. Pairs take turns, each the path that has
/// the fewest links in common with all that were chosen before, then the fewest switches, then the
/// first. `paths`: PathRecords of this view, those of a pair one after the other. What is compared
/// is added to their cost, and is limited as paths that are walked are.
[[nodiscard]] Answer choose_independent(const SubnetView& view,
                                        const Answer& paths,
                                        std::size_t per_pair,
                                        const QueryLimits& limits);

// MultiPathRecord (IBA 15.2.5.20): paths from any of some ports to any of others. The request names
// them by GID; the answer is PathRecords.

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

/// Paths are those of the tables in force; a GID that is named twice counts once. Where fewer are
/// asked for than there are, and independent ones, see choose_independent().
[[nodiscard]] Answer find_multi_paths(const SubnetView& view,
                                      const Query& query,
                                      std::span<const std::byte> data,
                                      const QueryLimits& limits);

}  // namespace smd::sa
