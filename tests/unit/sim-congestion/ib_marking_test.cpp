// FECN: threshold, root and victim, credit starvation, packet size, marking rate.
#include "sim-backend/congestion/ib_marking.h"

#include <gtest/gtest.h>

namespace smd::sim {
namespace {

constexpr std::uint32_t kNode = 1;
constexpr std::uint8_t kPort = 4;

/// `behind` blocks of 256 stand behind a packet of 4.
bool marks(IbMarking& rule, unsigned behind, bool held = false, unsigned blocks = 4) {
  Marks out = 0;
  rule.on_departure({.node = kNode,
                     .port_vl = 9,
                     .out = 9,
                     .out_port = kPort,
                     .used = behind + blocks,
                     .capacity = 256,
                     .blocks = blocks,
                     .held = held},
                    out);
  return out != 0;
}

IbMarking with(const cc::SwitchSetting& setting, std::vector<cc::PortSetting> ports = {}) {
  IbMarking rule(3);
  rule.set(kNode, {.setting = setting, .ports = std::move(ports)});
  return rule;
}

TEST(IbMarking, ThresholdZeroNeverMarks) {
  IbMarking rule = with({.threshold = 0});
  EXPECT_FALSE(marks(rule, 252));
  EXPECT_FALSE(marks(rule, 2000)) << "with what stands in line, more than a buffer";
  IbMarking fresh(3);
  EXPECT_FALSE(marks(fresh, 252));
}

// Weight w stands for a fill of 1 - w / 16: of 256 blocks, 16 for each step.
TEST(IbMarking, EveryWeightMarksSixteenBlocksEarlier) {
  for (std::uint8_t weight = 1; weight <= 15; ++weight) {
    IbMarking rule = with({.threshold = weight});
    const unsigned fill = 256 - 16u * weight;
    EXPECT_FALSE(marks(rule, fill)) << unsigned{weight};
    EXPECT_TRUE(marks(rule, fill + 1)) << unsigned{weight};
  }
}

TEST(IbMarking, AVictimMarksOnlyWhereTheMaskSaysSo) {
  cc::SwitchSetting setting{.threshold = 15};
  IbMarking root = with(setting);
  EXPECT_TRUE(marks(root, 100));
  EXPECT_FALSE(marks(root, 100, true));
  setting.victim_mask.set(PortNum{kPort + 1});
  IbMarking other = with(setting);
  EXPECT_FALSE(marks(other, 100, true));
  setting.victim_mask.set(PortNum{kPort});
  IbMarking victim = with(setting);
  EXPECT_TRUE(marks(victim, 100, true));
}

TEST(IbMarking, CreditStarvationHasAThresholdOfItsOwn) {
  cc::SwitchSetting setting{.threshold = 1, .cs_threshold = 8};
  IbMarking off = with(setting);
  EXPECT_FALSE(marks(off, 200, true));
  setting.credit_mask.set(PortNum{kPort});
  IbMarking on = with(setting);
  EXPECT_FALSE(marks(on, 128, true));
  EXPECT_TRUE(marks(on, 129, true));
  EXPECT_FALSE(marks(on, 129, false)) << "it had credit";
}

// A switch's own packets stand in no buffer: less than nothing was behind them, and all were
// marked.
TEST(IbMarking, NothingStandsBehindAPacketThatIsInNoBuffer) {
  IbMarking rule = with({.threshold = 15});
  Marks out = 0;
  rule.on_departure({.node = kNode, .out_port = kPort, .used = 0, .capacity = 256, .blocks = 4},
                    out);
  EXPECT_EQ(out, 0);
}

TEST(IbMarking, ShortPacketsAreLeftAlone) {
  IbMarking rule = with({.threshold = 15, .packet_size = 4});
  EXPECT_FALSE(marks(rule, 200, false, 3));
  EXPECT_TRUE(marks(rule, 200, false, 4));
}

TEST(IbMarking, ARateIsPacketsBetweenTwoMarks) {
  IbMarking rule = with({.threshold = 15, .marking_rate = 3});
  std::string seen;
  for (int i = 0; i < 9; ++i) seen += marks(rule, 200) ? '1' : '0';
  EXPECT_EQ(seen, "100010001");
  EXPECT_EQ(rule.marked(kNode), 3u);
  EXPECT_EQ(rule.marked(0), 0u);
}

TEST(IbMarking, APortMayDiffer) {
  std::vector<cc::PortSetting> ports(kPort + 1);
  ports[kPort] = {.valid = true, .threshold = 8, .packet_size = 8, .marking_rate = 1};
  IbMarking rule = with({.threshold = 15}, ports);
  EXPECT_FALSE(marks(rule, 128, false, 8));
  EXPECT_FALSE(marks(rule, 200, false, 7));
  EXPECT_TRUE(marks(rule, 129, false, 8));
  EXPECT_FALSE(marks(rule, 129, false, 8)) << "the port's own rate";
  ports[kPort].valid = false;
  IbMarking invalid = with({.threshold = 15}, ports);
  EXPECT_TRUE(marks(invalid, 17));
}

TEST(IbMarking, APortsThresholdMayBeThatOfStarvation) {
  std::vector<cc::PortSetting> ports(kPort + 1);
  ports[kPort] = {.valid = true, .starvation = true, .threshold = 8};
  cc::SwitchSetting setting{.threshold = 15, .cs_threshold = 1};
  setting.credit_mask.set(PortNum{kPort});
  IbMarking rule = with(setting, ports);
  EXPECT_TRUE(marks(rule, 17)) << "the switch's threshold for what has credit";
  EXPECT_FALSE(marks(rule, 128, true));
  EXPECT_TRUE(marks(rule, 129, true));
}

}  // namespace
}  // namespace smd::sim
