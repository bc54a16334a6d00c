// What figures of a run, and of the fabric around it, are of: by hand.
#include <gtest/gtest.h>

#include "sim-backend/scenario/fabric_facts.h"
#include "sim-backend/scenario/run.h"
#include "tests/support/scenario_text.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace figures_test {

FabricFacts facts_of(const FabricSpec& spec, const PacketOptions& options) {
  const PacketRig rig(spec, options);
  return survey(*rig.net, rig.fabric, 256);
}

// Each switch 40 + 20 + 40 + 2 ns, a byte across in 1, 40 for the link: 143. Three cables of 100
// ns, 60 of the adapter: 646 there, as much back, 282 bytes and 26.
TEST(FabricFacts, AreOfTheFastestLink) {
  FabricSpec spec = draw("H1-S1 S1-S2 S2-H2", LinkWidth::X4);
  const FabricFacts fast = facts_of(spec, PacketOptions::thesis());
  EXPECT_EQ(fast.round_trip, (2 * 646 + 282 + 26) * kNano);
  EXPECT_EQ(fast.window, 6u) << "1,600 / 282, rounded up";
  const std::uint32_t slow = add_node(spec, NodeType::Ca, "H3", Guid{0x20300}, 1);
  connect(spec, 2, PortNum{3}, slow, PortNum{1}, LinkWidth::X1, LinkSpeed::Sdr);
  const FabricFacts with_a_slow_one = facts_of(spec, PacketOptions::thesis());
  EXPECT_EQ(with_a_slow_one.round_trip, fast.round_trip);
  EXPECT_EQ(with_a_slow_one.window, fast.window);
}

// S1 and S2 are a group, S3 another. From H2 by S2, S1 and S3 to H3: 3 x 143 + 100 + 10 + 1,000 +
// 100 + 60 there.
TEST(FabricFacts, CountEachCableAsItIs) {
  PacketOptions options = PacketOptions::thesis();
  options.links.group_switches = 2;
  options.links.within_groups = 10 * kNano;
  options.links.between_groups = kMicro;
  const FabricFacts around =
      facts_of(draw("H1-S1 S1-S2 S2-H2 S1-S3 S3-H3", LinkWidth::X4), options);
  EXPECT_EQ(around.round_trip, (2 * 1699 + 282 + 26) * kNano);
  EXPECT_EQ(around.window, 14u) << "3,706 / 282, rounded up";
}

// H1's only cable goes before anything is sent: it has as much to send as the others.
TEST(Figures, AHostThatGetsNothingThroughCounts) {
  const auto made = prepare_text(R"([fabric]
name = "torus:dims=2.1,mesh=1,hosts=2"
model = "worms"
[traffic]
size = 512
[measure]
interval_us = 500
least_intervals = 20
most_intervals = 20
[[fault]]
at_us = 0
what = "link-down"
where = "host-00000:1"
)");
  ASSERT_TRUE(made) << print_fault(made.error().at(0));
  const PointResult out = made->run(0.05, 1);
  EXPECT_GT(out.stats.delivered, 100u);
  EXPECT_EQ(out.least_share, 0);
  // Three of four at most: (a + b + c)^2 / (4 (a^2 + b^2 + c^2)).
  EXPECT_LE(out.fairness, 0.75);
  EXPECT_GT(out.fairness, 0.6);
}

TEST(Figures, BlockedTimesAreOfWhatWasMeasured) {
  const std::string rest =
      "[traffic]\npattern = \"incast\"\nload = 0.9\n"
      "[measure]\nwarm_up_us = 500\ninterval_us = 5\nleast_intervals = 2\nmost_intervals = 2\n";
  for (const char* fabric : {"[fabric]\nname = \"fat-tree:k=4,levels=2\"\n",
                             "[fabric]\nname = \"fat-tree:k=4,levels=2\"\nmodel = \"worms\"\n"}) {
    const auto made = prepare_text(fabric + rest);
    ASSERT_TRUE(made) << print_fault(made.error().at(0));
    const PointResult out = made->run(0.9, 1);
    EXPECT_GT(out.blocked, 0);
    EXPECT_LE(out.blocked, 10 * kMicro);
  }
}

// Nothing has been measured when the measurement begins.
TEST(Figures, StopsOfWormsAreOfWhatWasMeasured) {
  const auto made = prepare_text(R"([fabric]
name = "irregular:switches=8,ports=8,links=4,hosts=4"
model = "worms"
[routes]
system = "UD_ITB"
)");
  ASSERT_TRUE(made) << print_fault(made.error().at(0));
  const auto net = made->worms()->make_net(1);
  std::vector<Script::Line> lines;
  for (HostNum host = 0; host < net->host_count(); ++host) {
    for (HostNum i = 1; i < net->host_count(); ++i) {
      const auto to = static_cast<std::uint16_t>((host + i) % net->host_count() + 1);
      lines.push_back({.at = 0, .source = host, .what = {.dlid = Lid{to}, .payload = 64}});
    }
  }
  Script script(lines);
  net->set_workload(&script);
  net->start();
  net->run_until(kMilli);
  ASSERT_GT(net->figures().transits, 0u);
  const WormRunFigures out = made->worms()->measure(made->spec(), *net, WormRunStart::of(*net));
  EXPECT_EQ(out.stops_per_message, 0);
}

}  // namespace figures_test
}  // namespace smd::sim::test
