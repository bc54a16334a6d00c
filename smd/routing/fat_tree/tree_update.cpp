
#include <algorithm>
#include <utility>

#include "smd/routing/fat_tree/tree_tables.h"
#include "smd/routing/incremental/changes.h"

namespace smd {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

class Changer {
 public:
  Changer(const Fabric& fabric,
          Lid top,
          const TreeFabric& tree,
          const PreviousRoutes& in_force,
          const TreeFabric& before)
      : fabric_(fabric),
        top_(top),
        tree_(tree),
        in_force_(in_force),
        before_(before),
        was_(find_rows_before(*in_force.fabric, fabric)),
        search_(tree.graph, tree.up_down),
        search_before_(before.graph, before.up_down),
        anew_(tree.graph.switches(), 0),
        moved_(tree.graph.switches(), 0) {}

  std::optional<TreeChange> run() {
    if (!same_rule()) return std::nullopt;
    find_rows();
    if (!find_moved()) return std::nullopt;
    out_.lft = copy_tables(in_force_.routing->lft, was_, top_);
    drop_stale();
    TreeWriter writer{tree_, search_}, writer_before{before_, search_before_};
    const std::vector<SwitchIdx>& all = tree_.destinations;
    for (std::size_t from = 0; from < all.size(); from += BatchSearch::kBatch) {
      const std::size_t count = std::min(BatchSearch::kBatch, all.size() - from);
      write_batch(writer, writer_before, {all.data() + from, count});
    }
    for (std::size_t lid = 0; lid < writer.changed().size(); ++lid) {
      if (writer.changed()[lid]) out_.recomputed.push_back(Lid{static_cast<std::uint16_t>(lid)});
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool same_rule() const {
    if (tree_.divider != before_.divider) return false;
    for (std::uint32_t level = 0; level < tree_.divider.size(); ++level) {
      if (tree_.slots.count(level) != before_.slots.count(level)) return false;
    }
    return true;
  }

  // Rows to be written from end to end: switches that are new, have other cables or another place
  // to begin at, or whose neighbours count their slots differently.
  void find_rows() {
    for (const SwitchIdx sw : anew_.indices()) {
      if (was_[sw] == kNone<SwitchIdx>) {
        anew_[sw] = 1;
        continue;
      }
      if (!same_links(sw) || tree_.source[sw] != before_.source[was_[sw]]) anew_[sw] = 1;
      if (same_slots(sw)) continue;
      anew_[sw] = 1;
      // Parallel cables down are chosen by the slots of the child.
      for (const SwitchEdge& edge : tree_.graph.edges(sw)) {
        if (tree_.shape.level[edge.to] == tree_.shape.level[sw] + 1) anew_[edge.to] = 1;
      }
    }
  }

  [[nodiscard]] bool same_links(SwitchIdx sw) const {
    const SwitchIdx was = was_[sw];
    const auto edges = tree_.graph.edges(sw), edges_were = before_.graph.edges(was);
    const std::uint32_t ups = search_.first_down(sw) - search_.first_link(sw);
    const std::uint32_t ups_were = search_before_.first_down(was) - search_before_.first_link(was);
    return tree_.shape.level[sw] == before_.shape.level[was] && ups == ups_were &&
           std::equal(edges.begin(),
                      edges.end(),
                      edges_were.begin(),
                      edges_were.end(),
                      [&](const SwitchEdge& is, const SwitchEdge& before) {
                        return is.port == before.port && is.peer_port == before.peer_port &&
                               was_[is.to] == before.to &&
                               tree_.shape.level[is.to] == before_.shape.level[before.to] &&
                               same_direction(sw, is.to, was, before.to);
                      });
  }

  [[nodiscard]] bool same_direction(SwitchIdx a,
                                    SwitchIdx b,
                                    SwitchIdx a_was,
                                    SwitchIdx b_was) const {
    const auto& rank = tree_.orientation.rank;
    const auto& rank_was = before_.orientation.rank;
    if (rank[a] == rank[b] || rank_was[a_was] == rank_was[b_was])
      return rank[a] == rank[b] && rank_was[a_was] == rank_was[b_was];
    return (rank[a] < rank[b]) == (rank_was[a_was] < rank_was[b_was]);
  }

  [[nodiscard]] bool same_slots(SwitchIdx sw) const {
    const auto slots = tree_.slots.of(sw), were = before_.slots.of(was_[sw]);
    return std::equal(slots.begin(),
                      slots.end(),
                      were.begin(),
                      were.end(),
                      [](const UpSlots::Slot& a, const UpSlots::Slot& b) {
                        return a.port == b.port && a.parent == b.parent;
                      });
  }

  // Destinations with LIDs that are new, elsewhere or numbered otherwise. False: most of them.
  [[nodiscard]] bool find_moved() {
    struct Place {
      SwitchIdx sw = kNone<SwitchIdx>;
      PortNum egress;
    };

    std::vector<Place> places(before_.number.size());
    for (const SwitchIdx sw : before_.destinations) {
      for (const Target& target : before_.targets.of[sw]) {
        for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
          places[target.base.value() + offset] = {sw, target.egress};
      }
    }
    std::size_t moved = 0;
    for (const SwitchIdx sw : tree_.destinations) {
      for (const Target& target : tree_.targets.of[sw]) {
        for (unsigned offset = 0; offset < 1u << target.lmc; ++offset) {
          const std::size_t lid = target.base.value() + offset;
          moved_[sw] = moved_[sw] || was_[sw] == kNone<SwitchIdx> || lid >= places.size() ||
                       places[lid].sw != was_[sw] || places[lid].egress != target.egress ||
                       before_.number[lid] != tree_.number[lid];
        }
      }
      moved += moved_[sw] != 0;
    }
    return 2 * moved <= tree_.destinations.size();
  }

  // Entries to LIDs that nobody can be reached by: over ports that lead elsewhere, or all if links
  // were turned.
  void drop_stale() {
    std::vector<char> served(out_.lft.blocks() * kLftBlockSize, 0);
    for (const SwitchIdx sw : tree_.destinations) {
      for (const Target& target : tree_.targets.of[sw])
        std::fill_n(served.begin() + target.base.value(), 1u << target.lmc, 1);
    }
    std::vector<Lid> stale;
    for (std::size_t lid = 1; lid < served.size(); ++lid) {
      if (!served[lid]) stale.push_back(Lid{static_cast<std::uint16_t>(lid)});
    }
    for (const auto& [sw, port] : find_loopback_links(fabric_)) {
      for (const Lid lid : stale) {
        if (out_.lft.route(sw, lid) == port) out_.lft.set_route(sw, lid, kNoRoute);
      }
    }
    bool turned = false;
    for (const SwitchIdx sw : anew_.indices()) {
      if (was_[sw] == kNone<SwitchIdx>) continue;
      for (const SwitchEdge& edge : tree_.graph.edges(sw)) {
        turned = turned || (was_[edge.to] != kNone<SwitchIdx> &&
                            !same_direction(sw, edge.to, was_[sw], was_[edge.to]));
      }
    }
    for (const SwitchIdx sw : anew_.indices()) {
      if (!turned && !anew_[sw]) continue;
      for (const Lid lid : stale) {
        if (turned || leads_elsewhere(sw, out_.lft.route(sw, lid)))
          out_.lft.set_route(sw, lid, kNoRoute);
      }
    }
  }

  // Than before, and to a switch: what ends at a dead port or at a host does no harm.
  [[nodiscard]] bool leads_elsewhere(SwitchIdx sw, PortNum port) const {
    const auto neighbour_of = [&](const SwitchGraph& graph, SwitchIdx at) {
      const auto edges = graph.edges(at);
      const auto found = std::find_if(
          edges.begin(), edges.end(), [&](const SwitchEdge& edge) { return edge.port == port; });
      return found == edges.end() ? kNone<SwitchIdx> : found->to;
    };
    const SwitchIdx now = neighbour_of(tree_.graph, sw);
    return now != kNone<SwitchIdx> &&
           (was_[sw] == kNone<SwitchIdx> || neighbour_of(before_.graph, was_[sw]) != was_[now]);
  }

  void write_batch(TreeWriter& writer,
                   TreeWriter& writer_before,
                   std::span<const SwitchIdx> destinations) {
    std::array<SwitchIdx, BatchSearch::kBatch> were;
    std::uint64_t moved = 0;
    for (std::size_t i = 0; i < destinations.size(); ++i) {
      were[i] = was_[destinations[i]];
      if (moved_[destinations[i]]) moved |= std::uint64_t{1} << i;
    }
    search_.find(destinations);
    search_before_.find({were.data(), destinations.size()});
    writer.begin(destinations);
    writer_before.begin({were.data(), destinations.size()});
    const std::uint64_t all = kAll >> (BatchSearch::kBatch - destinations.size());
    for (const SwitchIdx sw : anew_.indices()) {
      const std::uint64_t which = anew_[sw] ? all
                                            : moved | find_different(sw) | writer.meets_gaps(sw) |
                                                  writer_before.meets_gaps(was_[sw]);
      if (which != 0) writer.write(sw, which, SharedRow{out_.lft, sw});
    }
  }

  // Links of both come in the same order: their cables do.
  [[nodiscard]] std::uint64_t find_different(SwitchIdx sw) const {
    std::uint32_t link_was = search_before_.first_link(was_[sw]);
    std::uint64_t different = 0;
    for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link)
      different |= search_.wanted(link) ^ search_before_.wanted(link_was++);
    return different;
  }

  const Fabric& fabric_;
  const Lid top_;
  const TreeFabric& tree_;
  const PreviousRoutes& in_force_;
  const TreeFabric& before_;
  const IndexVector<SwitchIdx, SwitchIdx> was_;
  BatchSearch search_, search_before_;
  IndexVector<SwitchIdx, char> anew_;
  IndexVector<SwitchIdx, char> moved_;
  TreeChange out_;
};

}  // namespace

std::optional<TreeChange> change_tree(const Fabric& fabric,
                                      const LidMap& lids,
                                      const TreeFabric& tree,
                                      const PreviousRoutes& in_force,
                                      const TreeFabric& before) {
  if (in_force.routing->lft.switches() != in_force.fabric->switch_count()) return std::nullopt;
  return Changer{fabric, lids.top, tree, in_force, before}.run();
}

}  // namespace smd
