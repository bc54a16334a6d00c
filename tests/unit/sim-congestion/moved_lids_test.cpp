// LIDs that change hands while packets and answers are under way: a window belongs to the host that
// it was opened for, and opens again.
#include <gtest/gtest.h>

#include "sim-backend/congestion/echo.h"
#include "sim-backend/congestion/window_reaction.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace moved_lids_test {

//  H1, H2, H3 at S1: hosts 0, 1, 2. A window of one packet for each pair.
struct Site {
  Site() : rig(draw("H1-S1 H2-S1 H3-S1"), PacketOptions::thesis()) {
    rig.net->set_congestion_control({.echo = answers.get(), .reaction = &windows});
    rig.net->set_workload(&nobody);
    rig.net->set_observer(&nobody);
    rig.net->start();
  }

  /// Both hosts get the other one's LID, and S1's table follows.
  void exchange(HostNum a, HostNum b) {
    std::vector<Lid>& lids = rig.fabric.host_lids;
    const auto regs = [this](HostNum host) -> PortRegs& {
      return rig.fabric.nodes[rig.node("H" + std::to_string(host + 1))].ports[1];
    };
    std::swap(regs(a).info.lid, regs(b).info.lid);
    std::vector<PortNum>& lft = rig.fabric.nodes[rig.node("S1")].lft;
    std::swap(lft[lids[a].value()], lft[lids[b].value()]);
    std::swap(lids[a], lids[b]);
    rig.reload();
  }

  std::unique_ptr<Echo> answers = acknowledge();
  WindowReaction windows{3, {.window = {.kind = WindowKind::Static, .most = 1}}};
  PacketRig rig;
  Script nobody{{}};
};

// The packet is on its way to H2 when its LID becomes H3's, who does not answer for H2.
TEST(MovedLids, AWindowOpensAgainWhenAnotherHostGetsThePacket) {
  Site site;
  site.rig.net->send(0, site.rig.to(1, 256));
  site.rig.net->run_until(200 * kNano);  // its head is in, its way is looked up at 260
  site.exchange(1, 2);
  site.rig.net->run_until(kMilli);
  ASSERT_EQ(site.nobody.arrivals.size(), 1u);
  EXPECT_EQ(site.nobody.arrivals[0].destination, 2u);
  EXPECT_EQ(site.windows.view({.source = 0, .destination = 1}).outstanding, 0u);
  for (int i = 0; i < 3; ++i) site.rig.net->send(0, site.rig.to(1, 256));
  site.rig.net->run_until(2 * kMilli);
  EXPECT_EQ(site.rig.net->stats().delivered, 4u);
  EXPECT_EQ(site.rig.net->audit(), "");
}

// The acknowledgement is on its way to H1 when H1's LID becomes H3's, who has sent nothing.
TEST(MovedLids, AnAnswerForAnotherHostIsNobodys) {
  Site site;
  site.rig.net->send(0, site.rig.to(1, 256));
  while (site.nobody.arrivals.empty()) ASSERT_TRUE(site.rig.net->run_one());
  site.exchange(0, 2);
  site.rig.net->run_until(kMilli);
  EXPECT_EQ(site.windows.view({.source = 0, .destination = 1}).outstanding, 0u);
  EXPECT_EQ(site.windows.view({.source = 2, .destination = 1}).outstanding, 0u);
  EXPECT_EQ(site.rig.net->stats().feedback.lost, 1u);
  site.rig.net->send(0, site.rig.to(1, 256));
  site.rig.net->run_until(2 * kMilli);
  EXPECT_EQ(site.rig.net->stats().delivered, 2u);
  EXPECT_EQ(site.rig.net->audit(), "");
}

// A LID that H2 no longer has is nobody's: what is sent there opens no window of H2.
TEST(MovedLids, WhatAHostHasNoMoreIsNobodys) {
  Site site;
  const PacketRequest to_old = site.rig.to(1, 256);
  Lid& lid = site.rig.fabric.nodes[site.rig.node("H2")].ports[1].info.lid;
  lid = Lid{static_cast<std::uint16_t>(lid.value() + 100)};
  site.rig.reload();
  site.rig.net->send(0, to_old);
  site.rig.net->run_until(200 * kNano);
  EXPECT_EQ(site.windows.view({.source = 0, .destination = 1}).outstanding, 0u);
}

}  // namespace moved_lids_test
}  // namespace smd::sim::test
