#include "sim-backend/scenario/managed_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/computing_runtime.h"
#include "sim-backend/scenario/coupled_fabric.h"
#include "sim-backend/scenario/offered_traffic.h"
#include "sim-backend/scenario/period_meter.h"
#include "sim-backend/subnet/simulated_subnet.h"

namespace smd::sim {
namespace {

/// Bring-up at the times of the thesis takes minutes; without packets they cost nothing.
constexpr Duration kPatience = std::chrono::minutes(60);
/// Traps of the bring-up are repeated no more.
constexpr Duration kCalm = std::chrono::seconds(15);

/// The managers' clock counts nanoseconds: not before `time`.
Duration nanos(Picos time) { return Duration{(time + kNano - 1) / kNano}; }

class ManagedRun {
 public:
  ManagedRun(const PreparedScenario& prepared, double load, std::uint64_t seed)
      : prepared_(prepared),
        scenario_(prepared.scenario()),
        load_(load),
        seed_(seed),
        network_(prepared.spec(), timing(), seed, agents()),
        computing_(network_.runtime, scenario_.manager.computing),
        net_(prepared.spec(), options()),
        control_(std::move(prepared.control_congestion(net_, reply_sl()).front())),
        managed_(network_, {.settings = settings(), .runtime = &computing_}) {
    net_.set_congestion_control(control_.hooks());
    for (const FaultPlace& place : prepared.faults().absent) set(place, false);
  }

  Result<void> bring_up() {
    if (!managed_.bring_up(kPatience)) {
      const smd::CycleReport* last = manager_.last_cycle();
      return fail(Errc::Io,
                  fmt::format("the manager does not bring the network up: {}",
                              last == nullptr ? "it did not end one look"
                              : last->error   ? last->error->context
                                              : "not every port is Active, or a route is missing"));
    }
    network_.run_for(kCalm);
    managed_.settle(0, kPatience);
    cycles_.clear();
    return {};
  }

  PointResult carry(const RunControl& control) {
    origin_ = network_.runtime.now();
    follow_.emplace(network_.runtime, network_.fabric, net_, origin_);
    if (has_registers())
      follow_->follow_congestion(*control_.iba_marking(), *control_.iba_reaction());
    OfferedTraffic traffic(net_, scenario_.traffic, traffic_input());
    PeriodMeter meter(net_);
    net_.start();
    const MeasureSpec& measure = scenario_.measure;
    run_to(measure.plan.warm_up);
    meter.begin(PeriodKind::Before);
    const std::vector<Picos> blocked_before = blocked_times(net_);
    const std::vector<PlannedFault>& faults = prepared_.faults().faults;
    PointResult out{.load = load_, .seed = seed_};
    Picos interval_end = net_.now() + measure.plan.interval;
    Picos end = kNever;  // of the run, once everything is in
    while (net_.now() < std::min(end, measure.limit)) {
      const bool waits = meter.kind() == PeriodKind::During;
      const Picos next_fault = out.changes.size() < faults.size()
                                   ? std::max(faults[out.changes.size()].at, net_.now())
                                   : kNever;
      run_to(std::min({interval_end, next_fault, end, measure.limit}),
             waits ? out.changes.back().at : kNever);
      if (waits && is_in(out.changes.back().at)) {
        account(out);
        meter.turn(PeriodKind::After);
      }
      if (net_.now() >= next_fault) {
        meter.turn(PeriodKind::During);
        const PlannedFault& fault = faults[out.changes.size()];
        blame(fault, meter);
        set(fault.place, fault.up);
        out.changes.push_back({.at = net_.now(), .what = fault.text});
        end = kNever;
      }
      // The last change has as long to show what it left as a run has at least.
      if (out.changes.size() == faults.size() && meter.kind() == PeriodKind::After &&
          end == kNever) {
        end = net_.now() + measure.plan.least_intervals * measure.plan.interval;
      }
      if (net_.now() < interval_end) continue;
      interval_end += measure.plan.interval;
      meter.cut();
      const Picos all = end == kNever ? measure.limit : end;
      control.progress(static_cast<double>(net_.now()) / static_cast<double>(all));
      out.steady.deadlock = net_.find_deadlock(std::min(end, measure.limit));
      if (!out.steady.deadlock.empty()) {
        out.steady.deadlock_at = net_.now();
        out.steady.state = RunState::Deadlocked;
        break;
      }
      if (control.stop()) {
        out.steady.state = RunState::Interrupted;
        break;
      }
    }
    meter.finish();
    account(out);
    out.managed = true;
    out.never_came = faults.size() - out.changes.size();
    out.closed = traffic.is_closed();
    out.complete = out.closed && traffic.finished();
    out.completed_at = traffic.completed_at();
    out.steady.intervals = meter.intervals();
    out.periods = meter.periods();
    out.latency = read_latency(meter.latency());
    out.network_latency = read_latency(meter.network_latency());
    out.head_latency = read_latency(meter.head_latency());
    out.mean_hops = meter.mean_hops();
    sum_up(net_, prepared_.spec(), meter.bytes_of(), blocked_before, out);
    return out;
  }

 private:
  [[nodiscard]] Timing timing() const {
    return scenario_.preset == "thesis" ? Timing::thesis() : Timing::modern();
  }

  [[nodiscard]] AgentOptions agents() const {
    AgentOptions out = scenario_.program.agents;
    out.vl_cap = vl_code(scenario_.program.vls);
    out.mtu_cap = static_cast<std::uint8_t>(scenario_.program.mtu);
    return out;
  }

  [[nodiscard]] PacketOptions options() const {
    PacketOptions out = scenario_.packet;
    out.seed = seed_;
    return out;
  }

  [[nodiscard]] smd::Settings settings() const {
    const ManagerSpec& spec = scenario_.manager;
    smd::Settings out = default_settings();
    out.engine = scenario_.program.engine;
    out.lids.min = spec.lid_min;
    // As program_nodes() has it.
    out.engine_options.auto_vls = smd::EngineOptions{}.auto_vls;
    out.engine_options.auto_changes = smd::EngineOptions{}.auto_changes;
    out.strategy = smd::make_strategy(spec.how, spec.drain);
    out.debounce = spec.debounce;
    out.debounce_max = std::max(out.debounce_max, out.debounce);
    out.sweep_interval = spec.sweep_interval;
    out.congestion.enabled = has_registers();
    out.congestion.log_interval_s = 0;
    return out;
  }

  /// The manager has something to set.
  [[nodiscard]] bool has_registers() const {
    return control_.iba_marking() != nullptr && control_.iba_reaction() != nullptr;
  }

  [[nodiscard]] ReplySl reply_sl() {
    if (scenario_.traffic.sl_choice != SlChoice::Path) return {};
    return [this](HostNum from, HostNum to) { return path_sl(from, to); };
  }

  [[nodiscard]] Picos since(TimePoint when) const { return to_picos(when - origin_); }

  /// A cycle that began after `fault` has ended, and nothing is left to do.
  [[nodiscard]] bool is_in(Picos fault) const {
    return managed_.at_rest() && !cycles_.empty() && since(cycles_.back().began) >= fault;
  }

  /// Advances both clocks; ends early when the change that came at `fault` is in.
  void run_to(Picos until, Picos fault = kNever) {
    const TimePoint limit = origin_ + nanos(until);
    if (!network_.runtime.run_while_not([&] { return fault != kNever && is_in(fault); }, limit)) {
      network_.runtime.run_until(limit);
    }
    follow_->catch_up();
  }

  void set(const FaultPlace& place, bool up) {
    if (!follow_) {
      if (place.is_link()) return network_.fabric.set_link(place.node, place.port, up);
      return network_.fabric.set_node(place.node, up);
    }
    if (place.is_link()) return follow_->set_link(place.node, place.port, up);
    follow_->set_node(place.node, up);
  }

  /// Who may lose packets for a fault: both ends of every link that goes.
  void blame(const PlannedFault& fault, PeriodMeter& meter) const {
    if (fault.up) return;
    const NodeSpec& node = prepared_.spec().nodes[fault.place.node];
    meter.blame(fault.place.node);
    for (unsigned p = 1; p <= node.num_ports(); ++p) {
      const bool goes = !fault.place.is_link() || fault.place.port.value() == p;
      if (goes && node.ports[p].peer_node != kNoNode) meter.blame(node.ports[p].peer_node);
    }
  }

  /// Cycles go to the latest fault before they began; a fault that comes while another is being
  /// taken in is taken in with it.
  void account(PointResult& out) {
    for (const smd::CycleReport& cycle : cycles_) {
      const Picos began = since(cycle.began);
      const auto after = std::ranges::upper_bound(out.changes, began, {}, &ChangeResult::at);
      if (after == out.changes.begin()) continue;
      ChangeResult& change = *std::prev(after);
      if (change.taken_in != kNever) continue;
      change.noticed = std::min(change.noticed, began);
      ++change.cycles;
      change.smps += cycle.smps();
      if (cycle.transition.kind == TransitionKind::Nothing) continue;
      change.phases += cycle.transition.phases;
      change.certified = change.certified && cycle.transition.certified;
    }
    const Picos last = cycles_.empty() ? kNever : since(cycles_.back().ended);
    const bool all = !out.changes.empty() && is_in(out.changes.back().at);
    for (ChangeResult& change : out.changes) {
      if (all && change.taken_in == kNever) change.taken_in = last;
    }
    if (all) cycles_.clear();
  }

  [[nodiscard]] TrafficInput traffic_input() {
    TrafficInput out{.load = load_,
                     .seed = seed_,
                     .mtu = mtu_bytes(scenario_.program.mtu),
                     .pattern = prepared_.pattern_input(seed_)};
    if (auto sl = reply_sl()) {
      out.path_sl = [sl = std::move(sl)](HostNum from, HostNum to, auto) { return sl(from, to); };
    }
    return out;
  }

  /// As the manager would answer now: it is asked for every message.
  std::uint8_t path_sl(HostNum from, HostNum to) {
    const auto in_force = manager_.share_in_force();
    if (in_force == nullptr) return 0;
    const PathSls& sls = in_force->routing->path_sls;
    if (sls.empty()) return 0;
    if (in_force != known_) {
      known_ = in_force;
      leaf_ = leaves(known_->fabric());
    }
    const Lid lid = net_.host_lid(to);
    if (!leaf_[from] || !sls.covers(known_->fabric().switch_count(), lid)) return 0;
    return sls.sl(*leaf_[from], lid);
  }

  [[nodiscard]] std::vector<std::optional<SwitchIdx>> leaves(const Fabric& fabric) const {
    std::vector<std::optional<SwitchIdx>> out(net_.host_count());
    for (HostNum host = 0; host < out.size(); ++host) {
      const Wire& wire = net_.wiring().wires[net_.wiring().host_port[host]];
      const auto node = fabric.find_node(prepared_.spec().nodes[wire.node].guid);
      if (!node) continue;
      const PortIdx peer = fabric.peer[fabric.port_of(*node, PortNum{wire.number})];
      if (peer == kNone<PortIdx>) continue;
      const SwitchIdx leaf = fabric.switch_at(peer);
      if (leaf != kNone<SwitchIdx>) out[host] = leaf;
    }
    return out;
  }

  const PreparedScenario& prepared_;
  const Scenario& scenario_;
  double load_;
  std::uint64_t seed_;
  TimedFabric network_;
  ComputingRuntime computing_;
  PacketNet net_;
  CongestionControl control_;
  SimulatedManager managed_;
  smd::SubnetManager& manager_ = managed_.manager;
  std::vector<smd::CycleReport>& cycles_ = managed_.reports;  // not yet accounted for
  TimePoint origin_;
  std::shared_ptr<const smd::ActiveSubnet> known_;
  std::vector<std::optional<SwitchIdx>> leaf_;
  std::optional<CoupledFabric> follow_;
};

}  // namespace

Result<PointResult> run_managed(const PreparedScenario& scenario,
                                double load,
                                std::uint64_t seed,
                                const RunControl& control) {
  ManagedRun run(scenario, load, seed);
  if (auto up = run.bring_up(); !up) return tl::unexpected<Error>(up.error());
  return run.carry(control);
}

}  // namespace smd::sim
