// Hosts that reboot: whoever is away keeps entries and SLs, and finds them when it comes back; has
// routes where cables were lost meanwhile, and nobody else's move for it. Of all engines that make
// routes out of those in force.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/changing_fabric.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace returning_hosts_test {

struct View {
  Fabric fabric;
  LidMap lids;
};

// Hosts stay in the snapshot, without cable and LID, so that indices stay as well.
class Cluster {
 public:
  Cluster(const std::string& call, std::uint8_t lmc) : whole_(view_of(call, lmc)), now_(whole_) {
    for (std::uint32_t n = 0; n < whole_.fabric.node_count(); ++n) {
      if (!whole_.fabric.is_switch(NodeIdx{n})) hosts_.push_back(NodeIdx{n});
    }
    away_.assign(hosts_.size(), 0);
  }

  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }

  [[nodiscard]] const View& view() const { return now_; }

  [[nodiscard]] Lid first_lid(std::size_t host) const {
    return whole_.lids.base[whole_.fabric.port_of(hosts_[host], PortNum{1})];
  }

  /// Of the hosts at that one's switch, that at the lowest port.
  [[nodiscard]] std::size_t first_beside(std::size_t host) const {
    std::size_t first = host;
    for (std::size_t other = 0; other < hosts_.size(); ++other) {
      const PortIdx its = port_at_leaf(other), best = port_at_leaf(first);
      if (whole_.fabric.node_of[its] == whole_.fabric.node_of[best] && its < best) first = other;
    }
    return first;
  }

  /// Each takes the other's LIDs along: both have moved. Nobody is away.
  void swap_lids(std::size_t a, std::size_t b) {
    const PortIdx of_a = whole_.fabric.port_of(hosts_[a], PortNum{1});
    const PortIdx of_b = whole_.fabric.port_of(hosts_[b], PortNum{1});
    std::swap(whole_.lids.base[of_a], whole_.lids.base[of_b]);
    look_again();
  }

  [[nodiscard]] bool is_away(std::size_t host) const { return away_[host] != 0; }

  void toggle(std::size_t host) {
    away_[host] = away_[host] == 0;
    look_again();
  }

  /// Of two switches, one that leaves the network whole. False: there is none.
  [[nodiscard]] bool lose_cable() {
    std::vector<PortIdx> cables;
    for (const PortIdx port : now_.fabric.peer.indices()) {
      const PortIdx far = now_.fabric.peer[port];
      if (far == kNone<PortIdx> || far < port) continue;
      if (is_switch_port(port) && is_switch_port(far)) cables.push_back(port);
    }
    const auto first = static_cast<std::size_t>(pick(0, static_cast<int>(cables.size()) - 1));
    for (std::size_t i = 0; i < cables.size(); ++i) {
      lost_.push_back(cables[(first + i) % cables.size()]);
      look_again();
      if (is_connected()) return true;
      lost_.pop_back();
    }
    look_again();
    return false;
  }

  /// What is wrong with the way from every switch to a host's first LID, there or away.
  [[nodiscard]] std::string follow(std::size_t host, const ForwardingTables& lft) const {
    const Fabric& whole = whole_.fabric;
    const PortIdx port = whole.port_of(hosts_[host], PortNum{1});
    const PortIdx leaf = whole.peer[port];
    const Lid lid = first_lid(host);
    for (std::uint32_t from = 0; from < whole.switch_count(); ++from) {
      NodeIdx at = whole.switch_node[SwitchIdx{from}];
      for (std::uint32_t hops = 0;; ++hops) {
        const PortNum out = lft.route(whole.switch_of[at], lid);
        const bool leads = out.value() <= whole.num_ports(at);
        const PortIdx egress = leads ? whole.port_of(at, out) : kNone<PortIdx>;
        if (at == whole.node_of[leaf] && egress == leaf) break;
        const PortIdx far = egress == kNone<PortIdx> ? egress : now_.fabric.peer[egress];
        if (far == kNone<PortIdx> || !is_switch_port(far) || hops > whole.switch_count())
          return fmt::format("switch {}, lid {}: stuck at node {}", from, lid, at);
        at = whole.node_of[far];
      }
    }
    return {};
  }

 private:
  static View view_of(const std::string& call, std::uint8_t lmc) {
    const Generated g = generated(call, lmc);
    return {g.fabric, g.lids};
  }

  [[nodiscard]] PortIdx port_at_leaf(std::size_t host) const {
    return whole_.fabric.peer[whole_.fabric.port_of(hosts_[host], PortNum{1})];
  }

  [[nodiscard]] bool is_switch_port(PortIdx port) const {
    return whole_.fabric.is_switch(whole_.fabric.node_of[port]);
  }

  [[nodiscard]] bool is_connected() const {
    const SwitchIdx first{0};
    const auto distance = compute_distances(SwitchGraph(now_.fabric), {&first, 1});
    return std::ranges::none_of(distance, [](std::uint32_t d) { return d == kUnreached; });
  }

  void look_again() {
    now_.fabric.peer = whole_.fabric.peer;
    for (const PortIdx port : lost_)
      now_.fabric.peer[whole_.fabric.peer[port]] = now_.fabric.peer[port] = kNone<PortIdx>;
    now_.lids = make_lid_map(now_.fabric);
    for (const PortIdx port : whole_.lids.base.indices()) {
      const auto at = std::ranges::find(hosts_, whole_.fabric.node_of[port]);
      if (at != hosts_.end() && away_[static_cast<std::size_t>(at - hosts_.begin())]) {
        if (const PortIdx far = whole_.fabric.peer[port]; far != kNone<PortIdx>)
          now_.fabric.peer[port] = now_.fabric.peer[far] = kNone<PortIdx>;
      } else if (whole_.lids.base[port] != kUnassignedLid) {
        set_lid(now_.lids, port, whole_.lids.base[port], whole_.lids.lmc[port]);
      }
    }
  }

  View whole_, now_;
  std::vector<NodeIdx> hosts_;
  std::vector<char> away_;
  std::vector<PortIdx> lost_;
};

RoutingTables route(const char* engine,
                    unsigned vls,
                    const View& now,
                    const View* before = nullptr,
                    const RoutingTables* tables = nullptr) {
  RoutingRequest request{.max_vls = vls};
  PreviousRoutes in_force;
  if (before != nullptr) {
    in_force = {&before->fabric, &before->lids, tables};
    request.in_force = &in_force;
    request.previous = &tables->orientation;
  }
  return find_engine(engine)->compute(now.fabric, now.lids, request).value();
}

struct Case {
  const char* engine;
  const char* fabric;
  unsigned vls;
  std::size_t most_away = 99;
  std::uint8_t lmc = 1;  // of ports, sometimes
};

void PrintTo(const Case& on, std::ostream* os) { *os << on.engine << " on " << on.fabric; }

// What a switch would have to be told: nothing, whoever goes or comes.
std::string differs(const RoutingTables& before, const RoutingTables& after) {
  if (before.lft.top() != after.lft.top())
    return fmt::format("top {} became {}", before.lft.top(), after.lft.top());
  for (std::uint32_t sw = 0; sw < before.lft.switches(); ++sw) {
    for (std::uint16_t lid = 1; lid <= before.lft.top().value(); ++lid) {
      const PortNum was = before.lft.route(SwitchIdx{sw}, Lid{lid});
      const PortNum is = after.lft.route(SwitchIdx{sw}, Lid{lid});
      if (was != is) return fmt::format("switch {} to lid {}: {} became {}", sw, lid, was, is);
    }
  }
  if (before.vls != after.vls || before.path_sls != after.path_sls) return "SLs";
  return before.sl_to_vl == after.sl_to_vl ? "" : "SL-to-VL maps";
}

class ReturningHosts : public ::testing::TestWithParam<Case> {};

// At most a quarter are away at a time: where more than half of all LIDs are new, routes may be
// made from scratch. A fat tree whose leaf has lost its last host has another shape for ftree.
TEST_P(ReturningHosts, FindTheirEntriesAndSls) {
  const Case& on = GetParam();
  EXPECT_TRUE(rc::check([&] {
    Cluster cluster{on.fabric, pick(0, 3) == 0 ? on.lmc : std::uint8_t{0}};
    View before = cluster.view();
    RoutingTables tables = route(on.engine, on.vls, before);
    std::size_t away = 0;
    for (int step = 0; step < 8; ++step) {
      const auto host = static_cast<std::size_t>(pick(0, static_cast<int>(cluster.hosts()) - 1));
      if (!cluster.is_away(host) && (4 * (away + 1) > cluster.hosts() || away == on.most_away))
        continue;
      away = cluster.is_away(host) ? away - 1 : away + 1;
      cluster.toggle(host);
      RoutingTables after = route(on.engine, on.vls, cluster.view(), &before, &tables);
      const std::string difference = differs(tables, after);
      if (!difference.empty())
        RC_FAIL(fmt::format(
            "host {} {}: {}", host, cluster.is_away(host) ? "went" : "came back", difference));
      RC_ASSERT(after.recomputed == std::vector<Lid>{});
      RC_ASSERT(check_routes(cluster.view().fabric, cluster.view().lids, after).ok() ||
                std::string_view{on.engine} == "minhop");
      before = cluster.view();
      tables = std::move(after);
    }
  }));
}

// Nobody else's entries move for it. Of itb-vl its own do not either: it leads those of hosts that
// are away along, which share the SLs of whoever is on the same switch.
TEST_P(ReturningHosts, HaveRoutesThoughCablesWentMeanwhile) {
  const Case& on = GetParam();
  EXPECT_TRUE(rc::check([&] {
    Cluster cluster{on.fabric, 0};
    View before = cluster.view();
    RoutingTables tables = route(on.engine, on.vls, before);
    const auto host = static_cast<std::size_t>(pick(0, static_cast<int>(cluster.hosts()) - 1));
    RoutingTables after;
    const auto look = [&] {
      after = route(on.engine, on.vls, cluster.view(), &before, &tables);
      RC_ASSERT(check_routes(cluster.view().fabric, cluster.view().lids, after).ok() ||
                std::string_view{on.engine} == "minhop");
      std::swap(tables, after);
      before = cluster.view();
    };
    cluster.toggle(host);
    look();
    for (int lost = pick(1, 2); lost > 0; --lost) {
      RC_PRE(cluster.lose_cable());
      look();
    }
    const bool led = std::string_view{on.engine} == "itb-vl";
    if (led && cluster.follow(host, tables.lft) != "") RC_FAIL(cluster.follow(host, tables.lft));
    cluster.toggle(host);
    look();
    if (const std::string why = cluster.follow(host, tables.lft); !why.empty()) RC_FAIL(why);
    for (std::uint32_t sw = 0; sw < tables.lft.switches(); ++sw) {
      for (std::uint16_t lid = 1; lid <= tables.lft.top().value(); ++lid) {
        if (!led && Lid{lid} == cluster.first_lid(host)) continue;
        RC_ASSERT(tables.lft.route(SwitchIdx{sw}, Lid{lid}) ==
                  after.lft.route(SwitchIdx{sw}, Lid{lid}));
      }
    }
  }));
}

// Whatever its port: LIDs of one offset share a tree where engines have one for a switch, and whose
// entries it is read from must have had them there.
std::string differs_for_others(const RoutingTables& before,
                               const RoutingTables& after,
                               const std::vector<Lid>& some) {
  for (std::uint32_t at = 0; at < before.lft.switches(); ++at) {
    const SwitchIdx sw{at};
    for (std::uint16_t value = 1; value <= before.lft.top().value(); ++value) {
      const Lid lid{value};
      const bool of_some = std::ranges::any_of(
          some, [&](Lid first) { return value >= first.value() && value < first.value() + 2; });
      if (of_some || before.lft.route(sw, lid) == kNoRoute) continue;
      if (before.lft.route(sw, lid) != after.lft.route(sw, lid))
        return fmt::format("switch {} to lid {}", at, lid);
      if (before.path_sls.sl(sw, lid) != after.path_sls.sl(sw, lid))
        return fmt::format("SL from switch {} to lid {}", at, lid);
    }
  }
  return {};
}

class HostsAtTheLowestPort : public ::testing::TestWithParam<Case> {};

TEST_P(HostsAtTheLowestPort, MoveNobodyElseWhenTheyAreNew) {
  const Case& on = GetParam();
  for (const std::size_t of : {0u, 7u, 20u, 31u}) {
    Cluster cluster{on.fabric, 1};
    const std::size_t host = cluster.first_beside(of);
    cluster.toggle(host);
    const View before = cluster.view();
    const RoutingTables tables = route(on.engine, on.vls, before);
    cluster.toggle(host);
    const RoutingTables after = route(on.engine, on.vls, cluster.view(), &before, &tables);
    EXPECT_TRUE(check_routes(cluster.view().fabric, cluster.view().lids, after).ok());
    EXPECT_TRUE(after.recomputed.has_value());
    EXPECT_EQ(differs_for_others(tables, after, {cluster.first_lid(host)}), "") << host;
  }
}

TEST_P(HostsAtTheLowestPort, MoveNobodyElseWhenTheyMove) {
  const Case& on = GetParam();
  for (const auto& [a, b] : {std::pair{0u, 12u}, std::pair{7u, 20u}, std::pair{31u, 2u}}) {
    Cluster cluster{on.fabric, 1};
    const std::size_t one = cluster.first_beside(a), other = cluster.first_beside(b);
    const View before = cluster.view();
    const RoutingTables tables = route(on.engine, on.vls, before);
    cluster.swap_lids(one, other);
    const RoutingTables after = route(on.engine, on.vls, cluster.view(), &before, &tables);
    EXPECT_TRUE(check_routes(cluster.view().fabric, cluster.view().lids, after).ok());
    EXPECT_TRUE(after.recomputed.has_value());
    EXPECT_EQ(differs_for_others(tables, after, {cluster.first_lid(one), cluster.first_lid(other)}),
              "")
        << one << " " << other;
  }
}

INSTANTIATE_TEST_SUITE_P(Each,
                         HostsAtTheLowestPort,
                         ::testing::Values(Case{"lash", "torus:dims=4.4,hosts=2", 8},
                                           Case{"itb-vl", "torus:dims=4.4,hosts=2", 4}));

INSTANTIATE_TEST_SUITE_P(
    Each,
    ReturningHosts,
    ::testing::Values(Case{"updn", "torus:dims=4.4,hosts=1", 1},
                      Case{"updn", "irregular:switches=12,ports=8,links=4,hosts=2", 1},
                      Case{"ftree", "fat-tree:k=4,levels=3", 1, 1},
                      Case{"minhop", "fat-tree:k=4,levels=3", 1},
                      Case{"minhop", "torus:dims=4.4,hosts=1", 1},
                      Case{"dfsssp", "torus:dims=4.4,hosts=1", 4},
                      Case{"dfsssp", "fat-tree:k=4,levels=3", 4},
                      Case{"lash", "torus:dims=4.4,hosts=1", 8},
                      Case{"lash", "torus:dims=4.4,hosts=2", 8},
                      Case{"itb-vl", "torus:dims=4.4,hosts=1", 4},
                      Case{"itb-vl", "irregular:switches=12,ports=8,links=4,hosts=2", 4},
                      Case{"nue", "torus:dims=5.5,hosts=1", 4},
                      Case{"nue", "torus:dims=4.4,hosts=2", 1},
                      Case{"nue", "irregular:switches=12,ports=8,links=4,hosts=2", 2},
                      Case{"nue", "fat-tree:k=4,levels=3", 1}));

}  // namespace returning_hosts_test
}  // namespace smd::test
