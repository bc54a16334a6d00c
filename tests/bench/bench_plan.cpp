// What planner and verifier cost by channel, and by channel and VL, on a subnet of one VL: one
// cable of a fat tree of 36-port switches is lost. And what a plan costs when many hosts are new,
// and where SL-to-VL rows are written.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/manager/plan_job.h"
#include "smd/plan/make/ordered_phases.h"
#include "smd/plan/make/planner.h"
#include "smd/plan/verify/vl_transient_proof.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "smd/routing/sl_to_vl.h"

namespace smd {
namespace {

std::shared_ptr<const Fabric> build(bool lost, unsigned hosts = 1728) {
  const std::string spec = "fat-tree:k=36,levels=3,hosts=" + std::to_string(hosts);
  auto fabric = std::make_shared<Fabric>(*sim::build_snapshot(sim::load_fabric(spec).value()));
  PortIdx last = kNone<PortIdx>;
  for (const PortIdx port : fabric->peer.indices()) {
    const PortIdx peer = fabric->peer[port];
    if (peer == kNone<PortIdx>) continue;
    fabric->port_info[port].port_state = static_cast<std::uint8_t>(PortState::Active);
    if (fabric->is_switch(fabric->node_of[port]) && fabric->is_switch(fabric->node_of[peer]))
      last = port;
  }
  if (lost) {
    fabric->peer[fabric->peer[last]] = kNone<PortIdx>;
    fabric->peer[last] = kNone<PortIdx>;
  }
  return fabric;
}

struct Change {
  explicit Change(std::uint8_t sls)
      : fabric(build(true)),
        lids(assign_lids(*build(false), {}, {}).value().map),
        one_vl(make_one_vl(*fabric, lids.top, sls)) {
    const auto before = build(false);
    const Engine& engine = *find_engine("updn");
    held = engine.compute(*before, lids, {}).value();
    const PreviousRoutes in_force{before.get(), &lids, &held};
    wanted = engine.compute(*fabric, lids, {.previous = &held.orientation, .in_force = &in_force})
                 .value();
    task = {.fabric = fabric.get(),
            .lids = &lids,
            .held = &held.lft,
            .wanted = &wanted.lft,
            .unknown = {},
            .blocked = {},
            .orientation = &wanted.orientation,
            .sl_to_vl = &one_vl};
    initial = std::make_unique<const InitialState>(task);
    changes = find_changes(task);
  }

  Change(const Change&) = delete;

  static SlToVlTask make_one_vl(const Fabric& fabric, Lid top, std::uint8_t sls) {
    SlSets sets{fabric.switch_count(), top};
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      for (std::uint16_t lid = 1; lid <= top.value(); ++lid) {
        for (std::uint8_t sl = 0; sl < sls; ++sl) sets.add(sw, Lid{lid}, sl);
      }
    }
    SlToVlMaps rows{fabric};
    rows.add_row(SlToVl{});
    return {.advertised = sets, .wanted_sls = sets, .held = rows, .wanted = rows, .unknown = {}};
  }

  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  SlToVlTask one_vl;
  RoutingTables held, wanted;
  TransitionTask task;
  std::unique_ptr<const InitialState> initial;
  std::vector<EntryChange> changes;
};

// By how many SLs hosts may use.
const Change& change(const benchmark::State& state) {
  static std::map<std::int64_t, std::unique_ptr<const Change>> all;
  std::unique_ptr<const Change>& found = all[state.range(0)];
  if (found == nullptr)
    found = std::make_unique<const Change>(static_cast<std::uint8_t>(state.range(0)));
  return *found;
}

ChannelOrder plan_by_channel(const Change& on) {
  TransientGraph transient{on.task, *on.initial, on.changes};
  return find_single_phase(transient, TurnGraph{*on.fabric}, false).value().certificate;
}

ChannelOrder plan_by_vl(const Change& on) {
  PlanBudget budget{1000 * kPlanStepsPerMs};
  return find_vl_phases(on.task, *on.initial, on.changes, false, 8, budget)
      .value()
      .phases.at(0)
      .certificate;
}

void make_by_channel(benchmark::State& state) {
  const Change& on = change(state);
  for (auto _ : state) benchmark::DoNotOptimize(plan_by_channel(on));
  state.counters["entries"] = static_cast<double>(on.changes.size());
}

void make_by_vl(benchmark::State& state) {
  const Change& on = change(state);
  for (auto _ : state) benchmark::DoNotOptimize(plan_by_vl(on));
}

// The one phase of the plan, as the proofs see it.
struct Phase {
  explicit Phase(const Change& on)
      : lids(std::max(on.held.lft.blocks(), on.wanted.lft.blocks()) * kLftBlockSize),
        before(on.held.lft, on.fabric->switch_count(), lids),
        after(on.wanted.lft, on.fabric->switch_count(), lids),
        use(on.fabric->port_count(), LinkUse::Closed),
        live(on.fabric->switch_count(), 1),
        lossless(lids, 0) {
    for (const PortIdx port : use.indices()) {
      if (on.initial->flow[port] == Flow::Now) use[port] = LinkUse::Open;
    }
    for (const EntryChange& each : on.changes) lossless[each.lid.value()] = 1;
    for (std::size_t lid = 1; lid < lids; ++lid)
      (lossless[lid] ? written : constant).push_back(static_cast<std::uint16_t>(lid));
  }

  const std::size_t lids;
  const TableView before, after;
  IndexVector<PortIdx, LinkUse> use;
  const IndexVector<SwitchIdx, char> live;
  std::vector<char> lossless;
  LidList constant, written;
  const std::vector<LooseEntry> none;
  const std::vector<Turn> blocked;
};

void verify_by_channel(benchmark::State& state) {
  const Change& on = change(state);
  const Phase phase{on};
  const ChannelOrder order = plan_by_channel(on);
  std::string fault;
  for (auto _ : state) {
    TransientProof proof{*on.fabric, phase.before, phase.constant, phase.written};
    fault += proof.find_violation({.before = &phase.before,
                                   .after = &phase.after,
                                   .written = &phase.written,
                                   .unknown = &phase.none,
                                   .lingering = &phase.none,
                                   .use = &phase.use,
                                   .blocked = &phase.blocked},
                                  order);
  }
  if (!fault.empty()) state.SkipWithError(fault.c_str());
}

void verify_by_vl(benchmark::State& state) {
  const Change& on = change(state);
  const Phase phase{on};
  const ChannelOrder order = plan_by_vl(on);
  const TransitionPlan plan;
  std::string fault;
  for (auto _ : state) {
    VlTransientProof proof{on.task, plan};
    fault += proof.find_violation({.before = &phase.before,
                                   .after = &phase.after,
                                   .earlier = &phase.none,
                                   .use = &phase.use,
                                   .live = &phase.live,
                                   .blocked = &phase.blocked,
                                   .lossless = &phase.lossless,
                                   .held_sl_to_vl = true,
                                   .advertised = true},
                                  order);
  }
  if (!fault.empty()) state.SkipWithError(fault.c_str());
}

// Hosts that boot within one cycle: no switch has an entry for them.
void plan_new_hosts(benchmark::State& state) {
  const auto fabric = build(false, 7776);
  const LidMap lids = assign_lids(*fabric, {}, {}).value().map;
  const RoutingTables wanted = find_engine("updn")->compute(*fabric, lids, {}).value();
  ForwardingTables held = wanted.lft;
  auto booted = *fabric;
  std::int64_t left = state.range(0);
  for (const PortIdx port : booted.peer.indices()) {
    if (booted.is_switch(booted.node_of[port]) || lids.base[port] == kUnassignedLid) continue;
    if (left-- == 0) break;
    for (const PortIdx end : {port, booted.peer[port]})
      booted.port_info[end].port_state = static_cast<std::uint8_t>(PortState::Initialize);
    for (const SwitchIdx sw : booted.switch_node.indices())
      held.set_route(sw, lids.base[port], kNoRoute);
  }
  const TransitionTask task{.fabric = &booted,
                            .lids = &lids,
                            .held = &held,
                            .wanted = &wanted.lft,
                            .unknown = {},
                            .blocked = {},
                            .orientation = &wanted.orientation};
  TransitionPlan plan;
  for (auto _ : state) {
    plan = {};
    plan = plan_transition(task, {});
  }
  if (plan.kind != TransitionKind::Certified) state.SkipWithError("not certified");
  std::size_t entries = 0;
  for (const TransitionPhase& phase : plan.phases) entries += phase.entries.size();
  state.counters["entries"] = static_cast<double>(entries);
  state.counters["switches"] = static_cast<double>(fabric->switch_count());
  state.counters["phases"] = static_cast<double>(plan.phases.size());
}

// A plan that needs no VL, of a subnet whose SL-to-VL rows are written: since routes of before
// needed some, or for the VL of multicast packets.
void plan_with_rows(benchmark::State& state) {
  const auto hosts = static_cast<unsigned>(state.range(0));
  const auto before = build(false, hosts), fabric = build(true, hosts);
  const LidMap lids = assign_lids(*before, {}, {}).value().map;
  const Engine& engine = *find_engine("updn");
  const RoutingTables held = engine.compute(*before, lids, {}).value();
  const PreviousRoutes in_force{before.get(), &lids, &held};
  RoutingTables wanted =
      engine.compute(*fabric, lids, {.previous = &held.orientation, .in_force = &in_force}).value();
  PlanJob job{.goal = std::make_shared<const ActiveSubnet>(
                  ActiveSubnet{.sweep = {.fabric = fabric},
                               .lids = lids,
                               .routing = std::move(wanted),
                               .rows = build_switch_rows(*fabric, {}, modulo_row(8))}),
              .held = {.lft = held.lft, .unknown = {}},
              .blocked = {},
              .options = {},
              .rows = {},
              .advertised = {},
              .found = fabric->switch_count()};
  for (const SwitchIdx sw : fabric->switch_node.indices()) {
    const Guid guid = fabric->node_guid[fabric->switch_node[sw]];
    for_each_turn(*fabric, sw, [&](PortNum in, PortNum out) {
      job.rows.confirm(guid, in, out, modulo_row(8));
    });
  }
  TransitionPlan plan;
  for (auto _ : state) plan = compute_plan(job);
  if (plan.kind != TransitionKind::Certified || plan.vls != 1)
    state.SkipWithError("not certified without VLs");
}

void register_all() {
  const auto add = [](const char* name, auto run) {
    benchmark::RegisterBenchmark(name, run)->Arg(1)->Arg(16)->ArgName("sls")->Unit(
        benchmark::kMillisecond);
  };
  add("make/channel", make_by_channel);
  add("make/vl", make_by_vl);
  add("verify/channel", verify_by_channel);
  add("verify/vl", verify_by_vl);
  benchmark::RegisterBenchmark("plan/new_hosts", plan_new_hosts)
      ->Arg(1000)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("plan/rows", plan_with_rows)
      ->Arg(1728)
      ->Arg(11664)
      ->ArgName("hosts")
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace smd

int main(int argc, char** argv) {
  smd::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
