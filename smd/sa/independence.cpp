#include "smd/sa/independence.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "smd/sa/path_record.h"
#include "smd/sa/path_walk.h"

namespace smd::sa {
namespace {

struct Candidate {
  std::size_t at = 0;  // among the records
  std::vector<PortIdx> exits;
};

/// Candidates of two GIDs, those that were not chosen yet.
struct Pair {
  Gid from;
  Gid to;
  std::vector<Candidate> left;
};

/// How often each cable and switch was used by paths that were chosen.
class Usage {
 public:
  explicit Usage(const Fabric& fabric)
      : fabric_(fabric), cables_(fabric.port_count(), 0), nodes_(fabric.node_count(), 0) {}

  [[nodiscard]] std::pair<std::size_t, std::size_t> shared(const Candidate& path) const {
    std::size_t cables = 0;
    std::size_t nodes = 0;
    for (const PortIdx exit : path.exits) {
      cables += cables_[cable(exit)] > 0 ? 1u : 0u;
      nodes += nodes_[fabric_.node_of[exit]] > 0 ? 1u : 0u;
    }
    return {cables, nodes};
  }

  void add(const Candidate& path) {
    for (const PortIdx exit : path.exits) {
      ++cables_[cable(exit)];
      ++nodes_[fabric_.node_of[exit]];
    }
  }

 private:
  /// By its lower end: both directions fail together.
  [[nodiscard]] PortIdx cable(PortIdx exit) const { return std::min(exit, fabric_.peer[exit]); }

  const Fabric& fabric_;
  IndexVector<PortIdx, std::uint32_t> cables_;
  IndexVector<NodeIdx, std::uint32_t> nodes_;
};

std::vector<Pair> sort_by_pair(const SubnetView& view, std::span<const std::byte> records) {
  std::vector<Pair> pairs;
  for (std::size_t at = 0; at < records.size(); at += kPathRecordSize) {
    const PathRecord path = *decode_path_record(records.subspan(at, kPathRecordSize));
    if (pairs.empty() || pairs.back().from != path.sgid || pairs.back().to != path.dgid)
      pairs.push_back({path.sgid, path.dgid, {}});
    Candidate candidate{.at = at, .exits = {}};
    static_cast<void>(find_way(view, view.lids().owner_of(path.slid), path.dlid, &candidate.exits));
    pairs.back().left.push_back(std::move(candidate));
  }
  return pairs;
}

}  // namespace

std::vector<std::byte> choose_independent(const SubnetView& view,
                                          std::span<const std::byte> records,
                                          std::size_t per_pair) {
  std::vector<Pair> pairs = sort_by_pair(view, records);
  Usage usage(view.fabric());
  std::vector<std::byte> chosen;
  for (std::size_t turn = 0; turn < per_pair; ++turn) {
    bool any = false;
    for (Pair& pair : pairs) {
      if (pair.left.empty()) continue;
      any = true;
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
  return chosen;
}

}  // namespace smd::sa
