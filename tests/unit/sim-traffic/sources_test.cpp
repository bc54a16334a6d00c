// Arrivals, sizes, levels, collectives, traces: how much is sent, and when.
#include <gmock/gmock.h>

#include <sstream>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/traffic/collective.h"
#include "sim-backend/traffic/synthetic.h"
#include "sim-backend/traffic/trace.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace sources_test {

struct Gaps {
  double mean = 0;
  double deviation = 0;
};

Gaps measure_gaps(ArrivalModel model, int count) {
  Rng rng(3);
  Arrivals arrivals;
  Picos last = arrivals.begin(model, rng);
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const Picos at = arrivals.next(model, last, rng);
    EXPECT_GT(at, last);
    const auto gap = static_cast<double>(at - last);
    sum += gap;
    squares += gap * gap;
    last = at;
  }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}

TEST(Arrivals, HaveTheMeanThatIsWanted) {
  const double mean = 1e6;
  for (const char* name : {"poisson", "constant", "bernoulli", "on-off", "self-similar"}) {
    ArrivalModel model{.mean_gap = mean, .least_gap = 1e5, .burst = 8, .slot = 1000};
    ASSERT_TRUE(find_arrivals(name, model.kind));
    // Long bursts and pauses take long to even out.
    const bool heavy = model.kind == ArrivalKind::SelfSimilar;
    EXPECT_NEAR(measure_gaps(model, heavy ? 2'000'000 : 200'000).mean / mean, 1, heavy ? 0.1 : 0.03)
        << name;
  }
  ArrivalKind kind{};
  EXPECT_FALSE(find_arrivals("often", kind));
}

/// A Pareto law of least value 1 that is cut at 10,000: mean and mean square.
struct CutPareto {
  explicit CutPareto(double shape)
      : mean((shape - std::pow(1e4, 1 - shape)) / (shape - 1)),
        square((2 * std::pow(1e4, 2 - shape) - shape) / (2 - shape)) {}

  [[nodiscard]] double variance(double with_mean) const {
    const double least = with_mean / mean;
    return least * least * square - with_mean * with_mean;
  }

  double mean = 0;
  double square = 0;
};

// Messages of a burst, and time from one burst's first to the next one's, whose ratio is the load.
// The bounds are four standard errors of the mean by the laws' own variances: a right one passes in
// 99.99 % of all seeds.
TEST(Arrivals, BurstsOfAParetoLawHaveTheirMeansExactly) {
  for (const auto& [burst, shape] : {std::pair{1.0, 1.2}, {2.0, 1.9}, {3.0, 1.5}, {16.0, 1.5}}) {
    const ArrivalModel model{.kind = ArrivalKind::SelfSimilar,
                             .mean_gap = 3e5,
                             .least_gap = 1e5,
                             .burst = burst,
                             .shape = shape};
    const double pause = burst * (model.mean_gap - model.least_gap);
    const CutPareto law(shape);
    constexpr int kBursts = 400'000;
    Rng rng(11);
    Arrivals arrivals;
    Picos last = arrivals.begin(model, rng);
    Picos first = 0;
    std::uint64_t messages = 0;
    for (int bursts = -1; bursts < kBursts;) {
      const Picos at = arrivals.next(model, last, rng);
      if (at - last > static_cast<Picos>(model.least_gap) + 1) {
        if (++bursts == 0) first = at;
      }
      messages += bursts >= 0 && bursts < kBursts;
      last = at;
    }
    // Rounding to whole messages adds a quarter at most.
    const double of_burst = law.variance(burst - 1) + 0.25;
    const double of_cycle = of_burst * model.least_gap * model.least_gap + law.variance(pause);
    EXPECT_NEAR(double(messages) / kBursts, burst, 4 * std::sqrt(of_burst / kBursts)) << burst;
    EXPECT_NEAR(
        double(last - first) / kBursts, burst * model.mean_gap, 4 * std::sqrt(of_cycle / kBursts))
        << burst;
  }
}

TEST(Arrivals, SpreadAsTheirLawSays) {
  const ArrivalModel base{.mean_gap = 1e6, .least_gap = 1e5, .burst = 8, .slot = 1000};
  const auto spread = [&](ArrivalKind kind) {
    ArrivalModel model = base;
    model.kind = kind;
    const Gaps gaps = measure_gaps(model, 200'000);
    return gaps.deviation / gaps.mean;
  };
  EXPECT_LT(spread(ArrivalKind::Constant), 1e-5);
  EXPECT_NEAR(spread(ArrivalKind::Poisson), 1, 0.02);
  EXPECT_NEAR(spread(ArrivalKind::Bernoulli), 1, 0.02);
  EXPECT_GT(spread(ArrivalKind::OnOff), 2);
  EXPECT_GT(spread(ArrivalKind::SelfSimilar), 3);
}

TEST(Arrivals, AreNeverFasterThanTheLink) {
  for (const ArrivalKind kind : {ArrivalKind::OnOff, ArrivalKind::SelfSimilar}) {
    const ArrivalModel model{.kind = kind, .mean_gap = 3e5, .least_gap = 1e5, .burst = 20};
    Rng rng(5);
    Arrivals arrivals;
    Picos last = arrivals.begin(model, rng);
    for (int i = 0; i < 10'000; ++i) {
      const Picos at = arrivals.next(model, last, rng);
      ASSERT_GE(at - last, 99'999);
      last = at;
    }
  }
}

std::vector<std::uint32_t> byte_times(const PacketNet& net) {
  std::vector<std::uint32_t> out;
  for (const PortAt port : net.wiring().host_port) {
    out.push_back(net.wiring().wires[port].byte_time);
  }
  return out;
}

TEST(Synthetic, OffersTheLoadThatIsAsked) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1"), PacketOptions::thesis());
  SyntheticTraffic traffic({.load = 0.3, .sizes = {{32, 0.7}, {512, 0.3}}, .mtu = 256, .seed = 4},
                           Destinations({{1, uniform_pattern(4)}}, false),
                           byte_times(*rig.net));
  // 58 bytes, and 512 in two packets of 282.
  EXPECT_DOUBLE_EQ(traffic.mean_wire_bytes(), 0.7 * 58 + 0.3 * 564);
  rig.net->set_workload(&traffic);
  rig.net->start();
  rig.net->run_until(100 * kMilli);
  const NetStats& stats = rig.net->stats();
  const double messages = 4 * 0.3 * 100e6 / (4 * traffic.mean_wire_bytes());
  EXPECT_NEAR(static_cast<double>(stats.generated) / (messages * (0.7 + 2 * 0.3)), 1, 0.02);
  EXPECT_EQ(rig.net->audit(), "");
}

TEST(Synthetic, ChoosesServiceLevels) {
  PacketOptions options = PacketOptions::thesis();
  options.vls = 8;
  PacketRig rig(draw("H1-S1 H2-S1"), options);

  struct Levels final : PacketObserver {
    void on_delivered(const Delivery& arrival) override { ++count[arrival.sl]; }

    std::array<int, 16> count{};
  };

  const auto run = [&](SlChoice choice, std::uint8_t sl) {
    Levels levels;
    SyntheticTraffic traffic(
        {.load = 0.5, .sizes = {{64, 1}}, .sl_choice = choice, .sl = sl},
        Destinations({{1, uniform_pattern(2)}}, false),
        byte_times(*rig.net),
        [](HostNum from, HostNum, std::uint32_t) { return std::uint8_t(from + 4); });
    PacketNet net(rig.spec, options);
    for (std::uint32_t n = 0; n < rig.spec.nodes.size(); ++n) net.load(n, rig.fabric.nodes[n]);
    net.set_workload(&traffic);
    net.set_observer(&levels);
    net.start();
    net.run_until(10 * kMilli);
    return levels.count;
  };
  const auto fixed = run(SlChoice::Fixed, 5);
  EXPECT_GT(fixed[5], 1000);
  EXPECT_EQ(fixed[0], 0);
  const auto random = run(SlChoice::Random, 3);
  for (int sl = 0; sl < 4; ++sl) EXPECT_GT(random[static_cast<std::size_t>(sl)], 400);
  EXPECT_EQ(random[4], 0);
  const auto path = run(SlChoice::Path, 0);
  EXPECT_GT(path[4], 500);
  EXPECT_GT(path[5], 500);
  EXPECT_EQ(path[0], 0);
}

Picos run_collective(CollectiveKind kind, std::uint64_t bytes, std::uint64_t packets) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1 H5-S1"), PacketOptions::thesis());
  Collective exchange({.kind = kind, .bytes = bytes, .mtu = 256}, rig.fabric.host_lids);
  rig.net->set_workload(&exchange);
  rig.net->start();
  rig.net->run_until(kSecond);
  EXPECT_EQ(rig.net->stats().delivered, packets);
  EXPECT_EQ(rig.net->audit(), "");
  EXPECT_NE(exchange.finished(), kNever);
  return exchange.finished();
}

TEST(Collective, MessagesTakeTheSlsOfTheirPaths) {
  PacketOptions options = PacketOptions::thesis();
  options.vls = 8;
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1"), options);

  struct Levels final : PacketObserver {
    void on_delivered(const Delivery& arrival) override {
      EXPECT_EQ(arrival.sl, arrival.source + 2 * arrival.destination);
      ++count;
    }

    int count = 0;
  } levels;

  Collective exchange(
      {.kind = CollectiveKind::AllToAll,
       .bytes = 64,
       .mtu = 256,
       .path_sl = [](HostNum from, HostNum to) { return std::uint8_t(from + 2 * to); }},
      rig.fabric.host_lids);
  rig.net->set_workload(&exchange);
  rig.net->set_observer(&levels);
  rig.net->start();
  rig.net->run_until(kMilli);
  EXPECT_EQ(levels.count, 6);
}

TEST(Collective, EverybodyToEverybody) {
  // Four messages of two packets each: a link carries eight packets of 282 bytes.
  const Picos took = run_collective(CollectiveKind::AllToAll, 512, 5 * 4 * 2);
  EXPECT_GT(took, 8 * 1128 * kNano);
  EXPECT_LT(took, 10 * 1128 * kNano);
}

TEST(Collective, RingAllReduce) {
  // Eight steps of a fifth of 1,280 bytes: one packet each, which waits for the one before.
  const Picos took = run_collective(CollectiveKind::RingAllReduce, 1280, 5 * 8);
  const Picos step = (60 + 100 + 146 + 100 + 1128) * kNano;
  EXPECT_GE(took, 8 * step);
  // All five routed by one unit: at most four times 40 ns more.
  EXPECT_LE(took, 8 * (step + 160 * kNano));
}

// A fifth of 1,281 bytes is 256 and a rest, which nobody sent; a byte more is a second packet.
TEST(Collective, PiecesOfARingHoldAllOfTheData) {
  run_collective(CollectiveKind::RingAllReduce, 1281, 5 * 8 * 2);
  run_collective(CollectiveKind::RingAllReduce, 1280, 5 * 8);
  run_collective(CollectiveKind::RingAllReduce, 3, 5 * 8);
}

TEST(Collective, TreeAllReduce) {
  // Ranks 3 and 4 to 1, 1 and 2 to 0, and back: eight messages of two packets.
  const Picos took = run_collective(CollectiveKind::TreeAllReduce, 512, 8 * 2);
  EXPECT_GT(took, 4 * 2 * 1128 * kNano);
}

TEST(Trace, IsReplayed) {
  std::vector<std::unique_ptr<std::istream>> copies;
  copies.push_back(
      std::make_unique<std::istringstream>("# two messages and a long one\n"
                                           "0 0 1 256\n"
                                           "\n"
                                           "1000.5 1 0 100 1   # on SL 1\n"
                                           "1000.5 2 0 600\r\n"));
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1"), PacketOptions::thesis());
  TraceTraffic traffic(*rig.net, std::move(copies), "t", 256, [](HostNum from, HostNum to) {
    return std::uint8_t(from == 2 && to == 0 ? 3 : 0);
  });

  struct Seen final : PacketObserver {
    void on_delivered(const Delivery& arrival) override { all.push_back(arrival); }

    std::vector<Delivery> all;
  };

  Seen seen;
  rig.net->set_workload(&traffic);
  rig.net->set_observer(&seen);
  rig.net->start();
  rig.net->run_until(kMilli);
  EXPECT_TRUE(traffic.finished());
  ASSERT_EQ(seen.all.size(), 5u);
  EXPECT_EQ(std::ranges::count(seen.all, 1'000'500, &Delivery::generated), 4);
  EXPECT_EQ(std::ranges::count(seen.all, 1, &Delivery::sl), 1);
  EXPECT_EQ(std::ranges::count(seen.all, 3, &Delivery::sl), 3)
      << "of the path, where none is named";
  EXPECT_EQ(std::ranges::count(seen.all, 88, &Delivery::payload), 1);
}

TEST(Trace, FaultsHaveTheirLine) {
  const std::pair<const char*, int> texts[] = {{"0 0 1 256\nx 0 1 5\n", 2},
                                               {"5 0 1 256\n4 0 1 256\n", 2},
                                               {"0 0 3 256\n", 1},
                                               {"0 0 1\n", 1},
                                               {"0 0 1 256 16\n", 1},
                                               {"0 0 1 256 1 7\n", 1},
                                               {"1.2345 0 1 256\n", 1},
                                               {"-1 0 1 256\n", 1},
                                               {"\n\n99999999999999999999 0 1 2\n", 3}};
  for (const auto& [text, line] : texts) {
    std::istringstream in(text);
    const auto checked = check_trace(in, "t.trace", 3);
    ASSERT_FALSE(checked.has_value()) << text;
    EXPECT_EQ(checked.error().at(0).line, line) << text;
    EXPECT_EQ(checked.error().at(0).where, "t.trace");
  }
  std::istringstream endless("0 0 1 256\n0 0 1 " + std::string(1 << 20, '1'));
  EXPECT_EQ(print_fault(check_trace(endless, "t.trace", 3).error().at(0)),
            "t.trace:2: a line has at most 65535 characters");
  std::istringstream longest("0 0 1 256#" + std::string(65525, ' ') + "\n0 0 1 2");
  EXPECT_EQ(check_trace(longest, "t", 3).value(), 2u);
  std::istringstream zeros("0 0 1 256\n" + std::string(100, '\0') + "\n");
  EXPECT_EQ(check_trace(zeros, "t", 3).error().at(0).line, 2) << "bytes of 0 are no end";
  std::istringstream good("0 0 1 256\n0.001 2 1 0 15\n");
  EXPECT_EQ(check_trace(good, "t", 3).value(), 2u);
}

}  // namespace sources_test
}  // namespace smd::sim::test
