// Several cycles that one change took, as one report.
#include "smd/subnet/cycle_report.h"

#include <gtest/gtest.h>

namespace smd {
namespace {

CycleReport cycle(const char* reason, std::uint64_t smps, TransitionReport transition) {
  CycleReport out{.reason = reason, .partial = true};
  out.discovery.smps = smps;
  out.tables.smps = 2 * smps;
  out.transition = std::move(transition);
  return out;
}

TEST(SumCycles, CostsAddUpAndTheOutcomeIsTheLast) {
  CycleReport first = cycle("trap 128 from lid 5", 3, {});
  first.counts.links = 9;
  first.fault_count = 1;
  CycleReport last = cycle("retry: 1 settings failed", 4, {});
  last.partial = false;
  last.counts.links = 8;
  const CycleReport sum = sum_cycles({first, last});
  EXPECT_EQ(sum.reason, "trap 128 from lid 5");
  EXPECT_EQ(sum.discovery.smps, 7u);
  EXPECT_EQ(sum.tables.smps, 14u);
  EXPECT_EQ(sum.counts.links, 8u);
  EXPECT_EQ(sum.fault_count, 0u);
  EXPECT_FALSE(sum.partial);
}

TEST(SumCycles, ATransitionIsProvedOnlyWhenAllWere) {
  const TransitionReport proved{.kind = TransitionKind::Certified, .phases = 2, .certified = true};
  const TransitionReport blocked{
      .kind = TransitionKind::CutPorts, .phases = 1, .certified = false, .why = "no order"};
  const TransitionReport nothing{.certified = true};
  EXPECT_TRUE(sum_cycles({cycle("a", 1, proved), cycle("b", 1, nothing)}).transition.certified);
  EXPECT_EQ(sum_cycles({cycle("a", 1, proved), cycle("b", 1, nothing)}).transition.kind,
            TransitionKind::Certified);
  const CycleReport mixed = sum_cycles({cycle("a", 1, blocked), cycle("b", 1, proved)});
  EXPECT_FALSE(mixed.transition.certified);
  EXPECT_EQ(mixed.transition.kind, TransitionKind::CutPorts);
  EXPECT_EQ(mixed.transition.phases, 3u);
  EXPECT_EQ(mixed.transition.why, "no order");
}

TEST(SumCycles, OneCycleIsItself) {
  const CycleReport one =
      cycle("command", 5, {.kind = TransitionKind::Initial, .phases = 1, .certified = false});
  const CycleReport sum = sum_cycles({one});
  EXPECT_EQ(sum.smps(), one.smps());
  EXPECT_EQ(sum.transition.kind, TransitionKind::Initial);
  EXPECT_FALSE(sum.transition.certified);
}

}  // namespace
}  // namespace smd
