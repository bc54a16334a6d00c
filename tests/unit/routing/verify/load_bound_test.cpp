// What the fullest channel must carry: proofs are checked by other means than those that found
// them, and on small fabrics compared with the exact answer of a linear program.
#include "smd/routing/verify/load_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <string>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/patterns.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace load_bound_test {

/// The fabric as a linear program sees it: hosts by switch, channels one by one.
struct Demands {
  struct Channel {
    std::uint32_t from = 0, to = 0;
    double capacity = 1;  // in channels of the slowest speed
    PortIdx port;
  };

  Demands(const Fabric& fabric, const LidMap& lids) : hosts(fabric.switch_count(), 0) {
    const auto switch_at = [&](PortIdx port) { return fabric.switch_at(port).value(); };
    for (const PortIdx host : find_hosts(fabric, lids)) ++hosts[switch_at(fabric.peer[host])];
    double slowest = 0;
    for (const PortIdx port : find_channels(fabric)) {
      const auto own = static_cast<double>(link_mbps(fabric, port));
      channels.push_back({switch_at(port), switch_at(fabric.peer[port]), own, port});
      if (own > 0 && (slowest == 0 || own < slowest)) slowest = own;
    }
    for (Channel& each : channels) {
      each.capacity = each.capacity > 0 ? each.capacity / slowest : 1;
      mixed = mixed || each.capacity != 1;
    }
  }

  [[nodiscard]] double paths(std::uint32_t from, std::uint32_t to) const {
    return from == to ? 0 : static_cast<double>(hosts[from] * hosts[to]);
  }

  std::vector<std::uint64_t> hosts;
  std::vector<Channel> channels;
  bool mixed = false;
};

/// The least load at which the channels of a switch take so many LIDs, each by one channel: tried
/// one after the other.
double least_share(const Demands& all, std::uint32_t sw, std::uint64_t away) {
  std::vector<double> loads{0};
  for (const Demands::Channel& each : all.channels) {
    for (std::uint64_t n = 1; each.from == sw && n <= away; ++n)
      loads.push_back(static_cast<double>(n) / each.capacity);
  }
  std::ranges::sort(loads);
  for (const double load : loads) {
    std::uint64_t taken = 0;
    for (const Demands::Channel& each : all.channels) {
      if (each.from == sw) taken += static_cast<std::uint64_t>(load * each.capacity + 1e-9);
    }
    if (taken >= away) return load;
  }
  return INFINITY;
}

/// What the bound says of itself, added up anew: all distances at once (Floyd and Warshall) under
/// its prices, or what its switch sends away.
double proved(const Demands& all, const LoadBound& bound) {
  const auto count = static_cast<std::uint32_t>(all.hosts.size());
  std::vector<std::vector<double>> distance(count, std::vector<double>(count, INFINITY));
  double cost = 0;
  for (std::uint32_t sw = 0; sw < count; ++sw) distance[sw][sw] = 0;
  for (const Demands::Channel& each : all.channels) {
    const double price = bound.prices.empty() ? 1 : bound.prices[each.port.value()];
    distance[each.from][each.to] = std::min(distance[each.from][each.to], price);
    cost += price * each.capacity;
  }
  for (std::uint32_t by = 0; by < count; ++by) {
    for (std::uint32_t from = 0; from < count; ++from) {
      for (std::uint32_t to = 0; to < count; ++to)
        distance[from][to] = std::min(distance[from][to], distance[from][by] + distance[by][to]);
    }
  }
  double paid = 0;
  if (bound.around != kNone<SwitchIdx>) {
    const std::uint32_t sw = bound.around.value();
    std::uint64_t away = 0;
    for (std::uint32_t to = 0; to < count; ++to)
      if (to != sw && std::isfinite(distance[sw][to])) away += all.hosts[to];
    return static_cast<double>(all.hosts[sw]) * least_share(all, sw, away);
  }
  for (std::uint32_t from = 0; from < count; ++from) {
    for (std::uint32_t to = 0; to < count; ++to)
      if (all.paths(from, to) > 0 && std::isfinite(distance[from][to]))
        paid += all.paths(from, to) * distance[from][to];
  }
  const double exact = cost > 0 ? paid / cost : 0;
  return all.mixed ? exact : std::ceil(exact - 1e-9);
}

/// The least that the fullest channel can carry where paths may be divided at will, by the simplex
/// method on the dual: a price for each channel and a distance for each pair, no longer than any
/// simple path. Bland's rule, since most rows begin with 0. Its answer proves itself: see check().
class ExactBound {
 public:
  explicit ExactBound(const Demands& all) : all_(all) {
    const auto count = static_cast<std::uint32_t>(all.hosts.size());
    for (std::uint32_t from = 0; from < count; ++from) {
      for (std::uint32_t to = 0; to < count; ++to) {
        if (all.paths(from, to) == 0) continue;
        met_.assign(count, 0);
        const std::size_t before = paths_.size();
        way_.clear();
        list_paths(from, to, pairs_.size());
        if (paths_.size() > before) pairs_.push_back(all.paths(from, to));
      }
    }
    solve();
  }

  [[nodiscard]] double value() const { return value_; }

  /// The solution of the primal, a division of all paths, carries no more than the value; the
  /// prices of the dual prove no less.
  void check() const {
    std::vector<double> sent(pairs_.size(), 0), load(all_.channels.size(), 0);
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      ASSERT_GE(shares_[path], -1e-7);
      sent[paths_[path].pair] += shares_[path];
      for (const std::size_t channel : paths_[path].channels) load[channel] += shares_[path];
    }
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
      ASSERT_NEAR(sent[pair], pairs_[pair], 1e-6);
    for (std::size_t channel = 0; channel < load.size(); ++channel)
      ASSERT_LE(load[channel], value_ * all_.channels[channel].capacity + 1e-6);
  }

 private:
  struct Path {
    std::size_t pair = 0;
    std::vector<std::size_t> channels;
  };

  void list_paths(std::uint32_t from, std::uint32_t to, std::size_t pair) {
    if (from == to) {
      paths_.push_back({pair, way_});
      return;
    }
    met_[from] = 1;
    for (std::size_t at = 0; at < all_.channels.size(); ++at) {
      const Demands::Channel& each = all_.channels[at];
      if (each.from != from || met_[each.to] != 0) continue;
      way_.push_back(at);
      list_paths(each.to, to, pair);
      way_.pop_back();
    }
    met_[from] = 0;
  }

  /// Maximise c x where A x <= b, x >= 0 and b >= 0.
  void solve() {
    const std::size_t prices = all_.channels.size(), variables = prices + pairs_.size();
    const std::size_t rows = paths_.size() + 1, columns = variables + rows;
    std::vector<std::vector<double>> a(rows + 1, std::vector<double>(columns + 1, 0));
    for (std::size_t row = 0; row < paths_.size(); ++row) {
      a[row][prices + paths_[row].pair] = 1;
      for (const std::size_t channel : paths_[row].channels) a[row][channel] -= 1;
    }
    for (std::size_t at = 0; at < prices; ++at) a[rows - 1][at] = all_.channels[at].capacity;
    a[rows - 1][columns] = 1;
    std::vector<std::size_t> basis(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      a[row][variables + row] = 1;
      basis[row] = variables + row;
    }
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) a[rows][prices + pair] = -pairs_[pair];
    for (std::size_t enters = 0; enters < columns;) {
      if (a[rows][enters] > -1e-9) {
        ++enters;
        continue;
      }
      std::size_t leaves = rows;
      for (std::size_t row = 0; row < rows; ++row) {
        if (a[row][enters] < 1e-9) continue;
        if (leaves == rows) {
          leaves = row;
          continue;
        }
        const double own = a[row][columns] / a[row][enters];
        const double least = a[leaves][columns] / a[leaves][enters];
        if (own < least - 1e-12 || (own < least + 1e-12 && basis[row] < basis[leaves]))
          leaves = row;
      }
      ASSERT_LT(leaves, rows) << "there is no end to the prices";
      pivot(a, leaves, enters);
      basis[leaves] = enters;
      enters = 0;
    }
    value_ = a[rows][columns];
    for (std::size_t path = 0; path < paths_.size(); ++path)
      shares_.push_back(a[rows][variables + path]);
  }

  static void pivot(std::vector<std::vector<double>>& a, std::size_t row, std::size_t column) {
    const double by = a[row][column];
    for (double& each : a[row]) each /= by;
    for (std::size_t other = 0; other < a.size(); ++other) {
      const double times = a[other][column];
      if (other == row || times == 0) continue;
      for (std::size_t at = 0; at < a[other].size(); ++at) a[other][at] -= times * a[row][at];
    }
  }

  const Demands& all_;
  std::vector<double> pairs_;  // paths of each
  std::vector<Path> paths_;
  std::vector<double> shares_;  // how many take each path
  std::vector<char> met_;
  std::vector<std::size_t> way_;
  double value_ = 0;
};

/// Proved, and no less than the exact answer but for what the search leaves; no more than that, but
/// for whole paths and entries.
void expect_exact(const Fabric& fabric, const LidMap& lids) {
  const Demands all(fabric, lids);
  const LoadBound bound = find_load_bound(fabric, lids);
  const ExactBound exact(all);
  exact.check();
  EXPECT_NEAR(bound.fullest, proved(all, bound), 1e-6 * bound.fullest);
  EXPECT_GE(bound.divided, exact.value() * (1 - 1e-9));
  EXPECT_LE(bound.divided, exact.value() * 1.01);
  if (all.mixed) {
    EXPECT_GE(bound.fullest, exact.value() * 0.998);
    if (bound.around == kNone<SwitchIdx>) {
      EXPECT_LE(bound.fullest, exact.value() + 1e-6);
    }
  } else {
    EXPECT_GE(bound.fullest, std::ceil(exact.value() * 0.998 - 1e-6));
    if (bound.around == kNone<SwitchIdx>) {
      EXPECT_LE(bound.fullest, std::ceil(exact.value() - 1e-6));
    }
  }
}

void expect_exact(const std::string& text) {
  SCOPED_TRACE(text);
  const Fabric fabric = fabric_from(text);
  expect_exact(fabric, lids_in_order(fabric));
}

TEST(LoadBound, IsThatOfTheLinearProgramOnSmallFabrics) {
  // A ring of five; one with a chord; a tree with a doubled cable; two spines, one of them thin; a
  // complete graph; hosts where nobody would put them.
  expect_exact("S1-S2 S2-S3 S3-S4 S4-S5 S5-S1 H1-S1 H2-S2 H3-S3 H4-S4 H5-S5");
  expect_exact("S1-S2 S2-S3 S3-S4 S4-S5 S5-S1 S1-S3 H1-S1 H2-S1 H3-S2 H4-S3 H5-S4 H6-S5");
  expect_exact("S1-S2 S1-S2 S2-S3 S2-S4 H1-S1 H2-S1 H3-S1 H4-S3 H5-S4");
  expect_exact("S1-S5 S1-S5 S2-S5 S3-S5 S1-S6 S2-S6 S2-S6 H1-S1 H2-S1 H3-S2 H4-S2 H5-S3 H6-S3");
  expect_exact("S1-S2 S1-S3 S1-S4 S2-S3 S2-S4 S3-S4 H1-S1 H2-S2 H3-S3 H4-S4 H5-S4");
  expect_exact("S1-S2 S2-S3 S3-S1 S3-S4 S4-S5 S5-S3 H1-S1 H2-S2 H3-S3 H4-S4 H5-S5 H6-S5");
}

TEST(LoadBound, CountsBySpeed) {
  Fabric fabric = fabric_from("S1:1-S2:1 S2:2-S3:1 S3:2-S1:2 H1-S1 H2-S1 H3-S2 H4-S2 H5-S3");
  for (PortInfo& info : fabric.port_info) {
    info.link_width_active = 2;
    info.link_speed_active = 1;
  }
  for (const PortIdx port : find_channels(fabric)) {
    const bool fast = port == fabric.port_of(node(fabric, "S1"), PortNum{1}) ||
                      fabric.peer[port] == fabric.port_of(node(fabric, "S1"), PortNum{1});
    if (fast) fabric.port_info[port].link_speed_active = 4;
  }
  const LidMap lids = lids_in_order(fabric);
  ASSERT_TRUE(Demands(fabric, lids).mixed);
  expect_exact(fabric, lids);
  // What S1 and S2 send each other could all take the cable between them, 4 times as fast; to S3
  // and back each sends 2 paths over its own cable.
  EXPECT_NEAR(find_load_bound(fabric, lids).fullest, 2, 0.01);
}

TEST(LoadBound, HostsOfASwitchHaveOneEntryForALid) {
  // 3 hosts here, 3 there, two cables: of 9 paths 6 must share one, since no entry is for less
  // than 3. All tables there are say so.
  const Fabric fabric = fabric_from("S1:1-S2:1 S1:2-S2:2 H1-S1 H2-S1 H3-S1 H4-S2 H5-S2 H6-S2");
  const LidMap lids = lids_in_order(fabric);
  const LoadBound bound = find_load_bound(fabric, lids);
  EXPECT_EQ(bound.fullest, 6);
  EXPECT_NEAR(bound.divided, 4.5, 1e-6);
  EXPECT_NE(bound.around, kNone<SwitchIdx>);
  std::uint64_t least = 100;
  const RoutingTables any = compute("updn", fabric, lids);
  const std::vector<PortIdx> hosts = find_hosts(fabric, lids);
  for (unsigned choice = 0; choice < 64; ++choice) {
    ForwardingTables tables = any.lft;
    for (std::size_t at = 0; at < hosts.size(); ++at) {
      const SwitchIdx own = fabric.switch_at(fabric.peer[hosts[at]]);
      tables.set_route(SwitchIdx{1 - own.value()},
                       lids.base[hosts[at]],
                       PortNum{static_cast<std::uint8_t>(1 + (choice >> at & 1))});
    }
    least = std::min(least, measure_load(fabric, lids, tables).max);
  }
  EXPECT_EQ(least, 6u);
}

// As many paths as leave a switch for others have to cross what leaves it, however long the search
// for prices goes on.
TEST(LoadBound, IsNeverBelowACutAroundASwitch) {
  const Generated g = generated(
      "pgft:down=18.12,up=1.9,parallel=1.2,uneven=10,missing=20,aggregation=1,spine_hosts=2,slow="
      "8");
  const Demands all(g.fabric, g.lids);
  ASSERT_TRUE(all.mixed);
  const LoadBound bound = find_load_bound(g.fabric, g.lids);
  EXPECT_NEAR(bound.fullest, proved(all, bound), 1e-6 * bound.fullest);
  std::uint64_t hosts = 0;
  for (const std::uint64_t of_switch : all.hosts) hosts += of_switch;
  std::vector<double> leaves(all.hosts.size(), 0);
  for (const Demands::Channel& each : all.channels) leaves[each.from] += each.capacity;
  for (std::size_t sw = 0; sw < all.hosts.size(); ++sw) {
    if (all.hosts[sw] == 0) continue;
    const auto paths = static_cast<double>(all.hosts[sw] * (hosts - all.hosts[sw]));
    EXPECT_GE(bound.fullest, paths / leaves[sw] - 1e-6) << "switch " << sw;
  }
}

TEST(LoadBound, RegularFabricsAreAsEvenAsTheirsSay) {
  for (const auto& [call, engine] : {std::pair{"fat-tree:k=8,levels=3", "ftree"},
                                     std::pair{"torus:dims=4.4", "dor"},
                                     std::pair{"hamming:dims=4.4,hosts=2", "hamming"}}) {
    const Generated g = generated(call);
    const LoadReport load = measure_load(g.fabric, g.lids, compute(engine, g.fabric, g.lids).lft);
    EXPECT_EQ(find_load_bound(g.fabric, g.lids).ratio(load.fullest), 1) << call;
  }
}

TEST(LoadBound, NothingMustCrossAChannelWhereNobodyIsBeyondIt) {
  const Fabric fabric = fabric_from("S1-S2 H1-S1 H2-S1 S3-S4");
  const LoadBound bound = find_load_bound(fabric, lids_in_order(fabric));
  EXPECT_EQ(bound.fullest, 0);
  EXPECT_EQ(bound.ratio(0), 1);
  const Fabric none = fabric_from("S1-H1");
  EXPECT_EQ(find_load_bound(none, lids_in_order(none)).fullest, 0);
}

TEST(LoadBound, ACheckerSeesAProofThatIsNone) {
  const Generated g = generated("irregular:switches=12,ports=16,links=4,hosts=4,seed=3");
  const Demands all(g.fabric, g.lids);
  LoadBound bound = find_load_bound(g.fabric, g.lids);
  ASSERT_EQ(proved(all, bound), bound.fullest);
  if (bound.prices.empty()) GTEST_FAIL() << "another fabric is wanted here";
  std::uint32_t& dearest = *std::ranges::max_element(bound.prices);
  dearest *= 100;
  EXPECT_LT(proved(all, bound), bound.fullest);
}

TEST(LoadBound, FewStepsProveLessAndNothingWrong) {
  const Generated g = generated("irregular:switches=16,ports=16,links=4,hosts=4");
  const Demands all(g.fabric, g.lids);
  double before = 0;
  for (const std::uint64_t steps : {0ull, 20'000ull, 10'000'000ull}) {
    const LoadBound bound = find_load_bound(g.fabric, g.lids, steps);
    EXPECT_EQ(proved(all, bound), bound.fullest) << steps;
    EXPECT_GE(bound.fullest, before);
    EXPECT_LE(bound.fullest, std::ceil(bound.divided));
    before = bound.fullest;
  }
  EXPECT_EQ(before, find_load_bound(g.fabric, g.lids, 10'000'000).fullest);
}

TEST(LoadBound, NoRoutesCarryLess) {
  unsigned asked = 0;
  std::map<std::string, unsigned> judged;
  EXPECT_TRUE(rc::check([&] {
    const Fabric fabric = fabric_from(*random_fabric_text());
    const LidMap lids = lids_in_order(fabric);
    const Demands all(fabric, lids);
    const LoadBound bound = find_load_bound(fabric, lids, 100'000);
    RC_ASSERT(std::abs(proved(all, bound) - bound.fullest) <= 1e-6 * bound.fullest);
    ++asked;
    for (const char* const engine : {"minhop", "updn", "dfsssp", "nue", "itb-vl"}) {
      const auto tables = find_engine(engine)->compute(fabric, lids, {.max_vls = 8});
      if (!tables) continue;
      ++judged[engine];
      RC_ASSERT(measure_load(fabric, lids, tables->lft).fullest >= bound.fullest);
    }
  }));
  for (const char* const engine : {"minhop", "updn", "dfsssp", "nue", "itb-vl"})
    EXPECT_EQ(judged[engine], asked) << engine;
}

}  // namespace load_bound_test
}  // namespace smd::test
