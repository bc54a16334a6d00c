// When a partial discovery asks for a full one, and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/partial_ring.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string full_needed(PartialLab& lab, std::vector<Guid> suspects) {
  const auto found = lab.partial(std::move(suspects));
  if (!found) return "failed: " + found.error().context;
  EXPECT_EQ(found->sweep.fabric, nullptr);
  EXPECT_TRUE(found->delta.empty());
  return found->full_needed;
}

TEST(PartialDiscovery, AStrangerAmongTheSuspectsNeedsAFullDiscovery) {
  Ring lab;
  EXPECT_THAT(full_needed(lab, {Guid{0x7777}}), HasSubstr("0x0000000000007777"));
}

TEST(PartialDiscovery, AStrangerThatIsFoundIsNoReason) {
  Ring lab;
  lab.fabric.move_cable(kH3, port(1), kS9, port(1));
  lab.look(lab.guids({kS3, kS9}));
}

TEST(PartialDiscovery, AnAdapterAmongTheSuspectsIsLookedAtFromItsSwitch) {
  Ring lab;
  lab.fabric.move_cable(kH2, port(1), kH9, port(1));
  const auto found = lab.look(lab.guids({kH2}));
  EXPECT_THAT(found.delta.nodes_new, ElementsAre(Guid{0x1090}));
}

TEST(PartialDiscovery, TheManagersOwnLinkNeedsAFullDiscovery) {
  for (const bool comes_back : {false, true}) {
    Ring lab;
    lab.fabric.set_link(kH1, port(1), false);
    if (comes_back) lab.fabric.set_link(kH1, port(1), true);
    EXPECT_THAT(full_needed(lab, lab.guids({kS1, kS3})), HasSubstr("own link"));
  }
}

TEST(PartialDiscovery, NothingKnownNeedsAFullDiscovery) {
  PartialLab lab(ring());
  EXPECT_THAT(full_needed(lab, {}), HasSubstr("nothing is known"));
}

TEST(PartialDiscovery, TheLocalNodeMustAnswer) {
  Ring lab;
  lab.fabric.set_silent(kH1, true);
  const auto found = lab.partial(lab.guids({kS1}));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().context, HasSubstr("local node"));
}

// What is kept.

}  // namespace
}  // namespace smd::test
