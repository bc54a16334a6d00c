// Switches and links that a discovery did not see but that may still carry data.
#include "smd/fabric/delta.h"

#include <gtest/gtest.h>

#include "tests/support/fabric_text.h"

namespace smd {
namespace {

using test::fabric_from;
using test::port;

/// The ports are Active, though nothing answered beyond them.
Fabric with_silence(Fabric fabric, std::initializer_list<const char*> ports) {
  for (const char* name : ports)
    fabric.port_info[port(fabric, name)].port_state = static_cast<std::uint8_t>(PortState::Active);
  return fabric;
}

std::string far_end(const Fabric& fabric, const char* name) {
  return print_port(fabric, fabric.peer[port(fabric, name)]);
}

TEST(UnresponsiveParts, IsNothingWhenAllOfItWasFound) {
  const Fabric fabric = fabric_from("S1-S2 S2-S3 S1-S3 H1-S1");
  EXPECT_FALSE(with_unresponsive(fabric, fabric));
}

TEST(UnresponsiveParts, ASwitchWhoseCablesAreDownIsGone) {
  const Fabric before = fabric_from("S1:1-S2:1 S2:2-S3:1");
  EXPECT_FALSE(with_unresponsive(fabric_from("S1/1 S3/1"), before));
}

TEST(UnresponsiveParts, ASilentSwitchIsAppendedWithTheCablesThatAreStillActive) {
  const Fabric before = fabric_from("S1:1-S2:1 S2:2-S3:1 S2:3-S4:1 H2:1-S2:4 S1:2-S3:2 S3:3-S4:2");
  const Fabric now = with_silence(fabric_from("S1:2-S3:2 S3:3-S4:2"), {"S1:1", "S3:1"});
  const std::optional<Fabric> both = with_unresponsive(now, before);
  ASSERT_TRUE(both);
  EXPECT_EQ(check_invariants(*both), "");
  EXPECT_EQ(both->switch_count(), now.switch_count() + 1);
  for (const NodeIdx node : now.node_guid.indices())
    EXPECT_EQ(both->node_guid[node], now.node_guid[node]);
  EXPECT_EQ(far_end(*both, "S2:1"), far_end(before, "S2:1"));
  EXPECT_EQ(far_end(*both, "S3:1"), far_end(before, "S3:1"));
  EXPECT_EQ(far_end(*both, "S2:3"), "no port") << "the other end is down";
  EXPECT_EQ(far_end(*both, "S2:4"), "no port") << "hosts pass nothing on";
  EXPECT_EQ(both->port_info[port(*both, "S2:1")].state(), PortState::Active);
  EXPECT_EQ(far_end(*both, "S1:2"), far_end(now, "S1:2"));
}

TEST(UnresponsiveParts, ASwitchBehindSilentOnesLingersWithThem) {
  const Fabric before = fabric_from("S1:1-S2:1 S2:2-S3:1 S3:2-S4:1 S1:2-S5:1 S6:1-S7:1");
  const Fabric now = with_silence(fabric_from("S1:2-S5:1"), {"S1:1"});
  const std::optional<Fabric> both = with_unresponsive(now, before);
  ASSERT_TRUE(both);
  EXPECT_EQ(check_invariants(*both), "");
  EXPECT_EQ(both->switch_count(), 5u) << "S6 and S7 are joined to nothing that lives";
  EXPECT_EQ(far_end(*both, "S3:1"), far_end(before, "S3:1"));
  EXPECT_EQ(far_end(*both, "S4:1"), far_end(before, "S4:1"));
}

TEST(UnresponsiveParts, WhoIsCutOffForgetsNothing) {
  const Fabric before = fabric_from("H1:1-S1:1 S1:2-S2:1 S2:2-S3:1 S4/1");
  const std::optional<Fabric> both = with_unresponsive(fabric_from("H1"), before);
  ASSERT_TRUE(both);
  EXPECT_EQ(check_invariants(*both), "");
  EXPECT_EQ(both->switch_count(), 4u);
  EXPECT_EQ(with_lost(fabric_from("H1"), before)->switch_count(), 4u);
  EXPECT_EQ(far_end(*both, "S2:2"), far_end(before, "S2:2"));

  // Found again, but for one that answers nothing.
  const std::optional<Fabric> later =
      with_unresponsive(with_silence(fabric_from("H1:1-S1:1 S1/2"), {"S1:2"}), *both);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->switch_count(), 3u);
}

// An island that was cut off. S3 is found again over a new cable; behind it S4 still forwards.
TEST(UnresponsiveParts, WhoIsCutOffIsFoundBehindOneThatComesBack) {
  const Fabric before = fabric_from("S1:1-S2:1 S2:2-S3:1 S3:2-S4:1");
  const Fabric cut = fabric_from("S1/2 S2/2");
  EXPECT_FALSE(with_unresponsive(cut, before));
  const std::optional<Fabric> lost = with_lost(cut, before);
  ASSERT_TRUE(lost);
  EXPECT_EQ(check_invariants(*lost), "");
  EXPECT_EQ(lost->switch_count(), 4u);
  EXPECT_EQ(far_end(*lost, "S3:2"), far_end(before, "S3:2"));
  EXPECT_EQ(lost->peer[port(*lost, "S3:1")], kNone<PortIdx>) << "its living end is down";

  const Fabric back = with_silence(fabric_from("S1:2-S3:3 S2/2"), {"S3:2"});
  EXPECT_FALSE(with_unresponsive(back, cut)) << "forgotten";
  const std::optional<Fabric> both = with_unresponsive(back, *lost);
  ASSERT_TRUE(both);
  EXPECT_EQ(check_invariants(*both), "");
  EXPECT_EQ(far_end(*both, "S4:1"), far_end(before, "S4:1"));
}

TEST(UnresponsiveParts, WhoHasNoLinkLeftIsForgotten) {
  const Fabric before = fabric_from("S1:1-S2:1 S2:2-S3:1");
  EXPECT_FALSE(with_lost(fabric_from("S1:1-S2:1 S2/2"), before));
  EXPECT_FALSE(with_lost(before, before));
}

TEST(UnresponsiveParts, ACableThatWasAskedOverInVainStays) {
  const Fabric before = fabric_from("S1:1-S2:1 S1:2-S3:1 S2:2-S3:2");
  const Fabric lost = fabric_from("S1:2-S3:1 S2:2-S3:2");
  EXPECT_FALSE(with_unresponsive(lost, before)) << "both ends are down";
  EXPECT_FALSE(with_unresponsive(with_silence(lost, {"S1:1"}), before)) << "one end is down";
  const std::optional<Fabric> both =
      with_unresponsive(with_silence(lost, {"S1:1", "S2:1"}), before);
  ASSERT_TRUE(both);
  EXPECT_EQ(check_invariants(*both), "");
  EXPECT_EQ(far_end(*both, "S1:1"), far_end(before, "S1:1"));
}

TEST(UnresponsiveParts, APortThatNowLeadsElsewhereLeadsThere) {
  const Fabric before = fabric_from("S1:1-S2:1 S1:2-S3:1");
  const Fabric now = fabric_from("S1:1-S3:2 S1:2-S3:1");
  EXPECT_FALSE(with_unresponsive(now, before));
}

TEST(UnresponsiveParts, IsRememberedFromOneLookToTheNext) {
  const Fabric before = fabric_from("S1:1-S2:1 S2:2-S3:1 S1:2-S3:2");
  const Fabric now = with_silence(fabric_from("S1:2-S3:2"), {"S1:1", "S3:1"});
  const std::optional<Fabric> once = with_unresponsive(now, before);
  ASSERT_TRUE(once);
  const std::optional<Fabric> twice = with_unresponsive(now, *once);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->peer.raw(), once->peer.raw());
}

}  // namespace
}  // namespace smd
