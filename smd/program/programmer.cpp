#include "smd/program/programmer.h"

#include <algorithm>
#include <utility>

#include "smd/program/block_choice.h"
#include "smd/program/partition_setter.h"
#include "smd/program/phase_runner.h"
#include "smd/program/qos_audit.h"
#include "smd/program/read_back.h"

namespace smd {

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
  Stage stage{run};
  SwitchSetter switches{run, stage};
  TurnSetter turns{run, stage};
  RowSetter rows{run, stage};
  BlockWriter blocks{run, stage};
  std::optional<PortSetter> ports;  // these two want a fabric
  std::optional<PhaseRunner> phases;
  std::optional<ReadBack> reader;
  std::optional<QosAudit> qos;
  PartitionSetter keys{run, stage};
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
  ports.emplace(run, stage);
  phases.emplace(run, PhaseRunner::Parts{stage, switches, turns, rows, *ports, blocks});
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
                  stage.later(Duration{0}, [this] { read_random_tables(); });
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
      qos.emplace(run, stage);
      qos->start([this] { set_keys(); });
    });
  });
}

/// Before ports come up: nobody works in a partition that is not his.
void Programmer::Impl::set_keys() {
  keys.start([this] { settle_turns(); });
}

/// Turns whose rows are in doubt are taken for open by whoever plans: make them so.
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
  phases->start([this] {
    if (run.report.plan_interrupted) return finish();
    switches.set_after([this] { set_ports(); });
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
