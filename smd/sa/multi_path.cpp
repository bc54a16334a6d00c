#include "smd/sa/multi_path.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "smd/mad/codec.h"
#include "smd/sa/path_finder.h"

namespace smd::sa {
namespace {

struct Candidate {
  std::size_t at = 0;  // among the records
  std::vector<PortIdx> egresses;
};

/// Candidates of two GIDs, those that were not chosen yet.
struct Pair {
  Gid from;
  Gid to;
  std::vector<Candidate> left;
};

/// How often each link and switch was used by paths that were chosen.
class Usage {
 public:
  explicit Usage(const Fabric& fabric)
      : fabric_(fabric), links_(fabric.port_count(), 0), nodes_(fabric.node_count(), 0) {}

  [[nodiscard]] std::pair<std::size_t, std::size_t> shared(const Candidate& path) const {
    std::size_t links = 0;
    std::size_t nodes = 0;
    for (const PortIdx egress : path.egresses) {
      links += links_[link(egress)] > 0 ? 1u : 0u;
      nodes += nodes_[fabric_.node_of[egress]] > 0 ? 1u : 0u;
    }
    return {links, nodes};
  }

  void add(const Candidate& path) {
    for (const PortIdx egress : path.egresses) {
      ++links_[link(egress)];
      ++nodes_[fabric_.node_of[egress]];
    }
  }

 private:
  /// By its lower end: both directions fail together.
  [[nodiscard]] PortIdx link(PortIdx egress) const {
    return std::min(egress, fabric_.peer[egress]);
  }

  const Fabric& fabric_;
  IndexVector<PortIdx, std::uint32_t> links_;
  IndexVector<NodeIdx, std::uint32_t> nodes_;
};

std::vector<Pair> sort_by_pair(const SubnetView& view, std::span<const std::byte> records) {
  std::vector<Pair> pairs;
  for (std::size_t at = 0; at < records.size(); at += kPathRecordSize) {
    const PathRecord path = *decode_path_record(records.subspan(at, kPathRecordSize));
    if (pairs.empty() || pairs.back().from != path.sgid || pairs.back().to != path.dgid)
      pairs.push_back({path.sgid, path.dgid, {}});
    Candidate candidate{.at = at, .egresses = {}};
    static_cast<void>(
        find_path(view, view.lids().owner_of(path.slid), path.dlid, &candidate.egresses));
    pairs.back().left.push_back(std::move(candidate));
  }
  return pairs;
}

// The part that a MultiPathRecord shares with a PathRecord: 13 bytes from the raw-traffic bit to
// the lifetime, in the same order, and 16 components, likewise.
constexpr std::size_t kSharedAt = 44;  // in a PathRecord
constexpr std::size_t kSharedSize = 13;
constexpr unsigned kSharedComponents = 16;
constexpr unsigned kFirstShared = 6;  // component of a PathRecord

constexpr std::size_t kFixedSize = 24;  // what stands before the GIDs
constexpr std::size_t kGidSize = 16;

constexpr std::uint8_t kAsIndependentAsPossible = 1;

/// Of a pair, to choose from: as many as there are ways to a port with LMC 7, which matched LIDs
/// lead. What comes after them has a way that one of them has.
constexpr std::size_t kMostCandidates = 128;

void drop_repeated(std::vector<Gid>& gids) {
  std::set<Gid> seen;
  std::erase_if(gids, [&](const Gid& gid) { return !seen.insert(gid).second; });
}

}  // namespace

Answer choose_independent(const SubnetView& view,
                          const Answer& paths,
                          std::size_t per_pair,
                          const QueryLimits& limits) {
  const std::span<const std::byte> records(paths.records);
  std::vector<Pair> pairs = sort_by_pair(view, records);
  Usage usage(view.fabric());
  std::vector<std::byte> chosen;
  std::size_t compared = 0;
  for (std::size_t turn = 0; turn < per_pair; ++turn) {
    bool any = false;
    for (Pair& pair : pairs) {
      if (pair.left.empty()) continue;
      any = true;
      compared += pair.left.size();
      if (compared > limits.paths)
        return {.status = Status::NoResources, .cost = paths.cost + compared};
      const auto best = std::ranges::min_element(pair.left, {}, [&](const Candidate& each) {
        return std::tuple(usage.shared(each), each.at);
      });
      usage.add(*best);
      const auto record = records.subspan(best->at, kPathRecordSize);
      chosen.insert(chosen.end(), record.begin(), record.end());
      pair.left.erase(best);
    }
    if (!any) break;
  }
  return {.offset = paths.offset,
          .records = std::move(chosen),
          .cost = paths.cost + paths.count() + compared};
}

Result<MultiPathRecord> decode_multi_path_record(std::span<const std::byte> data) {
  if (data.size() < kFixedSize) return codec::too_short("MultiPathRecord", data.size());
  std::array<std::byte, kPathRecordSize> as_path{};
  std::ranges::copy(data.first(kSharedSize), as_path.begin() + kSharedAt);
  MultiPathRecord record{.wanted = *decode_path_record(as_path)};
  ByteReader in(data.subspan(kSharedSize));
  const std::uint64_t id_high = in.u8();
  record.independence = codec::bits(in.u8(), 6, 2);
  const unsigned sources = in.u8();
  const unsigned targets = in.u8();
  record.wanted.service_id = id_high << 56 | std::uint64_t{in.u24()} << 32 | in.u32();
  if (in.remaining() < kGidSize * (sources + targets))
    return codec::too_short("MultiPathRecord", data.size());
  const auto read = [&in](unsigned count, std::vector<Gid>& gids) {
    for (unsigned i = 0; i < count; ++i) {
      const std::uint64_t prefix = in.u64();
      gids.push_back({prefix, Guid{in.u64()}});
    }
  };
  read(sources, record.sgids);
  read(targets, record.dgids);
  return record;
}

std::vector<std::byte> encode_multi_path_record(const MultiPathRecord& record) {
  std::array<std::byte, kPathRecordSize> as_path{};
  encode_record(record.wanted, as_path);
  std::vector<std::byte> data(kFixedSize + kGidSize * (record.sgids.size() + record.dgids.size()));
  std::ranges::copy(std::span(as_path).subspan(kSharedAt, kSharedSize), data.begin());
  ByteWriter out{std::span(data).subspan(kSharedSize)};
  out.u8(static_cast<std::uint8_t>(record.wanted.service_id >> 56));
  out.u8(codec::place(record.independence, 6, 2));
  out.u8(static_cast<std::uint8_t>(record.sgids.size()));
  out.u8(static_cast<std::uint8_t>(record.dgids.size()));
  out.u24(static_cast<std::uint32_t>(record.wanted.service_id >> 32 & 0xffffff));
  out.u32(static_cast<std::uint32_t>(record.wanted.service_id));
  for (const std::vector<Gid>* gids : {&record.sgids, &record.dgids}) {
    for (const Gid& gid : *gids) {
      out.u64(gid.prefix);
      out.u64(gid.guid.value());
    }
  }
  return data;
}

Answer find_multi_paths(const SubnetView& view,
                        const Query& query,
                        std::span<const std::byte> data,
                        const QueryLimits& limits) {
  const std::uint64_t mask = query.header.component_mask;
  constexpr std::uint64_t kCounts =
      multi_path_component::kSgidCount | multi_path_component::kDgidCount;
  if ((mask & kCounts) != kCounts) return {.status = Status::InsufficientComponents};
  Result<MultiPathRecord> record = decode_multi_path_record(data);
  if (!record || record->sgids.empty() || record->dgids.empty())
    return {.status = Status::RequestInvalid};
  drop_repeated(record->sgids);
  drop_repeated(record->dgids);

  constexpr std::uint64_t kShared = component_bit(kSharedComponents) - 1;
  constexpr std::uint64_t kServiceId = component_bit(16) | component_bit(21);
  PathRequest request{.wanted = record->wanted,
                      .mask = (mask & kShared) << kFirstShared,
                      .order = view.parts().path_order};
  if ((mask & kServiceId) == kServiceId) request.mask |= path_component::kServiceId;
  const bool counted = request.asks(path_component::kNumbPath);
  const bool apart = counted && (mask & multi_path_component::kIndependence) != 0 &&
                     record->independence == kAsIndependentAsPossible;
  if (counted) request.paths_per_pair = apart ? kMostCandidates : record->wanted.numb_path;
  PathFinder finder(view, request, limits);
  for (const Gid& sgid : record->sgids) {
    const PortIdx source = find_gid(view, sgid);
    if (source == kNone<PortIdx>) return {.status = Status::InvalidGid};
    for (const Gid& dgid : record->dgids) {
      const PortIdx target = find_gid(view, dgid);
      if (target == kNone<PortIdx>) return {.status = Status::InvalidGid};
      if (!is_visible(view, query, source) || !is_visible(view, query, target)) continue;
      if (!finder.add_pair({.port = source, .gid = sgid}, {.port = target, .gid = dgid}))
        return finder.finish();
    }
  }
  const Answer answer = finder.finish();
  return apart ? choose_independent(view, answer, record->wanted.numb_path, limits) : answer;
}

}  // namespace smd::sa
