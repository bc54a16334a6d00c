// What rules choose, given what stands in buffers; and what they come to on whole networks.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <sstream>

#include "sim-backend/adaptive/rule.h"
#include "sim-backend/measure/arrival_order.h"
#include "sim-backend/scenario/run.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace rule_test {

/// Blocks by node and port, on all VLs; 0 where nothing is said.
class Fill final : public PortFill {
 public:
  [[nodiscard]] unsigned used(std::uint32_t node, std::uint8_t port, unsigned) const override {
    const auto found = blocks.find({node, port});
    return found == blocks.end() ? 0 : found->second;
  }

  std::map<std::pair<std::uint32_t, std::uint8_t>, unsigned> blocks;
};

Shape shape_of(const char* call, const ShapeKeys& keys = {}) {
  return Shape::find(load_fabric(call).value(), keys).value();
}

/// A host of this router.
HostNum host_of(const Shape& shape, Router router) {
  for (HostNum host = 0; host < shape.hosts(); ++host) {
    if (shape.router_of_host(host) == router) return host;
  }
  ADD_FAILURE() << router;
  return 0;
}

RouteView first_view(const Shape& shape, Router source, Router to, std::uint64_t draw) {
  return {.node = shape.node_of(source),
          .in = shape.port_of_host(host_of(shape, source)),
          .source = host_of(shape, source),
          .to = host_of(shape, to),
          .draw = draw};
}

std::uint64_t some_draw(std::uint64_t which) { return (which + 1) * 0x9e3779b97f4a7c15u; }

PathState kept(const RouteAnswer& taken) { return PathState::unpack(taken.via, taken.phase); }

const char* const kGrid = "hamming:dims=4.4,hosts=2";
const char* const kDragonfly = "dragonfly:a=5,c=2,h=2";

// UGAL: H_min·Q_min <= H_val·Q_val + T, of a dragonfly Q_min <= 2·Q_val + T.

TEST(Ugal, WeighsHopsTimesQueuesToTheBlock) {
  const Shape shape = shape_of(kGrid);
  const Router source = shape.at({0, 0}), to = shape.at({2, 3});
  int weighed = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const RouteView view = first_view(shape, source, to, some_draw(i));
    const AdaptiveRoutes away(shape, {.rule = RuleKind::UgalLocal, .threshold = -100000});
    const RouteAnswer detour = *away.choose(view, Fill());
    const PathState state = kept(detour);
    const AdaptiveRoutes minimal(shape, {.rule = RuleKind::Minimal});
    const RouteAnswer straight = *minimal.choose(view, Fill());
    // Where both begin by one cable there is but one queue.
    if (state.phase != PathPhase::Toward || detour.out == straight.out) continue;
    ++weighed;
    Fill fill;
    fill.blocks[{view.node, straight.out}] = 30;
    fill.blocks[{view.node, detour.out}] = 10;
    const Router via = state.via;
    const auto apart = [&](Router a, Router b) {
      return int(shape.coordinate(a, 0) != shape.coordinate(b, 0)) +
             int(shape.coordinate(a, 1) != shape.coordinate(b, 1));
    };
    const int equal = 2 * 30 - (apart(source, via) + apart(via, to)) * 10;
    for (const int threshold : {equal, equal - 1}) {
      const AdaptiveRoutes ugal(shape, {.rule = RuleKind::UgalLocal, .threshold = threshold});
      const RouteAnswer taken = *ugal.choose(view, fill);
      EXPECT_EQ(taken.out, threshold == equal ? straight.out : detour.out) << threshold;
    }
  }
  EXPECT_GT(weighed, 10);
}

TEST(Ugal, OfADragonflyWeighsOneGlobalCableAgainstTwo) {
  const Shape shape = shape_of(kDragonfly);
  const Router source = shape.at({0, 0}), to = shape.at({3, 2});
  int weighed = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const RouteView view = first_view(shape, source, to, some_draw(i));
    const RuleSpec away{
        .rule = RuleKind::UgalLocal, .threshold = -100000, .among = IntermediateSet::Others};
    const RouteAnswer detour = *AdaptiveRoutes(shape, away).choose(view, Fill());
    const RouteAnswer straight =
        *AdaptiveRoutes(shape, {.rule = RuleKind::Minimal}).choose(view, Fill());
    if (detour.out == straight.out) continue;
    ++weighed;
    Fill fill;
    fill.blocks[{view.node, straight.out}] = 25;
    fill.blocks[{view.node, detour.out}] = 10;
    for (const int threshold : {5, 4}) {
      RuleSpec rule = away;
      rule.threshold = threshold;
      const RouteAnswer taken = *AdaptiveRoutes(shape, rule).choose(view, fill);
      EXPECT_EQ(taken.out, threshold == 5 ? straight.out : detour.out) << threshold;
    }
  }
  EXPECT_GT(weighed, 10);
}

/// The first cable of the minimal way, and the global one behind it.
struct MinimalWay {
  MinimalWay(const Shape& shape, const RouteView& view, Router to) {
    const AdaptiveRoutes minimal(shape, {.rule = RuleKind::Minimal});
    first = *minimal.choose(view, Fill());
    second_router = shape.peer(shape.router_of(view.node), first.out);
    gateway = shape.gateways(shape.group(second_router), shape.group(to)).front();
  }

  RouteAnswer first;
  Router second_router = 0;
  Gateway gateway;
};

/// A source that does not have the global cable itself.
Router remote_source(const Shape& shape, Router to) {
  for (Router source = 0; source < shape.routers(); ++source) {
    if (shape.group(source) == 0 && shape.gateways(0, shape.group(to)).front().router != source)
      return source;
  }
  return 0;
}

TEST(UgalGlobal, SeesAQueueThatIsNotItsOwn) {
  const Shape shape = shape_of(kDragonfly);
  const Router to = shape.at({3, 2}), source = remote_source(shape, to);
  const RouteView view = first_view(shape, source, to, some_draw(5));
  const MinimalWay way(shape, view, to);
  ASSERT_EQ(way.gateway.router, way.second_router);
  Fill fill;
  fill.blocks[{shape.node_of(way.gateway.router), way.gateway.port}] = 60;
  const IntermediateSet others = IntermediateSet::Others;
  for (const RuleKind rule : {RuleKind::UgalGlobal, RuleKind::Piggyback, RuleKind::UgalLocal}) {
    const AdaptiveRoutes routes(shape, {.rule = rule, .among = others});
    const bool sees = rule != RuleKind::UgalLocal;
    EXPECT_EQ(routes.looks_far(), sees);
    EXPECT_EQ(kept(*routes.choose(view, fill)).phase, sees ? PathPhase::Toward : PathPhase::Minimal)
        << rule_name(rule);
    EXPECT_EQ(kept(*routes.choose(view, Fill())).phase, PathPhase::Minimal) << rule_name(rule);
  }
}

TEST(Piggyback, ToldOfAllCablesAlikeStaysMinimal) {
  // Congested is what is fuller than twice the average of its router.
  const Shape shape = shape_of(kDragonfly);
  const Router to = shape.at({3, 2}), source = remote_source(shape, to);
  const RouteView view = first_view(shape, source, to, some_draw(5));
  const MinimalWay way(shape, view, to);
  Fill fill;
  for (std::uint32_t group = 1; group < shape.groups(); ++group) {
    for (const Gateway& each : shape.gateways(0, group)) {
      if (each.router == way.gateway.router)
        fill.blocks[{shape.node_of(each.router), each.port}] = 60;
    }
  }
  const AdaptiveRoutes routes(shape,
                              {.rule = RuleKind::Piggyback, .among = IntermediateSet::Others});
  EXPECT_EQ(kept(*routes.choose(view, fill)).phase, PathPhase::Minimal);
}

TEST(Progressive, TurnsOffAtTheSecondRouter) {
  const Shape shape = shape_of(kDragonfly);
  const Router to = shape.at({3, 2}), source = remote_source(shape, to);
  const RouteView view = first_view(shape, source, to, some_draw(5));
  const MinimalWay way(shape, view, to);
  const auto second = [&](RuleKind rule, const PortFill& fill) {
    const AdaptiveRoutes routes(shape, {.rule = rule, .among = IntermediateSet::Others});
    RouteView there = view;
    there.node = shape.node_of(way.second_router);
    const std::uint32_t place = shape.coordinate(source, 1);
    there.in = shape.cables(way.second_router, 1, place)[0];
    there.hops = 1;
    there.via = way.first.via;
    there.phase = way.first.phase;
    return *routes.choose(there, fill);
  };
  Fill fill;
  fill.blocks[{shape.node_of(way.gateway.router), way.gateway.port}] = 60;
  const RouteAnswer off = second(RuleKind::Progressive, fill);
  EXPECT_EQ(kept(off).phase, PathPhase::Toward);
  EXPECT_TRUE(kept(off).diverted);
  EXPECT_NE(off.out, way.gateway.port);
  EXPECT_EQ(second(RuleKind::Progressive, Fill()).out, way.gateway.port);
  EXPECT_EQ(second(RuleKind::UgalLocal, fill).out, way.gateway.port);
}

TEST(MinimalAdaptive, ListsEveryCableThatLeadsOn) {
  const Shape shape = shape_of("hamming:dims=4.4,hosts=1,trunk=2.1", {.dims = {4, 4}});
  const AdaptiveRoutes routes(shape, {.rule = RuleKind::MinimalAdaptive});
  const auto listed = [&](Router at, Router to, const PathState& state) {
    CandidateSet next;
    routes.paths().list(at, kNowhere, to, state, next);
    std::vector<std::tuple<Router, int, int, bool>> out;  // where to, by which port, VL, astray
    for (const Candidate& each : next.all)
      out.emplace_back(each.next, each.port, each.vl, each.astray);
    return out;
  };
  const Router source = shape.at({0, 0}), to = shape.at({2, 3});
  const Router first = shape.at({2, 0}), second = shape.at({0, 3});
  const auto wide = shape.cables(source, 0, 2), narrow = shape.cables(source, 1, 3);
  ASSERT_EQ(wide.size(), 2u);
  ASSERT_EQ(narrow.size(), 1u);
  EXPECT_THAT(listed(source, to, {}),
              testing::ElementsAre(std::tuple(first, wide[0], 0, false),
                                   std::tuple(first, wide[1], 0, false),
                                   std::tuple(second, narrow[0], 0, false)));
  EXPECT_THAT(listed(first, to, {.globals = 1}),
              testing::ElementsAre(std::tuple(to, shape.cables(first, 1, 3)[0], 1, false)));
  EXPECT_THAT(listed(to, to, {.globals = 2}), testing::IsEmpty());
}

TEST(MinimalAdaptive, TakesTheShortestQueueAndNeverGoesAstray) {
  const Shape shape = shape_of(kGrid);
  const AdaptiveRoutes routes(shape, {.rule = RuleKind::MinimalAdaptive});
  EXPECT_FALSE(routes.looks_far());
  const Router source = shape.at({0, 0}), to = shape.at({2, 3});
  const std::uint8_t first = shape.cables(source, 0, 2)[0], second = shape.cables(source, 1, 3)[0];
  RouteView view = first_view(shape, source, to, some_draw(1));
  Fill fill;
  // Equal queues: either dimension; a block decides; others are empty, and lead astray.
  std::map<std::uint8_t, int> drawn;
  for (std::uint64_t i = 0; i < 300; ++i) {
    RouteView other = view;
    other.draw = some_draw(i);
    ++drawn[routes.choose(other, fill)->out];
  }
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_NEAR(drawn[first], 150, 40);
  EXPECT_NEAR(drawn[second], 150, 40);
  fill.blocks[{view.node, first}] = 200;
  fill.blocks[{view.node, second}] = 199;
  EXPECT_EQ(routes.choose(view, fill)->out, second);
  fill.blocks[{view.node, second}] = 201;
  const RouteAnswer taken = *routes.choose(view, fill);
  EXPECT_EQ(taken.out, first);
  EXPECT_EQ(taken.vl, 0);
  // The other dimension is left, on the next VL; then the host.
  const Router there = shape.at({2, 0});
  view.node = shape.node_of(there);
  view.in = shape.cables(there, 0, 0)[0];
  view.hops = 1;
  view.via = taken.via;
  view.phase = taken.phase;
  const std::uint8_t last = shape.cables(there, 1, 3)[0];
  fill.blocks[{view.node, last}] = 255;
  const RouteAnswer on = *routes.choose(view, fill);
  EXPECT_EQ(on.out, last);
  EXPECT_EQ(on.vl, 1);
  view.node = shape.node_of(to);
  view.in = shape.cables(to, 1, 0)[0];
  view.hops = 2;
  view.via = on.via;
  view.phase = on.phase;
  EXPECT_EQ(routes.choose(view, fill)->out, shape.port_of_host(view.to));
}

TEST(MinimalAdaptive, IsForButterfliesOfUpTo15Dimensions) {
  const RuleSpec rule{.rule = RuleKind::MinimalAdaptive};
  EXPECT_EQ(check_rule(shape_of(kGrid), rule), "");
  EXPECT_EQ(check_rule(shape_of(kDragonfly), rule),
            "is for flattened butterflies; on a dragonfly it is \"min\" with routes.gateway = "
            "\"jsq\"");
  RuleKind found{};
  EXPECT_TRUE(find_rule("min-adaptive", found));
  EXPECT_EQ(found, RuleKind::MinimalAdaptive);
  EXPECT_EQ(rule_name(found), "min-adaptive");
}

TEST(Dal, GoesAstrayOnceInEachDimensionAndByTheShortestQueue) {
  const Shape shape = shape_of(kGrid);
  const AdaptiveRoutes routes(shape, {.rule = RuleKind::Dal});
  const Router source = shape.at({0, 0}), to = shape.at({2, 3});
  RouteView view = first_view(shape, source, to, some_draw(1));
  const std::uint8_t first = shape.cables(source, 0, 2)[0], second = shape.cables(source, 1, 3)[0];
  Fill fill;
  fill.blocks[{view.node, first}] = 3;
  EXPECT_EQ(routes.choose(view, fill)->out, second);
  // 2 * 3 against 3 * 2: minimal; 2 * 4 is more.
  const std::uint8_t detour = shape.cables(source, 1, 1)[0];
  for (std::uint8_t port = 1; port < 9; ++port) fill.blocks[{view.node, port}] = 60;
  fill.blocks[{view.node, detour}] = 2;
  fill.blocks[{view.node, second}] = 3;
  EXPECT_EQ(routes.choose(view, fill)->out, second);
  fill.blocks[{view.node, second}] = 4;
  const RouteAnswer astray = *routes.choose(view, fill);
  EXPECT_EQ(astray.out, detour);
  // There it goes on in this dimension to the end: not astray once more, by however short a queue.
  const Router there = shape.at({0, 1});
  view.node = shape.node_of(there);
  view.in = shape.cables(there, 1, 0)[0];
  view.hops = 1;
  view.via = astray.via;
  view.phase = astray.phase;
  fill.blocks.clear();
  for (std::uint8_t port = 1; port < 9; ++port) fill.blocks[{view.node, port}] = 60;
  fill.blocks[{view.node, shape.cables(there, 1, 2)[0]}] = 0;
  fill.blocks[{view.node, shape.cables(there, 1, 3)[0]}] = 50;
  const RouteAnswer on = *routes.choose(view, fill);
  EXPECT_EQ(on.out, shape.cables(there, 1, 3)[0]);
  EXPECT_EQ(on.vl, 1);
}

// Places.

TEST(Places, AreDrawnFromAllThatAreAllowed) {
  const Shape shape = shape_of(kDragonfly);
  const CandidatePaths paths(shape, {.via = IntermediateKind::ByGroup});
  const Router source = shape.at({4, 1}), to = shape.at({7, 0});
  for (const IntermediateSet among :
       {IntermediateSet::All, IntermediateSet::NotOwn, IntermediateSet::Others}) {
    std::map<std::uint32_t, int> drawn;
    Rng rng(3);
    for (int i = 0; i < 11000; ++i) ++drawn[paths.draw_via(among, source, to, rng.next())];
    std::set<std::uint32_t> expected;
    for (std::uint32_t via = 0; via < 11; ++via) {
      if (paths.allows(among, source, to, via)) expected.insert(via);
    }
    ASSERT_EQ(expected.size(), 11u - static_cast<unsigned>(among));
    ASSERT_EQ(drawn.size(), expected.size());
    for (const auto& [via, times] : drawn) {
      EXPECT_TRUE(expected.contains(via));
      EXPECT_NEAR(times, 11000.0 / static_cast<double>(expected.size()), 150);
    }
  }
  const Shape two = shape_of("hamming:dims=2,hosts=1");
  EXPECT_EQ(CandidatePaths(two, {}).draw_via(IntermediateSet::Others, 0, 1, 77), kNowhere);
}

// Trunks and gateways.

std::map<std::uint8_t, int> outs(
    const AdaptiveRoutes& routes, Router source, Router to, const Fill& fill, int packets = 300) {
  std::map<std::uint8_t, int> out;
  for (int i = 0; i < packets; ++i) {
    const RouteView view =
        first_view(routes.shape(), source, to, some_draw(static_cast<std::uint64_t>(i)));
    ++out[routes.choose(view, fill)->out];
  }
  return out;
}

TEST(Trunks, ByShortestQueueByChanceAndByFlow) {
  const Shape shape = shape_of("hamming:dims=4,hosts=1,trunk=3");
  const auto cables = shape.cables(0, 0, 2);
  ASSERT_EQ(cables.size(), 3u);
  Fill fill;
  fill.blocks[{shape.node_of(0), cables[0]}] = 3;
  fill.blocks[{shape.node_of(0), cables[1]}] = 2;
  fill.blocks[{shape.node_of(0), cables[2]}] = 9;
  const auto by = [&](Spread trunk, const Fill& with) {
    return outs(AdaptiveRoutes(shape, {.rule = RuleKind::Minimal, .trunk = trunk}), 0, 2, with);
  };
  EXPECT_THAT(by(Spread::ShortestQueue, fill), testing::ElementsAre(testing::Pair(cables[1], 300)));
  EXPECT_EQ(by(Spread::Hash, fill).size(), 1u);
  for (const auto& counts : {by(Spread::Random, fill), by(Spread::ShortestQueue, Fill())}) {
    ASSERT_EQ(counts.size(), 3u);
    for (const auto& [port, times] : counts) EXPECT_NEAR(times, 100, 30) << int(port);
  }
}

TEST(Gateways, OwnFirstThenAnyOther) {
  const Shape shape = shape_of("dragonfly:a=9,c=1,h=4,groups=19,global-trunk=2");
  const Router to = shape.at({5, 0});
  const auto gateways = shape.gateways(0, 5);
  ASSERT_EQ(gateways.size(), 2u);
  Router other = 0;
  while (other == gateways[0].router || other == gateways[1].router) ++other;
  const auto by = [&](Spread gateway, Router source, const Fill& fill = {}) {
    return outs(
        AdaptiveRoutes(shape, {.rule = RuleKind::Minimal, .gateway = gateway}), source, to, fill);
  };
  const Router own = gateways[0].router;
  EXPECT_THAT(by(Spread::OwnFirst, own),
              testing::ElementsAre(testing::Pair(gateways[0].port, 300)));
  EXPECT_EQ(by(Spread::Random, own).size(), 2u);
  EXPECT_EQ(by(Spread::Hash, own).size(), 1u);
  const auto counts = by(Spread::OwnFirst, other);
  ASSERT_EQ(counts.size(), 2u);
  for (const auto& [port, times] : counts) EXPECT_NEAR(times, 150, 40);
  Fill fill;
  fill.blocks[{shape.node_of(own), gateways[0].port}] = 1;
  const auto shortest = by(Spread::ShortestQueue, own, fill);
  ASSERT_EQ(shortest.size(), 1u);
  EXPECT_NE(shortest.begin()->first, gateways[0].port);
}

// Of three equal ones the third was taken for a third of the places, and for the others never.
TEST(Gateways, OfEqualOnesEachIsTakenWhateverThePlaceBetween) {
  const Shape shape = shape_of("dragonfly:a=4,c=1,h=3,groups=5,global-trunk=3");
  const Router source = shape.at({0, 0}), to = shape.at({4, 0});
  ASSERT_EQ(shape.gateways(0, 1).size(), 3u);
  for (const Spread trunk : {Spread::ShortestQueue, Spread::Random}) {
    const AdaptiveRoutes routes(shape,
                                {.rule = RuleKind::Valiant,
                                 .among = IntermediateSet::Others,
                                 .trunk = trunk,
                                 .gateway = Spread::ShortestQueue});
    std::map<std::uint32_t, std::map<std::uint8_t, int>> taken;  // ports, by place between
    for (std::uint64_t i = 0; i < 9000; ++i) {
      const RouteAnswer out = *routes.choose(first_view(shape, source, to, some_draw(i)), Fill());
      ++taken[kept(out).via][out.out];
    }
    ASSERT_EQ(taken.size(), 3u);
    for (const auto& [via, ports] : taken) {
      EXPECT_EQ(ports.size(), 3u) << via;
      for (const auto& [port, times] : ports) EXPECT_NEAR(times, 1000, 130) << via << int(port);
    }
  }
}

TEST(Trunks, OneFlowIsSharedEvenlyByShortestQueue) {
  // A host of 12x before a trunk of three cables of 4x, which it fills.
  FabricSpec spec;
  const auto a = add_node(spec, NodeType::Switch, "S1", Guid{0x100}, 6);
  const auto b = add_node(spec, NodeType::Switch, "S2", Guid{0x200}, 6);
  const auto from = add_node(spec, NodeType::Ca, "H1", Guid{0x1000}, 1);
  const auto to = add_node(spec, NodeType::Ca, "H2", Guid{0x2000}, 1);
  for (std::uint8_t p = 1; p <= 3; ++p) connect(spec, a, PortNum{p}, b, PortNum{p});
  connect(spec, a, PortNum{4}, from, PortNum{1}, LinkWidth::X12);
  connect(spec, b, PortNum{4}, to, PortNum{1}, LinkWidth::X12);
  spec.sm_port = PortNum{0};
  PacketRig rig(spec, PacketOptions::modern());
  const AdaptiveRoutes routes(Shape::find(spec, {.dims = {2}}).value(),
                              {.rule = RuleKind::Minimal});
  rig.net->set_route_choice(&routes);
  std::vector<Script::Line> lines;
  for (int i = 0; i < 900; ++i) lines.push_back({.at = 0, .source = 0, .what = rig.to(1, 2048)});
  Script script(std::move(lines));
  rig.run(script);
  EXPECT_EQ(script.arrivals.size(), 900u);
  const double packet = 2048 + rig.net->options().links.header_bytes;
  for (std::uint8_t p = 1; p <= 3; ++p) {
    EXPECT_NEAR(static_cast<double>(rig.net->sent_bytes(a, PortNum{p})) / packet, 300, 1) << int(p);
  }
}

// Whole networks.

PointResult run_text(const std::string& text,
                     unsigned partitions = 1,
                     double* late_share = nullptr) {
  auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  scenario->packet.partitions = partitions;
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  EXPECT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  ArrivalOrder order(static_cast<HostNum>(prepared->fabric().host_lids.size()));
  RunControl control;
  if (late_share != nullptr) control.observer = &order;
  PointResult point = prepared->run(prepared->scenario().traffic.loads.at(0), 7, control);
  if (late_share != nullptr) *late_share = order.late_share();
  EXPECT_EQ(point.audit, "");
  EXPECT_EQ(point.stats.discards(), 0u);
  EXPECT_TRUE(point.steady.deadlock.empty());
  return point;
}

std::string text_of(const std::string& fabric,
                    const std::string& routes,
                    const std::string& traffic,
                    const std::string& vls = "4") {
  return fmt::format(R"([fabric]
name = "{}"
preset = "booksim"
engine = "minhop"
vls = {}
[routes]
{}
[traffic]
arrivals = "bernoulli"
slot_ns = 1.024
size = 64
{}
[adapter]
most_waiting = 64
[measure]
warm_up_us = 0.3
interval_us = 0.2
least_intervals = 4
most_intervals = 4
)",
                     fabric,
                     vls,
                     routes,
                     traffic);
}

struct Whole {
  const char* fabric;
  const char* pattern;
};

class Thresholds : public testing::TestWithParam<Whole> {};

TEST_P(Thresholds, FarOffAreValiantAndMinimal) {
  for (const char* load : {"0.2", "0.9"}) {
    const std::string traffic = fmt::format("{}\nload = {}", GetParam().pattern, load);
    const auto hash = [&](const char* routes) {
      const PointResult point = run_text(text_of(GetParam().fabric, routes, traffic));
      return std::tuple(point.stats.digest, point.stats.hops, point.steady.accepted_load);
    };
    const auto minimal = hash("rule = \"min\"");
    const auto valiant = hash("rule = \"valiant\"");
    EXPECT_NE(minimal, valiant);
    EXPECT_EQ(hash("rule = \"ugal-l\"\nthreshold = 128"), minimal) << load;
    EXPECT_EQ(hash("rule = \"ugal-l\"\nthreshold = -257"), valiant) << load;
    const auto between = hash("rule = \"ugal-l\"\nthreshold = 0");
    EXPECT_NE(between, minimal) << load;
    EXPECT_NE(between, valiant) << load;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks,
    Thresholds,
    testing::Values(Whole{"hamming:dims=4.4,hosts=4", "pattern = \"mdn\"\ndims = [4, 4]"},
                    Whole{"hamming:dims=4.4,hosts=4", "pattern = \"uniform\""},
                    Whole{"dragonfly:a=5,c=2,h=2", "pattern = \"adv+1\"\ngroup = 5"}));

double late_share_of(const std::string& routes, const std::string& fabric = kGrid) {
  double late = -1;
  run_text(text_of(fabric, routes, "pattern = \"uniform\"\nload = 0.6"), 1, &late);
  return late;
}

TEST(Order, IsKeptByOneWayAndNotBySeveral) {
  EXPECT_EQ(late_share_of("rule = \"min\""), 0);
  EXPECT_EQ(late_share_of("rule = \"tables\""), 0);
  EXPECT_EQ(late_share_of("rule = \"min\"\ngateway = \"jsq\"", kDragonfly), 0)
      << "one cable between two groups";
  EXPECT_GT(late_share_of("rule = \"min-adaptive\""), 0);
  EXPECT_GT(late_share_of("rule = \"dal\""), 0);
  EXPECT_GT(late_share_of("rule = \"valiant\""), 0);
}

class Partitions : public testing::TestWithParam<std::string> {};

/// Lines that are of dragonflies are refused for others.
std::string for_butterflies(const std::string& routes) {
  std::istringstream lines(routes);
  std::string out, line;
  while (std::getline(lines, line)) {
    if (!line.starts_with("gateway") && !line.starts_with("valiant")) out += line + "\n";
  }
  return out;
}

TEST_P(Partitions, TellTheSame) {
  for (const char* fabric : {"hamming:dims=4.4,hosts=4,trunk=2.1", "dragonfly:a=5,c=2,h=2"}) {
    const bool butterfly = fabric[0] == 'h';
    const bool of_dragonflies = GetParam() == "rule = \"par\"";
    const bool of_butterflies =
        GetParam() == "rule = \"dal\"" || GetParam() == "rule = \"min-adaptive\"";
    if (butterfly ? of_dragonflies : of_butterflies) continue;
    const std::string routes = butterfly ? for_butterflies(GetParam()) : GetParam();
    const std::string text = text_of(fabric, routes, "pattern = \"uniform\"\nload = 0.6");
    const PointResult unseen = run_text(text);
    double late = 0;
    const PointResult one = run_text(text, 1, &late);
    EXPECT_EQ(one.stats.digest, unseen.stats.digest) << "who looks on changes nothing";
    EXPECT_EQ(one.latency.mean, unseen.latency.mean);
    for (const unsigned parts : {2u, 4u}) {
      double late_there = 0;
      const PointResult point = run_text(text, parts, &late_there);
      EXPECT_EQ(late_there, late);
      EXPECT_EQ(point.stats.digest, one.stats.digest) << fabric << ", " << parts;
      EXPECT_EQ(point.stats.hops, one.stats.hops);
      EXPECT_EQ(point.latency.mean, one.latency.mean);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules,
    Partitions,
    testing::Values("rule = \"min\"\ntrunk = \"random\"",
                    "rule = \"min\"\ngateway = \"random\"",
                    "rule = \"valiant\"\ntrunk = \"hash\"",
                    "rule = \"valiant\"\nvaliant = \"router\"\namong = \"others\"",
                    "rule = \"ugal-l\"\nthreshold = -16",
                    "rule = \"ugal-l\"\nvaliant = \"router\"\ngateway = \"jsq\"",
                    "rule = \"par\"",
                    "rule = \"min-adaptive\"",
                    "rule = \"dal\""));

}  // namespace rule_test
}  // namespace smd::sim::test
