// Routes that are known to have credit loops, or known to have none, as far as tables by
// destination can express them: the checker must tell them apart. Flattened butterflies and
// dragonflies after Kim, Dally et al. (2007, 2008), meshes after Glass and Ni (1992) and Lin,
// McKinley and Ni (1994).
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <sstream>

#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace deadlock_cases_test {

using Place = std::vector<int>;  // "sw-3-1": {3, 1}

class DrawnRoutes {
 public:
  /// The switch that `from` hands over to, for LID offset k of a host at `to`.
  using Rule = std::function<Place(const Place& from, const Place& to, int k)>;

  /// Data VL of an SL on a turn; `before` is nothing for packets that begin at the switch.
  using VlRule = std::function<int(
      const std::optional<Place>& before, const Place& at, const Place& after, int sl)>;

  DrawnRoutes(const std::string& call, std::uint8_t lmc, const Rule& rule)
      : fabric_(Reshaped{call}.build()), lids_(lids_in_order(fabric_, lmc)) {
    tables_.engine = "drawn";
    tables_.lft = ForwardingTables{fabric_.switch_count(), lids_.top};
    for (const SwitchIdx sw : fabric_.switch_node.indices()) places_.push_back(read(sw));
    each_path([&](SwitchIdx sw, SwitchIdx to, PortNum egress, Lid lid, int k) {
      tables_.lft.set_route(
          sw, lid, sw == to ? egress : port(sw, rule(places_[sw], places_[to], k)));
    });
  }

  void set_sl_to_vl(unsigned vls, const VlRule& vl_of) {
    tables_.vls = vls;
    tables_.sl_to_vl = SlToVlMaps{fabric_};
    (void)tables_.sl_to_vl.add_row(SlToVl{});
    for (const SwitchIdx sw : places_.indices()) {
      for (const PortIdx out : fabric_.external_ports(fabric_.switch_node[sw])) {
        const SwitchIdx after = find_next_switch(out);
        if (after == kNone<SwitchIdx>) continue;
        for (const PortIdx in : fabric_.ports_of(fabric_.switch_node[sw])) {
          const SwitchIdx before = find_next_switch(in);
          std::optional<Place> from;
          if (before != kNone<SwitchIdx>) from = places_[before];
          SlToVl row{};
          for (int sl = 0; sl < 16; ++sl) {
            row[static_cast<std::size_t>(sl)] =
                Vl{static_cast<std::uint8_t>(vl_of(from, places_[sw], places_[after], sl))};
          }
          tables_.sl_to_vl.set_row(
              sw, fabric_.number_of(in), fabric_.number_of(out), tables_.sl_to_vl.add_row(row));
        }
      }
    }
  }

  void set_sls(const std::function<int(const Place& from, const Place& to, int k)>& sl) {
    tables_.path_sls = PathSls{fabric_.switch_count(), lids_.top};
    each_path([&](SwitchIdx sw, SwitchIdx to, PortNum, Lid lid, int k) {
      tables_.path_sls.set_sl(sw, lid, static_cast<std::uint8_t>(sl(places_[sw], places_[to], k)));
    });
  }

  [[nodiscard]] RouteReport check() const { return check_routes(fabric_, lids_, tables_); }

  /// Everything arrives, and credit loops are as said.
  void expect_acyclic(bool acyclic) const {
    const RouteReport report = check();
    EXPECT_EQ(report.first_faults, std::vector<std::string>{});
    EXPECT_EQ(report.acyclic, acyclic) << print_cycle(fabric_, report.cycle);
  }

 private:
  template <class Visit>
  void each_path(Visit&& visit) const {
    for (const SwitchIdx to : fabric_.switch_node.indices()) {
      for (const PortIdx out : fabric_.ports_of(fabric_.switch_node[to])) {
        const bool zero = fabric_.number_of(out) == PortNum{0};
        const PortIdx end = zero ? out : fabric_.peer[out];
        if (end == kNone<PortIdx> || (!zero && fabric_.is_switch(fabric_.node_of[end]))) continue;
        for (int k = 0; k < 1 << lids_.lmc[end]; ++k) {
          const Lid lid{static_cast<std::uint16_t>(lids_.base[end].value() + k)};
          for (const SwitchIdx sw : fabric_.switch_node.indices())
            visit(sw, to, fabric_.number_of(out), lid, k);
        }
      }
    }
  }

  [[nodiscard]] Place read(SwitchIdx sw) const {
    std::istringstream in{fabric_.description[fabric_.switch_node[sw]].substr(3)};
    Place place;
    for (std::string part; std::getline(in, part, '-');) place.push_back(std::stoi(part));
    return place;
  }

  [[nodiscard]] SwitchIdx find_next_switch(PortIdx port) const {
    const PortIdx peer = fabric_.peer[port];
    return peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric_.switch_at(peer);
  }

  [[nodiscard]] PortNum port(SwitchIdx sw, const Place& to) const {
    for (const PortIdx out : fabric_.external_ports(fabric_.switch_node[sw])) {
      if (const SwitchIdx next = find_next_switch(out);
          next != kNone<SwitchIdx> && places_[next] == to)
        return fabric_.number_of(out);
    }
    ADD_FAILURE() << "no such neighbour";
    return kNoRoute;
  }

  Fabric fabric_;
  LidMap lids_;
  RoutingTables tables_;
  IndexVector<SwitchIdx, Place> places_;
};

// --- flattened butterfly ---

Place in_order(const Place& from, const Place& to, bool backwards = false) {
  Place next = from;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t d = backwards ? from.size() - 1 - i : i;
    if (from[d] == to[d]) continue;
    next[d] = to[d];
    break;
  }
  return next;
}

TEST(FlattenedButterflyCases, OneOrderOfDimensionsIsSafe) {
  DrawnRoutes{"hamming:dims=4.4,hosts=1",
              0,
              [](const Place& from, const Place& to, int) { return in_order(from, to); }}
      .expect_acyclic(true);
}

TEST(FlattenedButterflyCases, TwoOrdersAreNot) {
  DrawnRoutes{"hamming:dims=4.4,hosts=1",
              1,
              [](const Place& from, const Place& to, int k) { return in_order(from, to, k == 1); }}
      .expect_acyclic(false);
}

struct Valiant {
  const char* call;
  std::vector<int> sides;
  std::uint8_t lmc;
};

class PerDimensionValiant : public ::testing::TestWithParam<Valiant> {
 protected:
  // LID offset k names a coordinate in every dimension; each is corrected by way of it.
  [[nodiscard]] DrawnRoutes draw() const {
    const std::vector<int> sides = GetParam().sides;
    return DrawnRoutes{
        GetParam().call, GetParam().lmc, [sides](const Place& from, const Place& to, int k) {
          Place next = from;
          for (std::size_t d = 0; d < sides.size(); ++d) {
            const int by = k % sides[d];
            k /= sides[d];
            if (from[d] == to[d]) continue;
            next[d] = from[d] == by ? to[d] : by;
            return next;
          }
          return next;
        }};
  }

  static int changed(const Place& a, const Place& b) {
    for (std::size_t d = 0; d < a.size(); ++d) {
      if (a[d] != b[d]) return static_cast<int>(d);
    }
    return -1;
  }
};

TEST_P(PerDimensionValiant, IsUnsafeOnOneLane) { draw().expect_acyclic(false); }

TEST_P(PerDimensionValiant, IsSafeOnTwoLanes) {
  DrawnRoutes routes = draw();
  routes.set_sl_to_vl(
      2, [](const std::optional<Place>& before, const Place& at, const Place& after, int) {
        return before && changed(*before, at) == changed(at, after) ? 1 : 0;
      });
  routes.expect_acyclic(true);
}

INSTANTIATE_TEST_SUITE_P(All,
                         PerDimensionValiant,
                         ::testing::Values(Valiant{"hamming:dims=4.4,hosts=1", {4, 4}, 4},
                                           Valiant{"hamming:dims=3.4,hosts=1", {3, 4}, 4},
                                           Valiant{"hamming:dims=3.3.3,hosts=1", {3, 3, 3}, 5}));

// --- dragonfly of 11 groups of 5, two global links per switch ---

constexpr const char* kDragonfly = "dragonfly:a=5,h=2,c=1";
constexpr int kGroups = 11;

/// Which switch of a group has the link to another group, and where that ends.
class GlobalLinks {
 public:
  GlobalLinks() {
    for (const auto& [a, b] : Reshaped{kDragonfly}.cables()) {
      const Place x = parse(a), y = parse(b);
      if (x[0] == y[0]) continue;
      ends_[{x[0], y[0]}] = {x, y};
      ends_[{y[0], x[0]}] = {y, x};
    }
  }

  /// Towards group `group`.
  [[nodiscard]] Place next(const Place& from, int group) const {
    const auto& [gate, landing] = ends_.at({from[0], group});
    return from == gate ? landing : gate;
  }

 private:
  static Place parse(const std::string& name) {
    const std::size_t dash = name.rfind('-');
    return {std::stoi(name.substr(3, dash - 3)), std::stoi(name.substr(dash + 1))};
  }

  std::map<std::pair<int, int>, std::pair<Place, Place>> ends_;
};

/// The group by way of which `from` sends to group `to` with LID offset k: above both or below
/// both, and never one that itself goes by way of another.
std::optional<int> intermediate(int from, int to, int k) {
  const int distance = (from - to + kGroups) % kGroups;
  const bool direct = from == to || distance % 2 != k % 2;
  if (direct) return std::nullopt;
  const int by = (to + 2 * (k / 2) + 1 + (k % 2 == 0 ? 0 : 1)) % kGroups;
  const int by_distance = (by - to + kGroups) % kGroups;
  if (by == from || by == to || by_distance % 2 == k % 2) return std::nullopt;
  if ((by > from) != (by > to)) return std::nullopt;
  return by;
}

DrawnRoutes draw_dragonfly(bool valiant) {
  const GlobalLinks links;
  return DrawnRoutes{kDragonfly,
                     static_cast<std::uint8_t>(valiant ? 3 : 0),
                     [links, valiant](const Place& from, const Place& to, int k) {
                       if (from[0] == to[0]) return to;
                       const auto by = valiant ? intermediate(from[0], to[0], k) : std::nullopt;
                       return links.next(from, by.value_or(to[0]));
                     }};
}

bool is_global(const std::optional<Place>& a, const Place& b) { return a && (*a)[0] != b[0]; }

// How many global links a packet has passed, as far as a turn shows.
int count_global(const std::optional<Place>& before, const Place& at, const Place& after, int) {
  return is_global(before, at) && !is_global(at, after) ? 1 : 0;
}

TEST(DragonflyCases, MinimalIsUnsafeOnOneLane) { draw_dragonfly(false).expect_acyclic(false); }

TEST(DragonflyCases, MinimalIsSafeOnTwoLanes) {
  DrawnRoutes routes = draw_dragonfly(false);
  routes.set_sl_to_vl(2, count_global);
  routes.expect_acyclic(true);
}

TEST(DragonflyCases, ByAnotherGroupIsUnsafeOnTheLanesOfMinimal) {
  draw_dragonfly(true).expect_acyclic(false);
  DrawnRoutes routes = draw_dragonfly(true);
  routes.set_sl_to_vl(2, count_global);
  routes.expect_acyclic(false);
}

// SL 0: minimal. SL 1: by way of a group above both. SL 2: of one below both. What the direction of
// a global link says, together with the SL, is how many have been passed.
TEST(DragonflyCases, ByAnotherGroupIsSafeWhereSlsSayInWhichOrder) {
  DrawnRoutes routes = draw_dragonfly(true);
  routes.set_sls([](const Place& from, const Place& to, int k) {
    const auto by = intermediate(from[0], to[0], k);
    return !by ? 0 : *by > from[0] ? 1 : 2;
  });
  routes.set_sl_to_vl(
      3, [](const std::optional<Place>& before, const Place& at, const Place& after, int sl) {
        const auto second = [&](int from, int to) { return sl == 1 ? to < from : to > from; };
        if (is_global(at, after)) return sl == 0 || !second(at[0], after[0]) ? 0 : 1;
        if (!is_global(before, at)) return 0;
        return sl == 0 || second((*before)[0], at[0]) ? 2 : 1;
      });
  routes.expect_acyclic(true);
}

// --- mesh: rows x columns, "sw-Y-X" ---

constexpr const char* kMesh = "torus:dims=4.5,mesh=1";

// One step nearer, up and down or left and right by chance, the same at every call.
Place any_minimal(const Place& from, const Place& to, bool west_first) {
  Place next = from;
  const auto step = [&](std::size_t d) { next[d] += to[d] > from[d] ? 1 : -1; };
  const bool x = from[1] != to[1], y = from[0] != to[0];
  if (west_first && to[1] < from[1]) {
    step(1);
  } else if (x && y) {
    Rng rng{static_cast<std::uint64_t>(((from[0] * 10 + from[1]) * 10 + to[0]) * 10 + to[1])};
    step(rng.below(2));
  } else {
    step(x ? 1 : 0);
  }
  return next;
}

TEST(MeshCases, AnyShortestWayIsUnsafe) {
  DrawnRoutes{kMesh,
              0,
              [](const Place& from, const Place& to, int) { return any_minimal(from, to, false); }}
      .expect_acyclic(false);
}

TEST(MeshCases, WestFirstIsSafe) {
  DrawnRoutes{
      kMesh, 0, [](const Place& from, const Place& to, int) { return any_minimal(from, to, true); }}
      .expect_acyclic(true);
}

TEST(MeshCases, AnyShortestWayIsSafeOnTwoLanesForVerticalLinks) {
  DrawnRoutes routes{kMesh, 0, [](const Place& from, const Place& to, int) {
                       return any_minimal(from, to, false);
                     }};
  routes.set_sls([](const Place& from, const Place& to, int) { return to[1] > from[1] ? 1 : 0; });
  routes.set_sl_to_vl(2,
                      [](const std::optional<Place>&, const Place& at, const Place& after, int sl) {
                        return at[1] == after[1] ? sl % 2 : 0;
                      });
  routes.expect_acyclic(true);
}

int snake(const Place& at, int columns) {
  return at[0] * columns + (at[0] % 2 == 0 ? at[1] : columns - 1 - at[1]);
}

Place along_labels(const Place& from, const Place& to, bool capped) {
  const int here = snake(from, 5), goal = snake(to, 5);
  const bool up = here < goal;
  Place best;
  for (const Place& p : {Place{from[0] - 1, from[1]},
                         Place{from[0] + 1, from[1]},
                         Place{from[0], from[1] - 1},
                         Place{from[0], from[1] + 1}}) {
    if (p[0] < 0 || p[0] > 3 || p[1] < 0 || p[1] > 4) continue;
    const int label = snake(p, 5);
    if (capped && (up ? label > goal : label < goal)) continue;
    if (best.empty() || (up ? label > snake(best, 5) : label < snake(best, 5))) best = p;
  }
  return best;
}

TEST(MeshCases, LabelsOfAHamiltonianPathAreSafe) {
  DrawnRoutes{kMesh,
              0,
              [](const Place& from, const Place& to, int) { return along_labels(from, to, true); }}
      .expect_acyclic(true);
}

// "The neighbour with the greatest label", without regard to the destination's, goes round for
// ever.
TEST(MeshCases, LabelsWithoutTheDestinationsAsALimitLoop) {
  const RouteReport report = DrawnRoutes{
      kMesh, 0, [](const Place& from, const Place& to, int) {
        return along_labels(from, to, false);
      }}.check();
  EXPECT_GT(report.loops, 0u);
}

}  // namespace deadlock_cases_test
}  // namespace smd::test
