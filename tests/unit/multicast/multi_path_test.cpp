// Several paths along labels from one sender: the published example, groups at random beside the
// published rule written down once more, and crossings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include "smd/multicast/check_tree.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "tests/unit/multicast/label_walks.h"

namespace smd {
namespace multi_path_test {

using test::fabric_from;
using test::find_fault_of_one_sender;
using test::label_at;
using test::mesh_text;
using test::Published;
using test::published;
using test::Walks;
using test::with_tables;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Lid kMlid = Walks::kFirst;

/// Both judges, on copies and on labels; and no switch but the sender's copies to two others.
std::string find_fault(const Walks& walks,
                       const std::vector<SwitchMask>& masks,
                       const std::vector<TreeMember>& members) {
  std::map<SwitchIdx, unsigned> entered;
  SwitchIdx root = kNone<SwitchIdx>;
  for (const Branch& branch : walks.paths.find(kMlid)->branches) {
    if (branch.up == kNone<PortIdx>) {
      root = branch.sw;
    } else {
      ++entered[walks.fabric->switch_at(walks.fabric->peer[branch.up])];
    }
  }
  for (const auto& [sw, times] : entered) {
    if (times > 1 && sw != root) return "a packet forks on its way";
  }
  if (turns_up(*walks.fabric, masks, walks.paths.labels())) return "packets turn up again";
  return find_fault_of_one_sender(*walks.fabric, masks, members) +
         find_tree_fault(*walks.fabric, masks, members);
}

/// By the label of the switch that the root sends to, the labels on that path in order.
std::map<std::uint32_t, std::vector<std::uint32_t>> paths_of(const Walks& walks) {
  std::map<std::uint32_t, std::uint32_t> next;  // by the branch's parent; of the root: many
  std::map<std::uint32_t, std::vector<std::uint32_t>> out;
  std::uint32_t root = 0;
  const auto& branches = walks.paths.find(kMlid)->branches;
  for (const Branch& branch : branches) {
    if (branch.up == kNone<PortIdx>) root = walks.label(branch.sw);
  }
  std::vector<std::uint32_t> firsts;
  for (const Branch& branch : branches) {
    if (branch.up == kNone<PortIdx>) continue;
    const auto parent = walks.label(walks.fabric->switch_at(walks.fabric->peer[branch.up]));
    if (parent == root) {
      firsts.push_back(walks.label(branch.sw));
    } else {
      next[parent] = walks.label(branch.sw);
    }
  }
  for (const std::uint32_t first : firsts) {
    auto& path = out[first];
    path.push_back(first);
    while (next.contains(path.back())) path.push_back(next.at(path.back()));
  }
  return out;
}

TEST(MultiPath, TakesThePublishedPaths) {
  Walks walks(mesh_text(6, 6), TreeShape::MultiPath);
  const Published example = published(walks, false);
  const auto masks = walks.masks(example.members);
  EXPECT_EQ(find_fault(walks, masks, example.members), "");
  const auto paths = paths_of(walks);
  ASSERT_EQ(paths.size(), 4u);
  // 6 + 6 + 4 + 5 channels, farthest 6, by the four neighbours of (3,2).
  const auto last = [&](unsigned x, unsigned y) {
    const auto& path = paths.at(label_at(x, y));
    return std::pair(path.size(), path.back());
  };
  EXPECT_EQ(last(4, 2), std::pair(std::size_t{6}, label_at(4, 5)));
  EXPECT_EQ(last(3, 3), std::pair(std::size_t{6}, label_at(0, 5)));
  EXPECT_EQ(last(3, 1), std::pair(std::size_t{4}, label_at(5, 0)));
  EXPECT_EQ(last(2, 2), std::pair(std::size_t{5}, label_at(0, 0)));
}

using Side = std::map<std::uint32_t, std::vector<std::uint32_t>>;  // paths by their first label

/// Which neighbour of the sender's switch leads to whom, once more and in labels alone.
class Rule {
 public:
  explicit Rule(const Walks& walks) {
    for (const PortIdx port : walks.fabric->peer.indices()) {
      const PortIdx far = walks.fabric->peer[port];
      if (far == kNone<PortIdx> || !walks.fabric->is_switch(walks.fabric->node_of[port]) ||
          !walks.fabric->is_switch(walks.fabric->node_of[far]))
        continue;
      const std::uint32_t from = walks.label(walks.fabric->switch_at(port));
      const std::uint32_t to = walks.label(walks.fabric->switch_at(far));
      if (from != to) around_[from].insert(to);
    }
  }

  /// As it was published, for meshes whose rows have `n` switches: by columns. Where a side has
  /// one neighbour it is not divided.
  [[nodiscard]] Side by_columns(std::uint32_t source,
                                const std::set<std::uint32_t>& stops,
                                bool up,
                                unsigned n) const {
    const auto column = [&](std::uint32_t label) {
      return label / n % 2 == 0 ? label % n : n - 1 - label % n;
    };
    const std::vector<std::uint32_t> firsts = firsts_of(source, up);
    return paths(stops, up, [&](std::uint32_t stop) {
      if (firsts.size() < 2) return firsts.at(0);
      const auto [a, b] = std::pair(column(firsts[0]), column(firsts[1]));
      const bool in_a = a < b ? column(stop) <= a : column(stop) >= a;
      return in_a ? firsts[0] : firsts[1];
    });
  }

  /// For any network: from where the way is shortest, then from the nearest label.
  [[nodiscard]] Side by_length(std::uint32_t source,
                               const std::set<std::uint32_t>& stops,
                               bool up) const {
    return paths(stops, up, [&](std::uint32_t stop) {
      std::set<std::tuple<std::size_t, std::uint32_t, std::uint32_t>> choice;
      for (const std::uint32_t first : firsts_of(source, up)) {
        if (up ? first > stop : first < stop) continue;
        std::vector<std::uint32_t> path{first};
        extend(path, stop);
        choice.insert({path.size(), up ? first - source : source - first, first});
      }
      return std::get<2>(*choice.begin());
    });
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t> firsts_of(std::uint32_t source, bool up) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t near : around_.at(source)) {
      if ((near > source) == up) out.push_back(near);
    }
    return out;
  }

  template <class Choose>
  [[nodiscard]] Side paths(const std::set<std::uint32_t>& stops, bool up, Choose choose) const {
    Side out;
    std::map<std::uint32_t, std::vector<std::uint32_t>> of;
    for (const std::uint32_t stop : stops) of[choose(stop)].push_back(stop);
    for (auto& [first, list] : of) {
      if (!up) std::ranges::reverse(list);
      out[first].push_back(first);
      for (const std::uint32_t stop : list) extend(out[first], stop);
    }
    return out;
  }

  /// The furthest label that does not pass the stop's, again and again.
  void extend(std::vector<std::uint32_t>& path, std::uint32_t to) const {
    while (path.back() != to) {
      const std::uint32_t at = path.back();
      std::uint32_t best = at;
      for (const std::uint32_t near : around_.at(at)) {
        if (to > at && near <= to) best = std::max(best, near);
        if (to < at && near >= to) best = std::min(best, near);
      }
      path.push_back(best);
    }
  }

  std::map<std::uint32_t, std::set<std::uint32_t>> around_;
};

bool meet(const Side& paths) {
  std::set<std::uint32_t> met;
  for (const auto& [first, path] : paths) {
    for (const std::uint32_t label : path) {
      if (!met.insert(label).second) return true;
    }
  }
  return false;
}

/// The port of the switch with one label whose link leads to that of the other.
PortIdx port_to(const Walks& walks, std::uint32_t from, std::uint32_t to) {
  for (const PortIdx port : walks.fabric->peer.indices()) {
    const PortIdx far = walks.fabric->peer[port];
    if (far == kNone<PortIdx> || !walks.fabric->is_switch(walks.fabric->node_of[port]) ||
        !walks.fabric->is_switch(walks.fabric->node_of[far]))
      continue;
    if (walks.label(walks.fabric->switch_at(port)) == from &&
        walks.label(walks.fabric->switch_at(far)) == to)
      return port;
  }
  return kNone<PortIdx>;
}

/// Entries as of a maker that does not look whether paths meet.
std::vector<SwitchMask> masks_of(const Walks& walks,
                                 std::uint32_t source,
                                 const std::vector<std::vector<std::uint32_t>>& paths,
                                 const std::vector<TreeMember>& members) {
  std::map<SwitchIdx, PortMask> out;
  const auto copy = [&](PortIdx port) {
    out[walks.fabric->switch_at(port)].set(walks.fabric->number_of(port));
  };
  for (const std::vector<std::uint32_t>& path : paths) {
    std::uint32_t at = source;
    for (const std::uint32_t label : path) {
      copy(port_to(walks, at, label));
      at = label;
    }
  }
  for (const TreeMember& member : members) {
    if (member.receives) copy(walks.fabric->peer[member.port]);
  }
  std::vector<SwitchMask> masks;
  for (const auto& [sw, ports] : out) masks.push_back({sw, ports});
  return masks;
}

/// Stops of one sender on either side of it, and who is there.
struct Group {
  Group(const Walks& walks, Rng& rng, unsigned stops) {
    const auto labels = static_cast<std::uint64_t>(walks.fabric->switch_count());
    source = static_cast<std::uint32_t>(rng.below(labels));
    members.push_back({walks.host(source), false});
    while (members.size() <= std::min<std::uint64_t>(stops, labels - 1)) {
      const auto label = static_cast<std::uint32_t>(rng.below(labels));
      if (label != source && (label > source ? above : below).insert(label).second)
        members.push_back({walks.host(label), true, false});
    }
    std::ranges::sort(members, {}, &TreeMember::port);
  }

  std::uint32_t source = 0;
  std::set<std::uint32_t> above, below;
  std::vector<TreeMember> members;
};

/// The paths that were laid on one side.
Side side_of(const Walks& walks, std::uint32_t source, bool up) {
  Side out;
  for (const auto& [first, path] : paths_of(walks)) {
    if ((first > source) == up) out.emplace(first, path);
  }
  return out;
}

// Paths of different columns have no switch in common.
TEST(MultiPath, OnMeshesPathsNeverMeet) {
  Walks walks(mesh_text(8, 8), TreeShape::MultiPath);
  const Rule rule(walks);
  Rng rng(2);
  for (unsigned each = 0; each < 400; ++each) {
    SCOPED_TRACE(each);
    const Group group(walks, rng, each < 200 ? 9 : 16);
    ASSERT_EQ(find_fault(walks, walks.masks(group.members), group.members), "");
    for (const bool up : {false, true}) {
      const Side published = rule.by_columns(group.source, up ? group.above : group.below, up, 8);
      ASSERT_FALSE(meet(published));
      ASSERT_EQ(side_of(walks, group.source, up), published);
    }
  }
}

struct Meetings {
  unsigned groups = 0;
  unsigned twice = 0;  // of which a maker without eyes sends copies twice
};

/// Groups of which paths would meet: there that side has one, as with two paths. What a maker that
/// does not notice would write is refused, and only that.
Meetings count_meetings(const std::shared_ptr<const Fabric>& fabric,
                        Rng& rng,
                        unsigned groups,
                        unsigned stops) {
  Walks walks(fabric, TreeShape::MultiPath);
  Walks dual(fabric, TreeShape::DualPath);
  const Rule rule(walks);
  Meetings out;
  for (unsigned each = 0; each < groups; ++each) {
    SCOPED_TRACE(each);
    const Group group(walks, rng, stops);
    EXPECT_EQ(find_fault(walks, walks.masks(group.members), group.members), "");
    static_cast<void>(dual.masks(group.members));
    bool any = false;
    std::vector<std::vector<std::uint32_t>> blind;
    for (const bool up : {false, true}) {
      const Side all = rule.by_length(group.source, up ? group.above : group.below, up);
      for (const auto& [first, path] : all) blind.push_back(path);
      const Side own = side_of(walks, group.source, up);
      if (!meet(all)) {
        EXPECT_EQ(own, all);
        continue;
      }
      any = true;
      std::vector<std::uint32_t> one;
      for (const std::uint32_t label : dual.labels_of_tree()) {
        if (label != group.source && (label > group.source) == up) one.push_back(label);
      }
      if (!up) std::ranges::reverse(one);
      EXPECT_EQ(own, (Side{{one.front(), one}}));
    }
    const auto masks = masks_of(walks, group.source, blind, group.members);
    const std::string fault = find_tree_fault(*fabric, masks, group.members);
    EXPECT_EQ(fault, any ? "packets go round" : "");
    if (!any) continue;
    ++out.groups;
    out.twice += find_fault_of_one_sender(*fabric, masks, group.members).empty() ? 0 : 1;
  }
  return out;
}

TEST(MultiPath, WherePathsMeetThatSideHasOne) {
  Rng rng(3);
  const Meetings torus =
      count_meetings(with_tables(fabric_from(mesh_text(8, 8, 1, true))), rng, 300, 9);
  std::cout << "torus of 8 by 8, groups of nine: paths of " << torus.groups << " of 300 meet\n";
  EXPECT_GT(torus.groups, 30u);
  EXPECT_GT(torus.twice, torus.groups / 2) << "packets that came twice";
  Meetings any;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng own(seed);
    std::string text;
    for (unsigned s = 1; s <= 12; ++s) {
      text += fmt::format("H{}-S{} ", s, s);
      if (s > 1) text += fmt::format("S{}-S{} ", s, s - 1);
    }
    for (unsigned more = 0; more < 14; ++more) {
      const std::uint64_t a = own.below(12) + 1;
      const std::uint64_t b = own.below(12) + 1;
      if (a != b) text += fmt::format("S{}-S{} ", a, b);
    }
    const Meetings here = count_meetings(with_tables(fabric_from(text)), own, 10, 6);
    any.groups += here.groups;
    any.twice += here.twice;
  }
  EXPECT_GT(any.groups, 50u);
  EXPECT_GT(any.twice, 20u);
}

TEST(MultiPath, RandomGroupsCloseNoLoopWithUnicastRoutes) {
  unsigned searched = 0;
  std::size_t several = 0;  // paths beyond the second
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto rows = static_cast<unsigned>(rng.below(4)) + 1;
    const auto columns = static_cast<unsigned>(rng.below(4)) + 2;
    const auto links = static_cast<unsigned>(rng.below(2)) + 1;
    const bool any = seed % 4 == 0;
    const auto text = mesh_text(rows, columns, links, seed % 3 == 0);
    const auto fabric = with_tables(fabric_from(any ? test::random_text(rng, 9) : text));
    const LidMap lids = test::lids_in_order(*fabric);
    const auto routes = find_engine("hamiltonian")->compute(*fabric, lids, RoutingRequest{});
    if (any && !routes) continue;
    ASSERT_TRUE(routes);
    searched += any ? 1 : 0;
    Walks walks(fabric, TreeShape::MultiPath);
    ChannelGraph graph(*fabric, 1);
    add_table_turns(*fabric, lids, routes->lft, graph);
    for (unsigned group = 0; group < 6; ++group) {
      const auto members = test::one_sender(*fabric, rng, rng.below(9) + 1);
      const auto masks = walks.masks(members);
      ASSERT_EQ(find_fault(walks, masks, members), "");
      ASSERT_THAT(walks.paths.find(kMlid)->stranded, IsEmpty());
      const std::size_t paths = paths_of(walks).size();
      several += paths > 2 ? paths - 2 : 0;
      add_tree_turns(*fabric, masks, 0, graph);
    }
    ASSERT_THAT(graph.find_cycle(), IsEmpty());
  }
  EXPECT_GT(searched, 3u);
  EXPECT_GT(several, 200u);
}

TEST(MultiPath, WithoutAnOnlySenderThereIsOneDualPath) {
  Walks multi(mesh_text(4, 4), TreeShape::MultiPath);
  Walks dual(mesh_text(4, 4), TreeShape::DualPath);
  Rng rng(9);
  for (unsigned group = 0; group < 50; ++group) {
    const auto members = test::random_members(*multi.fabric, rng);
    if (members.empty()) continue;
    EXPECT_EQ(multi.masks(members), dual.masks(members));
  }
}

// What a receiver sends would go down the labels to the sender and up again: the judge says so.
TEST(MultiPath, CopiedBackWhatReceiversSendTurnsUp) {
  Walks walks(mesh_text(6, 6), TreeShape::MultiPath);
  Published example = published(walks, false);
  static_cast<void>(walks.masks(example.members));
  for (TreeMember& member : example.members) member.sends = true;
  const auto masks = compute_masks(*walks.fabric, *walks.paths.find(kMlid), example.members);
  EXPECT_TRUE(turns_up(*walks.fabric, masks, walks.paths.labels()));
}

//  6 7 8    labels of switches; (1,1) sends. Up go 5 to (2,1) and 7 to (1,2), the latter no more
//  5 4 3    when the switch has no room, and everybody on that side is reached by the other.
//  0 1 2
TEST(MultiPath, ANeighbourWithoutRoomIsPassedBy) {
  Fabric fabric = *with_tables(fabric_from(mesh_text(3, 3)));
  Walks all(std::make_shared<const Fabric>(fabric), TreeShape::MultiPath);
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (all.label(sw) == 7) fabric.switch_info[sw].multicast_fdb_cap = 0;
  }
  Walks walks(std::make_shared<const Fabric>(fabric), TreeShape::MultiPath);
  const std::vector<TreeMember> members{{walks.host(4), false},
                                        {walks.host(5), true, false},
                                        {walks.host(6), true, false},
                                        {walks.host(8), true, false}};
  const auto masks = walks.masks(members);
  EXPECT_THAT(walks.paths.find(kMlid)->stranded, ElementsAre(walks.host(8)));
  EXPECT_THAT(walks.labels_of_tree(), ElementsAre(4, 5, 6));
  EXPECT_EQ(find_fault(walks, masks, {members[0], members[1], members[2]}), "");
}

}  // namespace multi_path_test
}  // namespace smd
