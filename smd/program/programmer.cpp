// Runs the phases of a plan, list by list. A list that is not confirmed as a whole ends the plan:
// what follows was proved for switches that hold it. Everybody else on the list is served first.
//
// Two things interrupt nothing: a port that does not come up, unless it is one of a link between
// switches and entries of later phases lead there; and whatever happens to an initial plan, since
// nothing carries anything. What a switch does that did not confirm its tables nobody knows: there,
// links to other switches stay down until the next run, which reads what it holds.

#include "smd/program/programmer.h"

#include <algorithm>
#include <utility>

#include "smd/program/lft_writer.h"
#include "smd/program/partition_setter.h"
#include "smd/program/port_setter.h"
#include "smd/program/sl2vl_writer.h"
#include "smd/program/switch_setter.h"
#include "smd/program/table_audit.h"

namespace smd {

namespace {

constexpr std::string_view kEntries = "writing entries";

}  // namespace

class PhaseRunner {
 public:
  struct Parts {
    SmpBatch& batch;
    SwitchSetter& switches;
    TurnSetter& turns;
    SlToVlWriter& rows;
    PortSetter& ports;
    BlockWriter& blocks;
  };

  PhaseRunner(ProgramRun& run, const Parts& parts) : run_(run), parts_(parts) {}

  PhaseRunner(const PhaseRunner&) = delete;

  /// `done` runs once: all phases are in, or report.plan_interrupted tells why not. `vls`: of the
  /// list that gave links more VLs, which the plan reckons with.
  void start(Unconfirmed vls, std::function<void()> done);

 private:
  [[nodiscard]] Duration time_to_drain() const;
  void note_changes();
  [[nodiscard]] std::uint64_t smps_of_changes() const;
  void block_turns();
  void restore_turns();
  void deactivate();
  void write_sl_to_vl();
  void drain(std::function<void()> then);
  void write_entries();
  void write_hidden_blocks();
  void raise_tops();
  void activate();
  void write_leftovers();
  void finish();

  /// Of a list that was done: true when the plan ends here.
  bool interrupts(std::string_view list, Unconfirmed unconfirmed);

  /// What an initial plan had not confirmed at first, and has now.
  void take_back_confirmed();
  bool lacks_links();

  /// By all of the plan so far: turns, or SLs of turns.
  [[nodiscard]] std::uint64_t turns_closed() const;
  [[nodiscard]] bool writes_entries() const;

  [[nodiscard]] const TransitionPlan& plan() const { return *run_.input.plan; }

  [[nodiscard]] const TransitionPhase& phase() const { return plan().phases[at_]; }

  ProgramRun& run_;
  Parts parts_;
  std::function<void()> done_;
  std::size_t at_ = 0;
  std::uint64_t closed_before_ = 0;  // before this phase
  std::uint64_t smps_noted_ = 0;     // of changes
  bool defaults_set_ = false;
  bool whole_written_ = false;
};

void PhaseRunner::start(Unconfirmed vls, std::function<void()> done) {
  done_ = std::move(done);
  smps_noted_ = smps_of_changes();
  const bool needs_vls = std::ranges::any_of(plan().phases, &TransitionPhase::sl_to_vl);
  if (needs_vls && interrupts("raising OperationalVLs before", std::move(vls))) return;
  const Duration wait = time_to_drain();
  wait > Duration{0} ? parts_.batch.later(wait, [this] { block_turns(); }) : block_turns();
}

/// A plan was proved for what switches hold as it begins. What an earlier plan replaced a moment
/// ago is in no mixture of it, so the packets that were sent by that are given the time to leave:
/// what is left of it, which is none unless one plan follows another at once.
Duration PhaseRunner::time_to_drain() const {
  const std::optional<TimePoint>& last = run_.state.changed_at;
  if (!last || plan().kind == TransitionKind::Initial || plan().phases.empty()) return Duration{0};
  const Duration drain_time = run_.input.writing.drain_time;
  return std::clamp(*last + drain_time - run_.runtime.now(), Duration{0}, drain_time);
}

void PhaseRunner::note_changes() {
  if (std::exchange(smps_noted_, smps_of_changes()) == smps_of_changes()) return;
  if (plan().kind != TransitionKind::Initial) run_.state.changed_at = run_.runtime.now();
}

std::uint64_t PhaseRunner::smps_of_changes() const {
  return run_.report.turns.smps + run_.report.tables.smps;
}

void PhaseRunner::block_turns() {
  if (at_ == plan().phases.size()) return write_leftovers();
  closed_before_ = turns_closed();
  parts_.turns.block(phase().block, [this](Unconfirmed unconfirmed) {
    if (!interrupts("blocking turns", std::move(unconfirmed))) restore_turns();
  });
}

void PhaseRunner::restore_turns() {
  parts_.turns.restore(phase().restore, [this](Unconfirmed unconfirmed) {
    if (!interrupts("restoring turns", std::move(unconfirmed))) deactivate();
  });
}

void PhaseRunner::deactivate() {
  parts_.ports.deactivate(phase().deactivate, [this](Unconfirmed unconfirmed) {
    if (!interrupts("deactivating ports", std::move(unconfirmed))) write_sl_to_vl();
  });
}

void PhaseRunner::write_sl_to_vl() {
  const auto then = [this](Unconfirmed unconfirmed) {
    if (interrupts("writing SL-to-VL rows", std::move(unconfirmed))) return;
    drain([this] {
      if (std::exchange(defaults_set_, true)) return write_entries();
      parts_.switches.set_default_ports([this] { write_entries(); });
    });
  };
  phase().sl_to_vl ? parts_.rows.write(then) : then({});
}

std::uint64_t PhaseRunner::turns_closed() const {
  const bool discards = plan().kind == TransitionKind::CutDependencies;
  return run_.report.turns_blocked + (discards ? run_.report.sl_to_vl_written : 0);
}

/// What a switch had looked up before a turn was blocked or an SL discarded still waits for that
/// output. The proof of the phase takes it to be gone before the entries that follow.
void PhaseRunner::drain(std::function<void()> then) {
  const bool waits = turns_closed() != closed_before_ && writes_entries() &&
                     run_.input.writing.drain_time > Duration{0};
  waits ? parts_.batch.later(run_.input.writing.drain_time, std::move(then)) : then();
}

bool PhaseRunner::writes_entries() const {
  return !phase().entries.empty() || phase().to_wanted || plan().phases.size() == 1;
}

void PhaseRunner::write_entries() {
  const bool all = writes_entries() && block_choice(run_) != BlockChoice::Changed &&
                   !std::exchange(whole_written_, true);
  parts_.blocks.write(
      phase().to_wanted ? choose_blocks(run_) : choose_blocks(run_, phase().entries, all),
      [this](Unconfirmed unconfirmed) {
        if (!interrupts(kEntries, std::move(unconfirmed))) write_hidden_blocks();
      });
}

/// A switch that comes back forwards nothing until LinearFDBTop rises, also where this phase has
/// entries in some of its blocks only, and the later ones rely on them.
void PhaseRunner::write_hidden_blocks() {
  // With nothing in force before, blocks that were not confirmed are written once more at the end.
  if (plan().kind == TransitionKind::Initial) return raise_tops();
  parts_.blocks.write(choose_hidden_blocks(run_), [this](Unconfirmed unconfirmed) {
    if (!interrupts("writing blocks below LinearFDBTop", std::move(unconfirmed))) raise_tops();
  });
}

void PhaseRunner::raise_tops() {
  parts_.switches.raise_tops([this](Unconfirmed unconfirmed) {
    if (!interrupts("raising LinearFDBTop", std::move(unconfirmed))) activate();
  });
}

void PhaseRunner::activate() {
  std::vector<PortIdx> ports = phase().activate;
  std::erase_if(ports, [this](PortIdx port) { return leads_to_unconfirmed(run_, port); });
  parts_.ports.activate(std::move(ports), [this] {
    if (lacks_links()) return;
    ++at_;
    run_.report.phases_done = at_;
    const bool drains = plan().in_flight == InFlight::Drained && at_ < plan().phases.size() &&
                        run_.input.writing.drain_time > Duration{0};
    if (!drains) return block_turns();
    parts_.batch.later(run_.input.writing.drain_time, [this] { block_turns(); });
  });
}

/// Blocks that no entry of the plan touched.
void PhaseRunner::write_leftovers() {
  if (!std::exchange(defaults_set_, true))
    return parts_.switches.set_default_ports([this] { write_leftovers(); });
  parts_.blocks.write(choose_leftovers(run_), [this](Unconfirmed unconfirmed) {
    if (interrupts("writing what no phase touched", std::move(unconfirmed))) return;
    take_back_confirmed();
    finish();
  });
}

void PhaseRunner::finish() {
  std::string unwanted = find_unwanted_block(run_);
  if (unwanted.empty()) unwanted = parts_.rows.find_unwanted();
  if (!unwanted.empty() && plan().kind != TransitionKind::Initial) {
    run_.report.plan_interrupted = {
        .phase = at_, .why = unwanted + " is not as wanted after the last phase", .switches = {}};
  }
  std::exchange(done_, nullptr)();
}

bool PhaseRunner::interrupts(std::string_view list, Unconfirmed unconfirmed) {
  note_changes();
  if (plan().kind == TransitionKind::Initial) {
    if (list == kEntries)
      run_.without_entries.insert(unconfirmed.nodes.begin(), unconfirmed.nodes.end());
    return false;
  }
  if (unconfirmed.empty()) return false;
  std::string why = fmt::format(
      "{} of phase {}: {}, {}", list, at_ + 1, unconfirmed.nodes.front(), unconfirmed.first);
  std::ranges::sort(unconfirmed.nodes);
  const auto twice = std::ranges::unique(unconfirmed.nodes);
  unconfirmed.nodes.erase(twice.begin(), twice.end());
  run_.report.plan_interrupted = {
      .phase = at_, .why = std::move(why), .switches = std::move(unconfirmed.nodes)};
  std::exchange(done_, nullptr)();
  return true;
}

void PhaseRunner::take_back_confirmed() {
  const Fabric& fabric = run_.fabric();
  std::erase_if(run_.without_entries, [&](Guid guid) {
    const SwitchIdx sw = fabric.switch_of[*fabric.find_node(guid)];
    return !has_random_table(run_.report.switch_info[sw]) &&
           !run_.state.tables.find_other_block(guid, *run_.input.lft, sw);
  });
}

/// Entries of later phases lead over links between switches that this one activates.
bool PhaseRunner::lacks_links() {
  if (at_ + 1 == plan().phases.size() || plan().kind == TransitionKind::Initial) return false;
  const Fabric& fabric = run_.fabric();
  PlanInterruption lack{.phase = at_, .why = {}, .switches = {}, .links = {}};
  const std::vector<PortRef>* const needed = run_.input.needed_links;
  const auto is_needed = [&](PortIdx port) {
    const PortRef end{fabric.node_guid[fabric.node_of[port]], fabric.number_of(port)};
    return needed != nullptr && std::ranges::binary_search(*needed, end);
  };
  for (const PortIdx port : phase().activate) {
    const PortIdx peer = fabric.peer[port];
    const PortState state = run_.report.port_info[port].state();
    if (state == PortState::Active || peer == kNone<PortIdx> ||
        fabric.switch_at(port) == kNone<SwitchIdx> || fabric.switch_at(peer) == kNone<SwitchIdx> ||
        is_needed(port) || is_needed(peer))
      continue;
    if (lack.links.empty())
      lack.why = fmt::format("activating links of phase {}: {} is {}",
                             at_ + 1,
                             print_port(fabric, port),
                             print_port_state(state));
    lack.links.push_back({fabric.node_guid[fabric.node_of[port]], fabric.number_of(port)});
  }
  if (lack.links.empty()) return false;
  std::ranges::sort(lack.links);
  run_.report.plan_interrupted = std::move(lack);
  std::exchange(done_, nullptr)();
  return true;
}

struct Programmer::Impl {
  Impl(Runtime& runtime, SmpClient& client, ProgramState& state, CostMeter& meter)
      : run{runtime, client, state, meter, {}, {}} {}

  void start();
  void read_back();
  void read_random_tables();
  void set_keys();
  void settle_turns();
  void write_tables();
  void set_ports();
  void finish();

  ProgramRun run;
  Done done;
  SmpBatch batch{run};
  SwitchSetter switches{run, batch};
  TurnSetter turns{run, batch};
  SlToVlWriter rows{run, batch};
  BlockWriter blocks{run, batch};
  std::optional<PortSetter> ports;  // these two want a fabric
  std::optional<PhaseRunner> phases;
  std::optional<ReadBack> reader;
  std::optional<QosAudit> qos;
  Unconfirmed without_vls;
  PartitionSetter keys{run, batch};
};

Programmer::Programmer(Runtime& runtime, SmpClient& client, ProgramState& state, CostMeter& meter)
    : runtime_(runtime), client_(client), state_(state), meter_(meter) {}

Programmer::~Programmer() = default;

void Programmer::start(const ProgramInput& input, Done done) {
  impl_ = std::make_unique<Impl>(runtime_, client_, state_, meter_);
  impl_->run.input = input;
  impl_->done = std::move(done);
  impl_->start();
}

void Programmer::Impl::start() {
  run.report.port_info = run.fabric().port_info;
  run.report.switch_info = run.fabric().switch_info;
  ports.emplace(run, batch);
  phases.emplace(run, PhaseRunner::Parts{batch, switches, turns, rows, *ports, blocks});
  // A plan was made for what was read before it.
  run.input.plan == nullptr ? read_back() : read_random_tables();
}

void Programmer::Impl::read_back() {
  for (SwitchIdx sw : run.fabric().switch_node.indices()) {
    const SwitchInfo& info = run.fabric().switch_info[sw];
    if (info.linear_fdb_top == 0 && !has_random_table(info)) run.state.forget(run.guid_of(sw));
  }
  reader.emplace(run.client, run.input.policy.m_key);
  reader->start(*run.input.report,
                find_unread_blocks(run.fabric(), run.input.lft->top(), run.state.tables),
                run.state.tables,
                [this](std::uint64_t read) {
                  run.report.blocks_read = read;
                  run.report.tables += run.meter.lap();
                  batch.later(Duration{0}, [this] { read_random_tables(); });
                });
}

/// A random table has no top that tells a fresh switch from a programmed one.
void Programmer::Impl::read_random_tables() {
  std::vector<BlockWrite> unread;
  for (SwitchIdx sw : run.fabric().switch_node.indices()) {
    const SwitchInfo& info = run.fabric().switch_info[sw];
    const Guid guid = run.guid_of(sw);
    if (!has_random_table(info)) continue;
    if (run.state.switches.was_reset(guid, info)) run.state.forget(guid);
    if (run.state.random.knows(guid)) continue;
    for (std::uint32_t number = 0; number < info.random_fdb_cap / kRftBlockSize; ++number) {
      unread.push_back({.sw = sw, .number = number, .table = AttributeId::RandomForwardingTable});
    }
  }
  blocks.read(std::move(unread), [this] {
    switches.set_before([this] {
      ports->raise_vls([this](Unconfirmed unconfirmed) {
        without_vls = std::move(unconfirmed);
        qos.emplace(run, batch);
        qos->start([this] { set_keys(); });
      });
    });
  });
}

/// Before ports come up: nobody works in a partition that is not his.
void Programmer::Impl::set_keys() {
  keys.start([this] {
    run.state.doubtful.clear();
    settle_turns();
  });
}

/// Turns whose entries are in doubt are taken for open by whoever plans: make them so.
void Programmer::Impl::settle_turns() {
  turns.restore(run.state.turns.collect(run.fabric(), TurnMemory::Held::Unknown),
                [this](const Unconfirmed&) { write_tables(); });
}

void Programmer::Impl::write_tables() {
  if (run.input.plan == nullptr) {
    return rows.write([this](const Unconfirmed&) {
      switches.set_default_ports([this] {
        blocks.write(choose_blocks(run), [this](const Unconfirmed&) { set_ports(); });
      });
    });
  }
  phases->start(std::move(without_vls), [this] {
    if (!run.report.plan_interrupted) return switches.set_after([this] { set_ports(); });
    if (!run.input.is_last_attempt) return finish();
    ports->settle_links_of_adapters([this] { finish(); });
  });
}

void Programmer::Impl::set_ports() {
  ports->settle_all([this] { finish(); });
}

void Programmer::Impl::finish() {
  const Fabric& fabric = run.fabric();
  for (PortIdx port : fabric.peer.indices()) {
    if (!is_to_be_active(fabric, *run.input.lids, port)) continue;
    const PortState now = run.report.port_info[port].state();
    if (now < PortState::Active) ++run.report.ports_not_active;
    if (fabric.port_info[port].state() == PortState::Initialize && now > PortState::Initialize)
      run.report.came_up.push_back(port);
  }
  std::ranges::sort(run.report.retrained);
  std::exchange(done, nullptr)(std::move(run.report));
}

}  // namespace smd
