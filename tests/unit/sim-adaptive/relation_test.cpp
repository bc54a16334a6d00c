// Rules as relations: which VLs keep them free of circles, and which do not. The checker's edges
// are compared with those of paths that are written down here without it, from names and cables
// alone.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <sstream>

#include "sim-backend/adaptive/relation.h"
#include "sim-backend/topology/snapshot.h"

namespace smd::sim::test {
namespace relation_test {

struct Hop {
  std::uint32_t from = 0;  // nodes
  std::uint32_t to = 0;
  unsigned vl = 0;
};

using Path = std::vector<Hop>;
using HandChannel = std::tuple<std::uint32_t, std::uint32_t, unsigned>;

/// Switches by the numbers of their names: "sw-3-1" is {3, 1}.
struct Named {
  explicit Named(const FabricSpec& spec) {
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      const NodeSpec& node = spec.nodes[n];
      if (node.type != NodeType::Switch) continue;
      std::istringstream in(node.description.substr(3));
      for (std::string part; std::getline(in, part, '-');) place[n].push_back(std::stoi(part));
      at[place[n]] = n;
      for (const PortSpec& port : node.ports) {
        if (port.peer_node != kNoNode && spec.nodes[port.peer_node].type == NodeType::Switch)
          neighbours[n].insert(port.peer_node);
      }
    }
  }

  std::map<std::uint32_t, std::vector<int>> place;
  std::map<std::vector<int>, std::uint32_t> at;
  std::map<std::uint32_t, std::set<std::uint32_t>> neighbours;
};

/// First coordinate first.
void in_dimension_order(
    const Named& net, std::uint32_t from, std::uint32_t to, unsigned vl, Path& out) {
  std::vector<int> place = net.place.at(from);
  for (std::size_t d = 0; d < place.size(); ++d) {
    if (place[d] == net.place.at(to)[d]) continue;
    place[d] = net.place.at(to)[d];
    const std::uint32_t next = net.at.at(place);
    out.push_back({from, next, vl});
    from = next;
  }
}

/// Local, global, local; VLs by `vl_of` (is it global).
template <class VlOf>
void through_groups(const Named& net, std::uint32_t from, std::uint32_t to, VlOf vl_of, Path& out) {
  const auto group = [&](std::uint32_t n) { return net.place.at(n)[0]; };
  while (from != to) {
    std::uint32_t next = to;
    if (group(from) != group(to)) {
      for (const auto& [gateway, neighbours] : net.neighbours) {
        if (group(gateway) != group(from)) continue;
        for (const std::uint32_t far : neighbours) {
          if (group(far) == group(to)) next = gateway == from ? far : gateway;
        }
      }
    }
    out.push_back({from, next, vl_of(group(from) != group(next))});
    from = next;
  }
}

/// The first router of a group that one comes to, coming from a router elsewhere.
std::uint32_t entry_of(const Named& net, std::uint32_t from, int group) {
  for (const auto& [gateway, neighbours] : net.neighbours) {
    if (net.place.at(gateway)[0] != net.place.at(from)[0]) continue;
    for (const std::uint32_t far : neighbours) {
      if (net.place.at(far)[0] == group) return far;
    }
  }
  return from;
}

/// A dimension after the other in any order; VLs by hops, from `most_vl` on the same. Calls `visit`
/// with each path.
template <class Visit>
void in_any_order(const Named& net,
                  std::uint32_t from,
                  std::uint32_t to,
                  unsigned most_vl,
                  Path path,
                  Visit visit) {
  const std::vector<int> place = net.place.at(from), wanted = net.place.at(to);
  if (place == wanted) visit(path);
  for (std::size_t d = 0; d < place.size(); ++d) {
    if (place[d] == wanted[d]) continue;
    std::vector<int> next = place;
    next[d] = wanted[d];
    Path longer = path;
    longer.push_back(
        {from, net.at.at(next), std::min(most_vl, static_cast<unsigned>(path.size()))});
    in_any_order(net, net.at.at(next), to, most_vl, std::move(longer), visit);
  }
}

struct ByHand {
  void add(const Path& path) {
    for (std::size_t i = 1; i < path.size(); ++i) {
      edges.insert({{path[i - 1].from, path[i - 1].to, path[i - 1].vl},
                    {path[i].from, path[i].to, path[i].vl}});
    }
  }

  /// Channels that wait for nobody are taken away until none is left, or a circle is.
  [[nodiscard]] bool acyclic() const {
    std::map<HandChannel, int> waits;
    std::map<HandChannel, std::vector<HandChannel>> waited_for_by;
    for (const auto& [from, to] : edges) {
      ++waits[from];
      waits[to];
      waited_for_by[to].push_back(from);
    }
    std::vector<HandChannel> free;
    for (const auto& [channel, count] : waits) {
      if (count == 0) free.push_back(channel);
    }
    std::size_t gone = 0;
    while (!free.empty()) {
      const HandChannel channel = free.back();
      free.pop_back();
      ++gone;
      for (const HandChannel& other : waited_for_by[channel]) {
        if (--waits[other] == 0) free.push_back(other);
      }
    }
    return gone == waits.size();
  }

  std::set<std::pair<HandChannel, HandChannel>> edges;
};

struct Drawn {
  explicit Drawn(const std::string& call)
      : spec(load_fabric(call).value()),
        fabric(build_snapshot(spec)),
        shape(Shape::find(spec, {}).value()),
        named(spec) {}

  [[nodiscard]] RelationVerdict check(const RuleSpec& rule, PathOptions options) const {
    const CandidatePaths paths(shape, options);
    return check_relation(*fabric, RuleRelation(*fabric, paths, rule), RelationMode::All);
  }

  [[nodiscard]] RelationVerdict check(const RuleSpec& rule) const {
    const AdaptiveRoutes routes(shape, rule);
    const RelationVerdict verdict =
        check_relation(*fabric, RuleRelation(*fabric, routes.paths(), rule), RelationMode::All);
    EXPECT_EQ(verdict.vls, routes.vls()) << "what it asks of a fabric";
    EXPECT_EQ(verdict.dead_ends, 0u);
    return verdict;
  }

  template <class Visit>
  void each_switch(Visit visit) const {
    for (const auto& [node, place] : named.place) visit(node);
  }

  FabricSpec spec;
  std::shared_ptr<const Fabric> fabric;
  Shape shape;
  Named named;
};

void expect_same(const RelationVerdict& verdict, const ByHand& hand, bool acyclic) {
  EXPECT_EQ(verdict.edges, hand.edges.size());
  EXPECT_EQ(verdict.acyclic, acyclic);
  EXPECT_EQ(hand.acyclic(), acyclic);
  EXPECT_EQ(verdict.cycle.empty(), acyclic);
}

class Butterflies : public testing::TestWithParam<const char*> {};

TEST_P(Butterflies, MinimalNeedsOneVl) {
  const Drawn drawn(GetParam());
  ByHand hand;
  drawn.each_switch([&](std::uint32_t s) {
    drawn.each_switch([&](std::uint32_t d) {
      Path path;
      in_dimension_order(drawn.named, s, d, 0, path);
      hand.add(path);
    });
  });
  expect_same(drawn.check({.rule = RuleKind::Minimal}), hand, true);
}

TEST_P(Butterflies, ValiantNeedsAVlForEachHalf) {
  const Drawn drawn(GetParam());
  for (const bool single : {true, false}) {
    ByHand hand;
    drawn.each_switch([&](std::uint32_t s) {
      drawn.each_switch([&](std::uint32_t v) {
        drawn.each_switch([&](std::uint32_t d) {
          Path path;
          in_dimension_order(drawn.named, s, v, 0, path);
          in_dimension_order(drawn.named, v, d, single ? 0 : 1, path);
          hand.add(path);
        });
      });
    });
    const RuleSpec rule{.rule = RuleKind::Valiant};
    expect_same(drawn.check(rule, {.single_vl = single}), hand, !single);
  }
}

/// The ways of another relation, VLs beyond `most_vl` as this one.
class FewerVls final : public RoutingRelation {
 public:
  FewerVls(const RoutingRelation& inner, unsigned most_vl) : inner_(inner), most_vl_(most_vl) {}

  void starts(const std::function<void(const RelationPlace&)>& begin) const override {
    inner_.starts(begin);
  }

  bool moves(const RelationPlace& place, std::vector<RelationStep>& out) const override {
    const bool delivered = inner_.moves(place, out);
    for (RelationStep& move : out) {
      move.vl = Vl{std::min(move.vl.value(), static_cast<std::uint8_t>(most_vl_))};
    }
    return delivered;
  }

 private:
  const RoutingRelation& inner_;
  unsigned most_vl_;
};

TEST_P(Butterflies, AnyDimensionNeedsAVlForEach) {
  const Drawn drawn(GetParam());
  const RuleSpec rule{.rule = RuleKind::MinimalAdaptive};
  const auto dimensions = static_cast<unsigned>(drawn.shape.sides().size());
  EXPECT_EQ(drawn.check(rule).vls, dimensions);
  for (unsigned vls = 1; vls <= dimensions; ++vls) {
    ByHand hand;
    drawn.each_switch([&](std::uint32_t s) {
      drawn.each_switch([&](std::uint32_t d) {
        in_any_order(drawn.named, s, d, vls - 1, {}, [&](const Path& path) { hand.add(path); });
      });
    });
    const AdaptiveRoutes routes(drawn.shape, rule);
    const RuleRelation ways(*drawn.fabric, routes.paths(), rule);
    expect_same(check_relation(*drawn.fabric, FewerVls(ways, vls - 1), RelationMode::All),
                hand,
                vls == dimensions);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         Butterflies,
                         testing::Values("hamming:dims=4.4,hosts=1",
                                         "hamming:dims=3.4,hosts=1",
                                         "hamming:dims=3.3.3,hosts=1"));

const char* const kDragonfly = "dragonfly:a=5,c=1,h=2";

TEST(Dragonflies, MinimalNeedsAVlPerGlobalCablePassed) {
  const Drawn drawn(kDragonfly);
  for (const bool single : {true, false}) {
    ByHand hand;
    drawn.each_switch([&](std::uint32_t s) {
      drawn.each_switch([&](std::uint32_t d) {
        Path path;
        unsigned globals = 0;
        const auto vl_of = [&](bool is_global) {
          const unsigned vl = single ? 0 : globals;
          globals += is_global;
          return vl;
        };
        through_groups(drawn.named, s, d, vl_of, path);
        hand.add(path);
      });
    });
    const RuleSpec rule{.rule = RuleKind::Minimal};
    expect_same(drawn.check(rule, {.single_vl = single}), hand, !single);
  }
}

TEST(Dragonflies, ValiantByGroupsNeedsThree) {
  const Drawn drawn(kDragonfly);
  ByHand hand;
  drawn.each_switch([&](std::uint32_t s) {
    for (int via = 0; via < 11; ++via) {
      drawn.each_switch([&](std::uint32_t d) {
        Path path;
        unsigned globals = 0;
        const auto vl_of = [&](bool is_global) {
          const unsigned vl = globals;
          globals += is_global;
          return vl;
        };
        // To where one comes into the group, and from there on.
        const bool there = drawn.named.place.at(s)[0] == via;
        const std::uint32_t entry = there ? s : entry_of(drawn.named, s, via);
        through_groups(drawn.named, s, entry, vl_of, path);
        through_groups(drawn.named, entry, d, vl_of, path);
        hand.add(path);
      });
    }
  });
  const RuleSpec rule{.rule = RuleKind::Valiant, .via = IntermediateKind::ByGroup};
  const RelationVerdict verdict = drawn.check(rule);
  EXPECT_EQ(verdict.vls, 3u);
  expect_same(verdict, hand, true);
}

/// VLs by global cables passed, three in all; or local 0 | 1, 2 | 3 and global 0 | 1.
ByHand valiant_by_routers(const Drawn& drawn, bool three) {
  ByHand hand;
  drawn.each_switch([&](std::uint32_t s) {
    drawn.each_switch([&](std::uint32_t v) {
      drawn.each_switch([&](std::uint32_t d) {
        Path path;
        unsigned half = 0, crossed = 0, globals = 0;
        const auto vl_of = [&](bool is_global) {
          const unsigned vl = three ? globals : is_global ? half : 2 * half + crossed;
          globals += is_global;
          crossed += is_global;
          return vl;
        };
        through_groups(drawn.named, s, v, vl_of, path);
        half = 1;
        crossed = 0;
        through_groups(drawn.named, v, d, vl_of, path);
        hand.add(path);
      });
    });
  });
  return hand;
}

TEST(Dragonflies, ValiantByRoutersNeedsFourLocalAndTwoGlobal) {
  const Drawn drawn(kDragonfly);
  const RuleSpec rule{.rule = RuleKind::Valiant, .via = IntermediateKind::ByRouter};
  const RelationVerdict verdict = drawn.check(rule);
  EXPECT_EQ(verdict.vls, 4u);
  expect_same(verdict, valiant_by_routers(drawn, false), true);
}

/// The same ways on the VLs of global cables passed.
class ThreeVls final : public RoutingRelation {
 public:
  ThreeVls(const Fabric& fabric, const CandidatePaths& paths, const RuleSpec& rule)
      : inner_(fabric, paths, rule) {}

  void starts(const std::function<void(const RelationPlace&)>& begin) const override {
    inner_.starts(begin);
  }

  bool moves(const RelationPlace& place, std::vector<RelationStep>& out) const override {
    const bool delivered = inner_.moves(place, out);
    const auto passed = static_cast<std::uint8_t>(place.state >> 51 & 31);
    for (RelationStep& move : out) move.vl = Vl{passed};
    return delivered;
  }

 private:
  RuleRelation inner_;
};

TEST(Dragonflies, ValiantByRoutersIsCyclicOnThree) {
  const Drawn drawn(kDragonfly);
  const RuleSpec rule{.rule = RuleKind::Valiant, .via = IntermediateKind::ByRouter};
  const CandidatePaths paths(drawn.shape, {.via = IntermediateKind::ByRouter});
  const RelationVerdict verdict =
      check_relation(*drawn.fabric, ThreeVls(*drawn.fabric, paths, rule), RelationMode::All);
  EXPECT_EQ(verdict.vls, 3u);
  expect_same(verdict, valiant_by_routers(drawn, true), false);
  // What it reports is a circle of the hand-made edges.
  const ByHand hand = valiant_by_routers(drawn, true);
  const auto channel = [&](const RelationChannel& c) {
    return HandChannel{drawn.fabric->node_of[c.out].value(),
                       drawn.fabric->node_of[drawn.fabric->peer[c.out]].value(),
                       c.vl.value()};
  };
  ASSERT_GE(verdict.cycle.size(), 2u);
  for (std::size_t i = 0; i < verdict.cycle.size(); ++i) {
    const auto& next = verdict.cycle[(i + 1) % verdict.cycle.size()];
    EXPECT_TRUE(hand.edges.contains({channel(verdict.cycle[i]), channel(next)})) << i;
  }
  EXPECT_THAT(print_circle(*drawn.fabric, verdict.cycle),
              testing::MatchesRegex("sw-.*VL[012].* -> sw-.*"));
}

struct RuleCase {
  const char* fabric;
  RuleSpec rule;
  unsigned vls;
};

class EveryRule : public testing::TestWithParam<RuleCase> {};

TEST_P(EveryRule, IsFreeOfCirclesOnItsVlsAndNotOnOne) {
  const Drawn drawn(GetParam().fabric);
  const RelationVerdict verdict = drawn.check(GetParam().rule);
  EXPECT_TRUE(verdict.is_safe()) << print_circle(*drawn.fabric, verdict.cycle);
  EXPECT_EQ(verdict.vls, GetParam().vls);
  PathOptions single = AdaptiveRoutes(drawn.shape, GetParam().rule).paths().options();
  single.single_vl = true;
  EXPECT_FALSE(drawn.check(GetParam().rule, single).acyclic);
}

const char* const kTrunks = "dragonfly:a=4,c=1,h=2,groups=5,global-trunk=2,local-trunk=2";
const char* const kWide = "hamming:dims=2.4,hosts=1,trunk=3.1";

INSTANTIATE_TEST_SUITE_P(
    Rules,
    EveryRule,
    testing::Values(
        RuleCase{kWide, {.rule = RuleKind::UgalLocal}, 2},
        RuleCase{kWide, {.rule = RuleKind::UgalGlobal}, 2},
        RuleCase{kWide, {.rule = RuleKind::MinimalAdaptive}, 2},
        RuleCase{"hamming:dims=3.3.3,hosts=1", {.rule = RuleKind::MinimalAdaptive}, 3},
        RuleCase{kWide, {.rule = RuleKind::Dal}, 3},
        RuleCase{"hamming:dims=3.3.3,hosts=1", {.rule = RuleKind::Dal}, 6},
        RuleCase{kTrunks, {.rule = RuleKind::Minimal}, 2},
        RuleCase{kTrunks, {.rule = RuleKind::Valiant}, 3},
        RuleCase{kTrunks, {.rule = RuleKind::Valiant, .via = IntermediateKind::ByRouter}, 4},
        RuleCase{kTrunks, {.rule = RuleKind::UgalLocal}, 3},
        RuleCase{kTrunks, {.rule = RuleKind::UgalLocal, .via = IntermediateKind::ByRouter}, 4},
        RuleCase{kTrunks, {.rule = RuleKind::UgalGlobal}, 3},
        RuleCase{kTrunks, {.rule = RuleKind::Piggyback}, 3},
        RuleCase{kTrunks, {.rule = RuleKind::Progressive}, 4}));

TEST(Dragonflies, ProgressiveIsCyclicOnThree) {
  const Drawn drawn(kDragonfly);
  const RuleSpec rule{.rule = RuleKind::Progressive};
  EXPECT_TRUE(drawn.check(rule).acyclic);
  EXPECT_FALSE(drawn.check(rule, {}).acyclic) << "the second local hop on the first one's VL";
}

// Escapes (Duato, 1993): dimensions in order on VL 0, any order on VL 1.

class AnyOrder final : public RoutingRelation {
 public:
  enum class Kind : std::uint8_t { Sound, AllEscape, Misroutes, NoEscapeInTheMiddle };

  AnyOrder(const Drawn& drawn, Kind kind) : drawn_(drawn), kind_(kind) {}

  void starts(const std::function<void(const RelationPlace&)>& begin) const override {
    const Shape& shape = drawn_.shape;
    for (HostNum host = 0; host < shape.hosts(); ++host) {
      const PortIdx in = drawn_.fabric->port_of(NodeIdx{shape.node_of(shape.router_of_host(host))},
                                                PortNum{shape.port_of_host(host)});
      for (Router to = 0; to < shape.routers(); ++to) begin({.in = in, .vl = Vl{0}, .state = to});
    }
  }

  bool moves(const RelationPlace& place, std::vector<RelationStep>& out) const override {
    const Shape& shape = drawn_.shape;
    const Fabric& fabric = *drawn_.fabric;
    const Router at = shape.router_of(fabric.node_of[place.in].value());
    const auto to = static_cast<Router>(place.state & 0xffff);
    const bool misrouted = place.state >> 16 != 0;
    if (at == to) return true;
    bool escape = true;
    for (std::size_t d = 0; d < 2; ++d) {
      for (std::uint32_t x = 0; x < shape.sides()[d]; ++x) {
        if (x == shape.coordinate(at, d)) continue;
        const PortIdx port =
            fabric.port_of(NodeIdx{shape.node_of(at)}, PortNum{shape.cables(at, d, x)[0]});
        const bool productive = x == shape.coordinate(to, d);
        if (productive) {
          if (escape && !(kind_ == Kind::NoEscapeInTheMiddle && at == 4)) {
            out.push_back({.out = port, .vl = Vl{0}, .state = place.state});
          }
          escape = false;  // the first dimension that differs
          out.push_back(
              {.out = port, .vl = Vl{1}, .state = place.state, .escape = kind_ == Kind::AllEscape});
        } else if (kind_ == Kind::Misroutes && !misrouted) {
          out.push_back({.out = port, .vl = Vl{1}, .state = to | 1u << 16, .escape = false});
        }
      }
    }
    return false;
  }

 private:
  const Drawn& drawn_;
  Kind kind_;
};

TEST(Escapes, MakeAdaptiveWaysSafeThatAreNotByThemselves) {
  const Drawn drawn("hamming:dims=3.3,hosts=1");
  const AnyOrder sound(drawn, AnyOrder::Kind::Sound);
  EXPECT_FALSE(check_relation(*drawn.fabric, sound, RelationMode::All).acyclic);
  EXPECT_TRUE(check_relation(*drawn.fabric, sound, RelationMode::Escape).is_safe());
  const AnyOrder all(drawn, AnyOrder::Kind::AllEscape);
  EXPECT_FALSE(check_relation(*drawn.fabric, all, RelationMode::Escape).acyclic);
}

TEST(Escapes, IndirectDependenciesCount) {
  // Who has gone in the second dimension on VL 0, is led astray in the first one on VL 1 and has to
  // come back on VL 0: no two channels of VL 0 follow each other that way.
  const Drawn drawn("hamming:dims=3.3,hosts=1");
  const AnyOrder astray(drawn, AnyOrder::Kind::Misroutes);
  const RelationVerdict verdict = check_relation(*drawn.fabric, astray, RelationMode::Escape);
  EXPECT_EQ(verdict.dead_ends, 0u);
  EXPECT_FALSE(verdict.acyclic);
  for (const RelationChannel& channel : verdict.cycle) EXPECT_EQ(channel.vl, Vl{0});
}

TEST(Escapes, AreMissedWhereThereIsNone) {
  const Drawn drawn("hamming:dims=3.3,hosts=1");
  const AnyOrder hole(drawn, AnyOrder::Kind::NoEscapeInTheMiddle);
  const RelationVerdict verdict = check_relation(*drawn.fabric, hole, RelationMode::Escape);
  EXPECT_GT(verdict.dead_ends, 0u);
  EXPECT_FALSE(verdict.is_safe());
}

// Switches 0, 1 and 2 of one row. A list from 2 delivers at 0, keeps the channel to that host, and
// goes on to 1 by an escape. A packet of 0 comes to 1 by the same escape and is taken by the host
// of 2, by an escape, or by that of 0, by another way.
class TakenByEitherHost final : public RoutingRelation {
 public:
  TakenByEitherHost(const Drawn& drawn, bool goes_back) : drawn_(drawn), goes_back_(goes_back) {}

  void starts(const std::function<void(const RelationPlace&)>& begin) const override {
    begin({.in = host(2), .vl = Vl{0}, .state = kList});
    begin({.in = host(0), .vl = Vl{0}, .state = kPacket});
  }

  bool moves(const RelationPlace& place, std::vector<RelationStep>& out) const override {
    const Router at = router(place);
    if (place.state == kList && at != 1) {
      out.push_back({.out = cable(at, at == 2 ? 0 : 1), .vl = Vl{0}, .state = kList});
    } else if (place.state == kPacket && at == 0) {
      out.push_back({.out = cable(0, 1), .vl = Vl{0}, .state = kPacket});
    } else if (place.state == kPacket && at == 1) {
      out.push_back({.out = cable(1, 2), .vl = Vl{0}, .state = kTaken});
      if (goes_back_)
        out.push_back({.out = cable(1, 0), .vl = Vl{1}, .state = kTaken, .escape = false});
    }
    return out.empty();
  }

  [[nodiscard]] std::optional<RelationChannel> consumes(const RelationPlace& place) const override {
    if (router(place) != 0 || place.state == kPacket) return std::nullopt;
    return RelationChannel{host(0), Vl{0}};
  }

 private:
  static constexpr std::uint64_t kList = 0, kPacket = 1, kTaken = 2;

  [[nodiscard]] PortIdx host(Router at) const {
    return drawn_.fabric->port_of(NodeIdx{drawn_.shape.node_of(at)},
                                  PortNum{drawn_.shape.port_of_host(at)});
  }

  [[nodiscard]] PortIdx cable(Router from, std::uint32_t to) const {
    return drawn_.fabric->port_of(NodeIdx{drawn_.shape.node_of(from)},
                                  PortNum{drawn_.shape.cables(from, 0, to)[0]});
  }

  [[nodiscard]] Router router(const RelationPlace& place) const {
    return drawn_.shape.router_of(drawn_.fabric->node_of[place.in].value());
  }

  const Drawn& drawn_;
  bool goes_back_;
};

TEST(Escapes, AHostsChannelCountsBehindOtherWays) {
  const Drawn drawn("hamming:dims=3.3,hosts=1");
  const TakenByEitherHost back(drawn, true), forth(drawn, false);
  EXPECT_THAT(check_relation(*drawn.fabric, back, RelationMode::Escape).cycle, testing::SizeIs(2));
  EXPECT_TRUE(check_relation(*drawn.fabric, forth, RelationMode::Escape).is_safe());
}

}  // namespace relation_test
}  // namespace smd::sim::test
