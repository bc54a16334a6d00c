// Whole mechanisms in a net: round trips, windows, source queues, what is never seen.
#include "sim-backend/congestion/preset.h"

#include <gtest/gtest.h>

#include "smd/congestion/throttle.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace preset_test {

constexpr Picos kCycle = 1000;  // of the preset "multistage"
constexpr std::array kAll{
    "none", "standard", "renato-window", "renato", "renato-fimd", "pfister", "iocm", "mvcm"};

/// H1 and H2 at the ends of a row of switches.
std::string row(unsigned switches) {
  std::string out = "H1-S1";
  for (unsigned s = 2; s <= switches; ++s) out += fmt::format(" S{}-S{}", s - 1, s);
  return out + fmt::format(" S{}-H2", switches);
}

PacketOptions options(unsigned payload = 256) {
  PacketOptions out = PacketOptions::multistage();
  out.switches.input_buffer_bytes = out.switches.output_buffer_bytes = 4 * payload;
  return out;
}

FabricFacts around(const PacketRig& rig) {
  return {.nodes = static_cast<std::uint32_t>(rig.spec.nodes.size()),
          .hosts = rig.net->host_count(),
          .radix = 4,
          .stages = 2,
          .round_trip = 354 * kCycle,
          .switch_ports = 8};
}

CongestionSpec mechanism(std::string_view name) {
  CongestionSpec spec;
  EXPECT_TRUE(find_mechanism(name, spec)) << name;
  return spec;
}

std::vector<Script::Line> burst(const PacketRig& rig,
                                unsigned count,
                                HostNum to,
                                std::uint16_t payload) {
  std::vector<Script::Line> lines;
  for (HostNum host = 0; host < rig.net->host_count(); ++host) {
    for (unsigned i = 0; host != to && i < count; ++i) {
      lines.push_back({0, host, rig.to(to, payload)});
    }
  }
  return lines;
}

struct Trip {
  unsigned switches;
  std::uint16_t payload;
  double window;  // as printed
};

class RoundTrip : public testing::TestWithParam<Trip> {};

// The formula counts a cable per switch; there is one more, once each way.
TEST_P(RoundTrip, IsThatOfTheFormula) {
  const Trip& trip = GetParam();
  const cc::PathTiming path{.switches = trip.switches,
                            .hop_time = 3,
                            .bytes_per_time = 1,
                            .head_bytes = 22,
                            .ack_bytes = 22};
  const double formula = cc::compute_round_trip(path, trip.payload);
  // To within how the source rounds: 1.273 is printed as 1.28.
  EXPECT_NEAR(cc::compute_window(path, trip.payload), trip.window, 0.008);

  // A window of one packet: each goes when the one before is acknowledged.
  PacketRig rig(draw(row(trip.switches)), options(trip.payload));
  Script script(burst(rig, 20, 1, trip.payload));
  CongestionControl control(mechanism("renato-window"), around(rig));
  rig.net->set_congestion_control(control.hooks());
  rig.run(script);
  ASSERT_EQ(script.arrivals.size(), 20u);
  for (std::size_t i = 1; i < script.arrivals.size(); ++i) {
    const Picos between = script.arrivals[i].injected - script.arrivals[i - 1].injected;
    EXPECT_EQ(between, static_cast<Picos>(formula + 2) * kCycle);
  }
  const double measured = (formula + 2) / (trip.payload + 22);
  EXPECT_NEAR(measured, trip.window, 0.012);
  EXPECT_EQ(control.window()->most_outstanding(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         RoundTrip,
                         testing::Values(Trip{9, 256, 1.28},
                                         Trip{9, 1024, 1.07},
                                         Trip{3, 256, 1.14},
                                         Trip{3, 1024, 1.04}));

// Nine switches, 256 bytes: one packet per round trip is 78 % of the link, two are all of it.
TEST(Presets, AWindowOfTwoFillsThePathAndOneDoesNot) {
  for (const unsigned window : {1u, 2u, 4u}) {
    PacketRig rig(draw(row(9)), options());
    Script script(burst(rig, 100, 1, 256));
    CongestionSpec spec = mechanism("renato-window");
    spec.window.most = window;
    CongestionControl control(spec, around(rig));
    rig.net->set_congestion_control(control.hooks());
    rig.run(script);
    const double took = static_cast<double>(script.arrivals.back().injected) / 99 / kCycle;
    EXPECT_NEAR(278 / took, window == 1 ? 0.781 : 1.0, 0.001) << window;
  }
}

// The fractional window lets 1.28 packets be on their way: enough for the path, and not more.
TEST(Presets, AFractionalWindowFillsThePathToo) {
  PacketRig rig(draw(row(9)), options());
  Script script(burst(rig, 200, 1, 256));
  CongestionSpec spec = mechanism("mvcm");
  spec.window = {.kind = WindowKind::Fractional, .mean_per_mille = 1281};
  CongestionControl control(spec, around(rig));
  rig.net->set_congestion_control(control.hooks());
  rig.run(script);
  const double took = static_cast<double>(script.arrivals.back().injected) / 199 / kCycle;
  EXPECT_GT(278 / took, 0.79);
  EXPECT_LE(control.window()->most_outstanding(), 2u);
}

class EveryPreset : public testing::TestWithParam<const char*> {};

//  Three hosts behind S1 and two at S2 flood H5: everything arrives, everything adds up.
TEST_P(EveryPreset, CarriesAllOfAFlood) {
  PacketRig rig(draw("S1-S2 H1-S1 H2-S1 H3-S1 H4-S2 H5-S2"), options());
  Script script(burst(rig, 200, 4, 256));
  CongestionControl control(mechanism(GetParam()), around(rig));
  rig.net->set_congestion_control(control.hooks());
  rig.run(script);
  const NetStats& stats = rig.net->stats();
  EXPECT_EQ(stats.delivered, 800u);
  EXPECT_EQ(stats.in_flight, 0u);
  EXPECT_EQ(stats.feedback.in_flight, 0u);
  EXPECT_EQ(stats.feedback.lost, 0u);
  std::uint64_t marked = 0;
  for (const Delivery& arrival : script.arrivals) marked += arrival.marks != 0;
  const std::string name = GetParam();
  if (name == "none") {
    EXPECT_EQ(marked, 0u);
    EXPECT_EQ(stats.feedback.made, 0u);
  } else if (name == "standard") {
    EXPECT_GT(marked, 0u);
    EXPECT_EQ(stats.feedback.made, marked);
  } else {
    EXPECT_EQ(stats.feedback.made, 800u);
    EXPECT_EQ(stats.feedback.bytes, 800u * 22);
    // A window of one keeps buffers of four from being full.
    if (!name.starts_with("renato")) {
      EXPECT_GT(marked, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Names, EveryPreset, testing::ValuesIn(kAll));

TEST(Presets, EveryMarkingGoesWithEveryReaction) {
  for (const char* marking : {"none", "ipm", "rpm", "opm", "iopm", "mvpm", "iba"}) {
    for (const char* pace : {"none", "slots", "fimd", "aimd", "lipd", "pfister"}) {
      for (const WindowKind window : {WindowKind::None, WindowKind::Static, WindowKind::Dynamic}) {
        CongestionSpec spec{.echo = EchoKind::Acknowledgements,
                            .reaction = ReactionKind::Window,
                            .window = {.kind = window, .most = 2}};
        ASSERT_TRUE(find_marking(marking, spec.marking));
        ASSERT_TRUE(find_pace(pace, spec.pace));
        PacketRig rig(draw("S1-S2 H1-S1 H2-S1 H3-S1 H4-S2 H5-S2"), options());
        Script script(burst(rig, 20, 4, 256));
        CongestionControl control(spec, around(rig));
        rig.net->set_congestion_control(control.hooks());
        rig.run(script);
        EXPECT_EQ(rig.net->stats().delivered, 80u) << marking << ' ' << pace;
        EXPECT_EQ(rig.net->stats().feedback.delivered, 80u) << marking << ' ' << pace;
      }
    }
  }
}

/// A rule that breaks its own word: the audit has to notice.
class Impossible final : public Marking {
 public:
  void on_input(const MarkPoint&, const SwitchQueues&, Marks& marks) override {
    marks |= kSecondMark;
  }

  [[nodiscard]] bool may_occur(Marks marks) const override { return marks != kSecondMark; }
};

TEST(Presets, TheAuditSeesAValidationWithoutAMark) {
  PacketRig rig(draw(row(2)), options());
  Script script(burst(rig, 1, 1, 256));
  Impossible rule;
  rig.net->set_congestion_control({.marking = &rule});
  rig.net->set_workload(&script);
  rig.net->start();
  rig.net->run_until(kMilli);
  EXPECT_NE(rig.net->audit(), "");
}

TEST(Presets, NamesThatNobodyKnows) {
  CongestionSpec spec;
  MarkingKind marking{};
  PaceKind pace{};
  EXPECT_FALSE(find_mechanism("mvcmm", spec));
  EXPECT_FALSE(find_marking("fecn", marking));
  EXPECT_FALSE(find_pace("tcp", pace));
  for (const char* name : kAll) {
    EXPECT_NE(list_mechanisms().find(name), std::string::npos) << name;
  }
}

// H1 has two packets for H2 and one for H3, in this order, and a window of one packet.
std::vector<HostNum> order(SourceQueues queues, unsigned count, unsigned pool) {
  PacketOptions with = options();
  with.adapters.waiting = queues;
  with.adapters.queues = count;
  with.adapters.pool_bytes = pool;
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1"), with);
  Script script({{0, 0, rig.to(1, 256)}, {0, 0, rig.to(1, 256)}, {0, 0, rig.to(2, 256)}});
  CongestionControl control(mechanism("renato-window"), around(rig));
  rig.net->set_congestion_control(control.hooks());
  rig.run(script);
  std::vector<HostNum> out;
  for (const Delivery& arrival : script.arrivals) out.push_back(arrival.destination);
  return out;
}

const std::vector<HostNum> kInTurn{1, 1, 2}, kOvertaken{1, 2, 1};

TEST(SourceQueues, OneQueueHoldsUpWhatIsBehind) {
  EXPECT_EQ(order(SourceQueues::Shared, 1, 0), kInTurn);
}

TEST(SourceQueues, OnePerDestinationDoesNot) {
  EXPECT_EQ(order(SourceQueues::PerDestination, 1, 0), kOvertaken);
}

// 1 mod 2 and 2 mod 2 are different queues, 1 mod 1 and 2 mod 1 are not.
TEST(SourceQueues, FewQueuesAreSharedByRemainder) {
  EXPECT_EQ(order(SourceQueues::Hashed, 2, 0), kOvertaken);
  EXPECT_EQ(order(SourceQueues::Hashed, 1, 0), kInTurn);
}

TEST(SourceQueues, APoolGivesTheOldestThatMayGo) {
  EXPECT_EQ(order(SourceQueues::Pool, 1, 3 * 278), kOvertaken);
  EXPECT_EQ(order(SourceQueues::Pool, 1, 2 * 278), kOvertaken) << "the first has left it";
  EXPECT_EQ(order(SourceQueues::Pool, 1, 278), kInTurn) << "it holds one packet";
}

}  // namespace preset_test
}  // namespace smd::sim::test
