// Makes the fabric what the plan says, one barrier after the other, writing only what differs from
// what is confirmed:
//   read back   forwarding tables of switches that somebody programmed before us
//   switches    SwitchInfo: LinearFDBTop, LifeTimeValue
//   qos         SL-to-VL rows and VL arbitration, where configured
//   tables      forwarding blocks, by directed route (old tables must not be trusted)
//   ports       one Set each: LID, configuration, and Initialize -> Armed
//   activate    Armed -> Active
// Every answer is compared with what was set. The answer to a Set carries the register as it now
// is, not as we sent it (IBA 14.2.5), so only a matching answer confirms.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/plan/table_diff.h"
#include "smd/policy/port_policy.h"
#include "smd/policy/qos.h"
#include "smd/program/port_memory.h"
#include "smd/program/program_report.h"
#include "smd/program/read_back.h"
#include "smd/program/table_audit.h"
#include "smd/routing/tables.h"
#include "smd/smp/smp_pump.h"

namespace smd {

/// What the daemon knows to be in the fabric; survives from one cycle to the next.
struct ProgramState {
  ConfirmedTables tables;
  PortMemory ports;
};

struct ProgramInput {
  const SweepReport* report = nullptr;  // all three outlive the run
  const LidMap* lids = nullptr;
  const ForwardingTables* lft = nullptr;
  PortPolicy policy;
  QosPolicy qos;
};

class Programmer {
 public:
  using Done = std::function<void(ProgramReport)>;

  Programmer(Runtime& runtime, SmpClient& client, ProgramState& state, CostMeter& meter);
  Programmer(const Programmer&) = delete;

  /// `done` runs once, last; it may destroy this.
  void start(const ProgramInput& input, Done done);

 private:
  void begin_stage(PhaseCost& cost,
                   SmpPump::IssueNext issue_next,
                   std::function<void()> next_stage);

  void read_back();
  void set_switches();
  void audit_qos();
  void write_tables();
  void set_ports();
  void activate();
  void finish();

  void send_switch_info(SwitchIdx sw, const SwitchInfo& wanted);
  void send_block(SwitchIdx sw, std::size_t block);
  void send_port(PortIdx port, const PortInfo& wanted, PortState state);
  void on_port_refused(PortIdx port,
                       const PortInfo& wanted,
                       PortState state,
                       const Result<SmpReply>& refusal);
  void on_port_set(PortIdx port,
                   const PortInfo& wanted,
                   PortState state,
                   const Result<SmpReply>& reply);
  void ask(const HopPath& path,
           Method method,
           AttributeId attribute,
           std::uint32_t modifier,
           const SmpData& data,
           std::function<void(const Result<SmpReply>&)> on_reply);
  void fault(NodeIdx node, PortNum port, std::string what);

  [[nodiscard]] const Fabric& fabric() const { return *input_.report->fabric; }

  Runtime& runtime_;
  SmpClient& client_;
  ProgramState& state_;
  CostMeter& meter_;
  ProgramInput input_;
  Done done_;
  std::optional<ReadBack> read_back_;
  std::optional<SmpPump> pump_;
  std::optional<TableAudit> qos_;
  Timer next_stage_;
  ProgramReport report_;
};

}  // namespace smd
