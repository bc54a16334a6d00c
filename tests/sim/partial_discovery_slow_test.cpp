// What the loss of a cable costs in a tree of 11,664 hosts: as in a small one. Each look is
// compared with a discovery from nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/partial_ring.h"
#include "tests/support/cables.h"

namespace smd::test {
namespace {

TEST(PartialDiscovery, ALostCableOfALargeTreeIsLearnedInAsFewSmps) {
  const FabricSpec spec = sim::load_fabric("fat-tree:k=36,levels=3").value();
  Ring lab(spec);
  const std::vector<test::Cable> cables = cables_between_switches(spec);
  for (const test::Cable& cable : {cables.front(), cables.back()}) {
    lab.fabric.set_link(cable.node, cable.port, false);
    const auto found = lab.look(lab.poll().changed);
    EXPECT_LE(lab.requests, 12u);
    lab.adopt(found.sweep);
  }
}

}  // namespace
}  // namespace smd::test
