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
                         vls.wanted.add_row(modulo_row(1 + any(15))));
    }
    if (forgery == 4) {
      SlSets more = *vls.advertised;
      more.add(sw,
               Lid{static_cast<std::uint16_t>(1 + any(change_.new_routes.lft.top().value()))},
               static_cast<std::uint8_t>(any(16)));
      vls.advertised = more;
    }
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

/// Round a ring of four, which is a circle, on VL 3; the plan tells two VLs apart.
TEST(PacketsOfHosts, OnAVlThatIsInNoCertificateAreAFault) {
  const Fabric fabric = fabric_from(
      "S1:1-S2:1 S2:2-S3:1 S3:2-S4:1 S4:2-S1:2 H1:1-S1:3 H2:1-S2:3 H3:1-S3:3 H4:1-S4:3");
  const LidMap lids = lids_in_order(fabric);
  ForwardingTables lft{fabric.switch_count(), lids.top};
  SlSets sls{fabric.switch_count(), lids.top};
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const PortNum onwards{fabric.description[fabric.switch_node[sw]] == "S1" ? std::uint8_t{1}
                                                                             : std::uint8_t{2}};
    for (std::uint16_t lid = 1; lid <= lids.top.value(); ++lid) {
      const PortIdx owner = lids.owner_of(Lid{lid});
      if (fabric.node_of[owner] == fabric.switch_node[sw]) continue;
      const PortIdx there = fabric.peer[owner];
      const bool is_here =
          there != kNone<PortIdx> && fabric.node_of[there] == fabric.switch_node[sw];
      lft.set_route(sw, Lid{lid}, is_here ? PortNum{3} : onwards);
      sls.add(sw, Lid{lid}, 1);
    }
  }
  SlToVl row = modulo_row(2);
  row[1] = Vl{3};
  const SlToVlMaps rows = build_switch_rows(fabric, SlToVlMaps{}, row);
  const SlToVlTask vls{
      .advertised = sls, .wanted_sls = sls, .held = rows, .wanted = rows, .unknown = {}};
  const TransitionTask task{
      .fabric = &fabric, .lids = &lids, .held = &lft, .wanted = &lft, .sl_to_vl = &vls};
  const TransitionPlan plan{.kind = TransitionKind::Certified, .vls = 2};
  const std::size_t size = lft.blocks() * kLftBlockSize;
  const TableView tables{lft, fabric.switch_count(), size};
  IndexVector<PortIdx, LinkUse> use(fabric.port_count(), LinkUse::Open);
  const IndexVector<SwitchIdx, char> live(fabric.switch_count(), 1);
  const std::vector<char> lossless(size, 0);
  const std::vector<LooseEntry> earlier;
  const std::vector<Turn> blocked;
  const VlPhaseView view{.before = &tables,
                         .after = &tables,
                         .earlier = &earlier,
                         .use = &use,
                         .live = &live,
                         .blocked = &blocked,
                         .lossless = &lossless,
                         .held_sl_to_vl = true,
                         .wanted_sl_to_vl = true};
  ChannelOrder order(fabric.port_count() * plan.vls);
  std::iota(order.begin(), order.end(), 0u);
  EXPECT_NE(VlTransientProof(task, plan).find_violation(view, order), "");
  EXPECT_NE(FullVlProof(task, plan).find_violation(view, order), "");
}

}  // namespace
}  // namespace smd::test
