// The simulated fabric at management fidelity: every node has its own SMI, SMA, PMA, registers and
// tables; MADs walk hop by hop through those tables as they are at that moment. No data packets
// here.
//
// It runs on any Runtime: virtual time for dry runs and tests, the real loop for `smsim serve`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/agents/agent_options.h"
#include "sim-backend/management/fabric_change.h"
#include "sim-backend/management/smp_carrier.h"
#include "sim-backend/topology/fabric_spec.h"
#include "smd/mad/congestion.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "smd/runtime/runtime.h"
#include "smd/transport/transport.h"

namespace smd::sim {

struct NodeState;

/// All times of one kind of fabric. Presets: modern, thesis, none (everything at once, for
/// serving).
struct Timing {
  Duration smi_pass{0};    // each passage of a SMP through a node's SMI, served one at a time
  Duration sma_time{0};    // the agent makes its answer
  Duration switch_hop{0};  // LID-routed transit of a switch
  Duration cable{0};       // propagation per link
  double byte_ns = 0;      // serialisation of one byte on a 4x EDR link; scaled by width and speed
  unsigned vl15_packets = 0;        // SMPs that fit a port's VL15 buffer; 0 unlimited
  std::uint8_t resp_time_code = 8;  // RespTimeValue that agents report

  static Timing modern();
  static Timing thesis();
  static Timing none();
};

/// Random faults of the wire, drawn per SMP and hop from the fabric's seed.
struct WireFaults {
  double drop = 0;  // probabilities
  double duplicate = 0;
  double corrupt = 0;  // one random bit; receivers discard (ICRC) unless corrupt_undetected
  double reorder = 0;  // delayed by up to reorder_delay
  Duration reorder_delay = std::chrono::microseconds(50);
  bool corrupt_undetected = false;  // hand the damaged MAD on: tests decoders against garbage
};

struct SimFabricStats {
  std::uint64_t injected = 0;        // MADs given by clients
  std::uint64_t delivered = 0;       // MADs handed to clients
  std::uint64_t agent_requests = 0;  // SMPs that reached an SMA
  std::uint64_t dropped_fault = 0;   // by WireFaults
  std::uint64_t dropped_vl15 = 0;
  std::uint64_t dropped_link = 0;   // a port that is down, or a dead or silent node
  std::uint64_t dropped_route = 0;  // no table entry, bad hop, Pout == Pin
  std::uint64_t dropped_m_key = 0;
  std::uint64_t dropped_cc_key = 0;
  std::uint64_t dropped_malformed = 0;
  std::uint64_t dropped_no_client = 0;  // an answer or trap for software that is not there
  std::uint64_t traps = 0;
};

class SimFabric {
 public:
  /// Client of a node's QP0 or QP1: gets SMPs that its SMA does not answer (responses, traps,
  /// SMInfo), and GMPs.
  using Receive = std::function<void(const MadPacket&)>;
  enum class ClientId : std::uint32_t {};

  /// Requires: check_spec(spec) is empty; the runtime outlives the fabric.
  SimFabric(Runtime& runtime,
            FabricSpec spec,
            Timing timing,
            std::uint64_t seed,
            const AgentOptions& options = {});
  ~SimFabric();
  SimFabric(const SimFabric&) = delete;

  /// As cabled now: moved cables and new descriptions show.
  [[nodiscard]] const FabricSpec& spec() const;

  // Software on a node.
  ClientId attach(std::uint32_t node, PortNum port, Receive receive);
  void detach(ClientId client);
  void inject(ClientId client, const MadPacket& packet);
  void set_is_sm(ClientId client, bool is_sm);

  // Faults. All take effect at once; neighbours notice as hardware would (port states,
  // PortStateChange, trap 128).
  void set_link(std::uint32_t node, PortNum port, bool up);
  void set_node(std::uint32_t node,
                bool up);  // off: its links drop; on: comes back as after power-on
  void reboot_node(std::uint32_t node, Duration off_time);
  void set_silent(std::uint32_t node, bool silent);  // links up, agent dead
  /// Takes the end of a cable out of `port` and puts it into `to_port`, whose cable is pulled out.
  void move_cable(std::uint32_t node, PortNum port, std::uint32_t to_node, PortNum to_port);
  void set_description(std::uint32_t node, const std::string& description);    // raises trap 144
  void set_congestion_support(std::uint32_t node, CongestionSupport support);  // outlasts reboots
  void set_wire_faults(const WireFaults& faults);

  // What packets do to the logs of congestion control. `port` of a switch: where it marked.
  void log_mark(std::uint32_t node, PortNum port, const cc::SwitchLogEvent& event);
  void log_trigger(std::uint32_t node, PortNum port, const cc::CaLogEvent& event);
  /// Runs before an agent serves a MAD of class 0x21: whoever writes the logs brings them up to
  /// now. Empty: nobody does.
  void before_congestion(std::function<void()> catch_up);

  // What data packets do to the counters of a port: words of 4 bytes sent, and so many times that a
  // word takes with packets to send and no credit for any.
  void count_data(std::uint32_t node, PortNum port, std::uint64_t words, std::uint64_t waits);
  /// Runs before the node's agent of performance management answers: whoever counts brings its
  /// counters up to now. Empty: nobody does.
  void before_performance(std::function<void(std::uint32_t node)> catch_up);
  void set_wait_counters(std::uint32_t node, WaitCounters counters);  // outlasts reboots

  /// From now on SMPs go over links in the hands of `carrier`; null: over the fabric's own wires,
  /// which alone know the faults of set_wire_faults. Requires: it outlives this, or is taken back
  /// when it carries nothing.
  void set_carrier(SmpCarrier* carrier);
  /// A SMP is at the far end: its first byte at `head`, its last at `whole`.
  void take_carried(SmpCarrier::Ticket ticket, TimePoint head, TimePoint whole);
  /// It was on a link, or waited for one, that dropped.
  void lose_carried(SmpCarrier::Ticket ticket);

  // What oracles read: the registers and tables themselves.
  [[nodiscard]] bool link_up(std::uint32_t node, PortNum port) const;
  [[nodiscard]] PortInfo port_info(std::uint32_t node, PortNum port) const;
  [[nodiscard]] SwitchInfo switch_info(std::uint32_t node) const;
  [[nodiscard]] PortNum lft(std::uint32_t node, Lid lid) const;  // kNoRoute beyond the top
  [[nodiscard]] SlToVl sl_to_vl(std::uint32_t node, PortNum in, PortNum out) const;

  /// All registers, tables and counters; include sim-backend/agents/node_state.h. Valid until the
  /// node is switched on again.
  [[nodiscard]] const NodeState& node_state(std::uint32_t node) const;

  /// From now on `observer` runs after every SMP that changes what packets notice, and after every
  /// fault; once or more per change.
  ObserverId on_change(ChangeObserver observer);
  void stop_observing(ObserverId observer);

  [[nodiscard]] const SimFabricStats& stats() const;

  /// Hash of every MAD delivered so far with its time and place: equal for equal seeds.
  [[nodiscard]] std::uint64_t trace_hash() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Index of the node whose description, id or GUID ("0x…") is `name`; kNoNode when there is none or
/// two.
[[nodiscard]] std::uint32_t find_node(const FabricSpec& spec, const std::string& name);

}  // namespace smd::sim
