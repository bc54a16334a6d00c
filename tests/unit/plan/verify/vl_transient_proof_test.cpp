// The proof that looks at what differs says what the one says that looks at everything: on random
// changes, with whatever a forger may put in.
#include "smd/plan/verify/vl_transient_proof.h"

#include <gtest/gtest.h>

#include <numeric>

#include "smd/plan/make/planner.h"
#include "tests/unit/plan/change_on_vls.h"
#include "tests/unit/plan/full_vl_proof.h"

namespace smd::test {
namespace {

struct Tried {
  unsigned respected = 0, violated = 0;
};

/// One phase from the held to the wanted tables.
class OnePhase {
 public:
  OnePhase(const Change& change, const SlToVlTask& vls)
      : change_(change),
        task_(change.task()),
        lids_(std::max(change.held.blocks(), change.new_routes.lft.blocks()) * kLftBlockSize),
        before_(change.held, change.after->switch_count(), lids_),
        after_(change.new_routes.lft, change.after->switch_count(), lids_),
        use_(change.after->port_count(), LinkUse::Closed),
        live_(change.after->switch_count(), 1),
        lossless_(lids_, 0) {
    task_.sl_to_vl = &vls;
    const Fabric& fabric = *change.after;
    for (const PortIdx port : use_.indices()) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[port]) ||
          !fabric.is_switch(fabric.node_of[peer]))
        continue;
      use_[port] = carries_data(fabric, port) ? LinkUse::Open : LinkUse::Opens;
    }
  }

  /// Both proofs on one phase, however it was forged.
  void compare(const TransitionPlan& plan, ChannelOrder order, Rng& rng, Tried& tried) {
    const unsigned forgery = static_cast<unsigned>(rng.below(5));
    const auto any = [&](std::size_t n) { return static_cast<std::uint32_t>(rng.below(n)); };
    const Fabric& fabric = *change_.after;
    if (forgery == 1) {
      const PortIdx a{any(order.size())}, b{any(order.size())};
      std::swap(order[a], order[b]);
    }
    TableView after = after_;
    if (forgery == 2)
      after.set(SwitchIdx{any(fabric.switch_count())},
                1 + any(lids_ - 1),
                PortNum{static_cast<std::uint8_t>(1 + any(4))});
    SlToVlTask vls = *task_.sl_to_vl;
    const SwitchIdx sw{any(fabric.switch_count())};
    if (forgery == 3) {
      const unsigned ports = fabric.num_ports(fabric.switch_node[sw]);
      vls.wanted.set_row(sw,
                         PortNum{static_cast<std::uint8_t>(any(ports + 1))},
                         PortNum{static_cast<std::uint8_t>(1 + any(ports))},
                         vls.wanted.add_row(modulo_row(1 + any(plan.vls))));
    }
    if (forgery == 4)
      vls.advertised.add(
          sw,
          Lid{static_cast<std::uint16_t>(1 + any(change_.new_routes.lft.top().value()))},
          static_cast<std::uint8_t>(any(16)));
    TransitionTask task = task_;
    task.sl_to_vl = &vls;

    LidList constant;
    for (std::size_t lid = 1; lid < lids_; ++lid) {
      bool changes = false;
      for (const SwitchIdx at : fabric.switch_node.indices())
        changes = changes || before_.row(at)[lid] != after.row(at)[lid];
      if (!changes) constant.push_back(static_cast<std::uint16_t>(lid));
    }
    std::vector<LooseEntry> earlier;
    if (rng.chance(0.3))
      earlier.push_back({.sw = sw,
                         .lid = static_cast<std::uint16_t>(1 + any(lids_ - 1)),
                         .any = false,
                         .port = PortNum{static_cast<std::uint8_t>(1 + any(4))}});
    if (!earlier.empty()) std::erase(constant, earlier.front().lid);
    const bool lossless = rng.chance(0.2);
    std::ranges::fill(lossless_, lossless ? 1 : 0);
    const bool held = rng.chance(0.5);
    VlPhaseView view{.before = &before_,
                     .after = &after,
                     .earlier = &earlier,
                     .use = &use_,
                     .live = &live_,
                     .blocked = &blocked_,
                     .lossless = &lossless_,
                     .held_sl_to_vl = held,
                     .wanted_sl_to_vl = !held || rng.chance(0.7),
                     .silent = rng.chance(0.2),
                     .advertised = rng.chance(0.5),
                     .u_turns = rng.chance(0.5)};
    const std::string full = FullVlProof{task, plan}.find_violation(view, order);
    EXPECT_EQ(VlTransientProof(task, plan).find_violation(view, order).empty(), full.empty())
        << "all LIDs, forgery " << forgery << ": " << full;
    view.constant = &constant;
    VlTransientProof proof{task, plan};
    EXPECT_EQ(proof.find_violation(view, order).empty(), full.empty())
        << "what changes, forgery " << forgery << ": " << full;
    // Once more, from what was collected.
    ChannelOrder other = order;
    const PortIdx a{any(order.size())}, b{any(order.size())};
    std::swap(other[a], other[b]);
    EXPECT_EQ(proof.find_violation(view, other).empty(),
              FullVlProof(task, plan).find_violation(view, other).empty())
        << "another order, forgery " << forgery;
    ++(full.empty() ? tried.respected : tried.violated);
  }

 private:
  const Change& change_;
  TransitionTask task_;
  std::size_t lids_;
  TableView before_, after_;
  IndexVector<PortIdx, LinkUse> use_;
  IndexVector<SwitchIdx, char> live_;
  std::vector<char> lossless_;
  std::vector<Turn> blocked_;
};

class Proofs : public testing::TestWithParam<const char*> {};

TEST_P(Proofs, SayWhatTheFullOneSays) {
  Tried tried;
  for (std::uint64_t seed = 1; seed <= 160; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw{seed};
    Keeps keeps{};
    const std::optional<Change> change = draw_change_on_lanes(draw, GetParam(), keeps);
    if (!change || change->after->switch_count() > 16) continue;
    const SlToVlTask vls = lane_task_of(*change);
    TransitionTask task = change->task();
    task.sl_to_vl = &vls;
    const TransitionPlan plan = plan_transition(task, {});
    if (!plan.certified() || plan.vls == 1) continue;
    OnePhase phase{*change, vls};
    for (unsigned i = 0; i < 12; ++i)
      phase.compare(plan, plan.phases[i % plan.phases.size()].certificate, draw.rng(), tried);
  }
  EXPECT_GT(tried.respected, 5u);
  EXPECT_GT(tried.violated, 20u);
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         Proofs,
                         testing::Values("dfsssp", "lash", "nue", "dor", "itb-vl"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace smd::test
