#include "sim-backend/scenario/run.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/kernel/process_team.h"
#include "sim-backend/kernel/thread_team.h"
#include "sim-backend/scenario/fabric_facts.h"
#include "sim-backend/scenario/managed_run.h"
#include "sim-backend/scenario/offered_traffic.h"

namespace smd::sim {
namespace {

/// Runs until all that was to be sent has arrived, or the limit, in intervals. Of several processes
/// all ask the traffic as often: once when it begins, and once for each interval.
void run_to_end(DataNet& net,
                Meter& meter,
                const MeasureSpec& measure,
                const std::function<void(Picos)>& step,
                const OfferedTraffic& traffic,
                const std::function<bool()>& is_full,
                const RunControl& control,
                PointResult& out) {
  SteadyResult& steady = out.steady;
  out.closed = true;
  out.complete = traffic.finished();
  while (!out.complete && !is_full() && net.now() < measure.limit && net.next_event() != kNever) {
    step(std::min(net.now() + measure.plan.interval, measure.limit));
    steady.intervals.push_back(meter.cut());
    out.complete = traffic.finished();
    steady.deadlock = net.find_deadlock(measure.limit);
    if (!steady.deadlock.empty()) {
      steady.deadlock_at = net.now();
      steady.state = RunState::Deadlocked;
      break;
    }
    control.progress(static_cast<double>(net.now()) / static_cast<double>(measure.limit));
    if (!control.stop()) continue;
    steady.state = RunState::Interrupted;
    break;
  }
  out.completed_at = traffic.completed_at();
}

/// Calls `visit` with each port and what it has been blocked for since the start.
template <class Visit>
void visit_blocked(const PacketNet& net, Visit visit) {
  const Wiring& wiring = net.wiring();
  for (std::uint32_t node = 0; node < wiring.is_switch.size(); ++node) {
    for (unsigned p = 1; p <= wiring.num_ports[node]; ++p) {
      visit(node, p, net.blocked_time(node, PortNum{static_cast<std::uint8_t>(p)}));
    }
  }
}

void find_most_blocked(const PacketNet& net,
                       const FabricSpec& spec,
                       const std::vector<Picos>& before,
                       PointResult& out) {
  std::size_t at = 0;
  visit_blocked(net, [&](std::uint32_t node, unsigned port, Picos blocked) {
    if (!before.empty()) blocked -= before[at++];
    if (blocked <= out.blocked) return;
    out.blocked = blocked;
    out.blocked_port = fmt::format("{}:{}", spec.nodes[node].description, port);
  });
}

std::string print_full(const PacketNet& net, const PointResult& point) {
  return fmt::format(
      "load {:g} seed {}: ended before {:.3f} us with more than {} packets of a partition under "
      "way or waiting at their sources: adapter.most_waiting, a lower load or more --partitions",
      point.load,
      point.seed,
      static_cast<double>(net.now()) / static_cast<double>(kMicro),
      net.options().most_packets);
}

/// Tells two.
class ObserverPair final : public PacketObserver {
 public:
  ObserverPair(PacketObserver& first, PacketObserver& second) : first_(first), second_(second) {}

  void on_delivered(const Delivery& arrival) override {
    first_.on_delivered(arrival);
    second_.on_delivered(arrival);
  }

  void on_discarded(const Loss& loss) override {
    first_.on_discarded(loss);
    second_.on_discarded(loss);
  }

 private:
  PacketObserver& first_;
  PacketObserver& second_;
};

/// Of all hosts that had something to send: those too that got nothing through.
void measure_shares(const DataNet& net, const std::vector<double>& bytes, PointResult& out) {
  std::vector<double> shares;
  double sum = 0;
  for (HostNum host = 0; host < net.host_count(); ++host) {
    if (!net.has_sent(host)) continue;
    shares.push_back(bytes[host]);
    sum += bytes[host];
  }
  out.fairness = fairness(shares);
  if (sum > 0)
    out.least_share = std::ranges::min(shares) * static_cast<double>(shares.size()) / sum;
}

}  // namespace

std::vector<Picos> blocked_times(const PacketNet& net) {
  std::vector<Picos> out;
  visit_blocked(net, [&](std::uint32_t, unsigned, Picos blocked) { out.push_back(blocked); });
  return out;
}

void sum_up(const PacketNet& net,
            const FabricSpec& spec,
            const std::vector<double>& bytes,
            const std::vector<Picos>& blocked_before,
            PointResult& out) {
  out.simulated = net.now();
  out.stats = net.stats();
  out.memory = net.memory_use();
  out.audit = net.is_full() ? print_full(net, out) : net.audit();
  measure_shares(net, bytes, out);
  find_most_blocked(net, spec, blocked_before, out);
}

bool PointResult::recovered() const {
  return failure.empty() && never_came == 0 &&
         std::ranges::all_of(changes,
                             [](const ChangeResult& change) { return change.taken_in != kNever; });
}

bool PointResult::is_sound() const {
  const bool ran = steady.state == RunState::Stable || steady.state == RunState::Imprecise ||
                   steady.state == RunState::Saturated;
  return ran && audit.empty() && recovered() && (complete || !closed);
}

SyntheticTraffic::PathSl PreparedScenario::path_sl() const {
  if (scenario_.traffic.sl_choice != SlChoice::Path) return {};
  return [this](HostNum from, HostNum to, std::uint32_t offset) -> std::uint8_t {
    const PathSls& sls = fabric_.routing.path_sls;
    const auto lid = static_cast<std::uint16_t>(fabric_.host_lids[to].value() + offset);
    return sls.empty() ? 0 : sls.sl(fabric_.host_leaf[from], Lid{lid});
  };
}

/// One for each partition: what they know is of its own nodes.
std::vector<CongestionControl> PreparedScenario::control_congestion(const PacketNet& net,
                                                                    ReplySl reply_sl) const {
  const CongestionSpec& spec = scenario_.congestion;
  FabricFacts around{.nodes = static_cast<std::uint32_t>(spec_.nodes.size()),
                     .hosts = net.host_count()};
  const bool is_off = spec.marking == MarkingKind::None && spec.echo == EchoKind::None &&
                      spec.reaction == ReactionKind::None;
  if (!is_off) around = survey(net, fabric_, scenario_.largest_packet());
  around.reply_sl = std::move(reply_sl);
  std::vector<CongestionControl> out;
  for (unsigned i = 0; i < net.partitions(); ++i) out.emplace_back(spec, around);
  return out;
}

PointResult PreparedScenario::run_worms(double load,
                                        std::uint64_t seed,
                                        const RunControl& control) const {
  PointResult out{.load = load, .seed = seed};
  const std::unique_ptr<WormNet> net = worms_->make_net(seed);
  set_faults(spec_, faults_, *net);
  Meter meter(*net);
  net->set_observer(&meter);
  const OfferedTraffic traffic(
      *net,
      scenario_.traffic,
      {.load = worms_->share_of(load),
       .seed = seed,
       .mtu = kLargestWorm,
       .pattern = pattern_input(seed),
       .send_to = [&net](HostNum from, std::span<const HostNum> to, std::uint16_t bytes) {
         net->send_to(from, to, bytes);
       }});
  net->start();
  WormRunStart before;
  const auto step = [&net](Picos until) { net->run_until(until); };
  if (traffic.is_closed()) {
    run_to_end(
        *net, meter, scenario_.measure, step, traffic, [] { return false; }, control, out);
  } else {
    out.steady = measure_steady(
        *net,
        meter,
        scenario_.measure.plan,
        step,
        [&control](double share) {
          control.progress(share);
          return !control.stop();
        },
        [&] { before = WormRunStart::of(*net); });
  }
  out.latency = read_latency(meter.latency());
  out.network_latency = read_latency(meter.network_latency());
  out.head_latency = read_latency(meter.head_latency());
  out.mean_hops = meter.mean_hops();
  out.simulated = net->now();
  out.stats = net->stats();
  out.audit = net->audit();
  measure_shares(*net, meter.bytes_of(), out);
  for (const PortUse& port : use_since(net->port_use(), before.ports)) {
    if (port.blocked <= out.blocked) continue;
    out.blocked = port.blocked;
    out.blocked_port = fmt::format("{}:{}", spec_.nodes[port.node].description, port.port.value());
  }
  out.never_came = static_cast<std::size_t>(std::ranges::count_if(
      faults_.faults, [&net](const PlannedFault& fault) { return fault.at > net->now(); }));
  out.worms = worms_->measure(spec_, *net, before);
  return out;
}

PointResult PreparedScenario::run(double load,
                                  std::uint64_t seed,
                                  const RunControl& control) const {
  if (worms_) return run_worms(load, seed, control);
  PointResult out{.load = load, .seed = seed};
  if (scenario_.is_managed()) {
    auto managed = run_managed(*this, load, seed, control);
    if (managed) return std::move(*managed);
    out.managed = true;
    out.failure = managed.error().context;
    return out;
  }
  const TrafficSpec& t = scenario_.traffic;
  PacketOptions options = scenario_.packet;
  options.seed = seed;
  ThreadTeam team;
  std::optional<ProcessTeam> processes;
  if (control.processes != nullptr) processes.emplace(*control.processes, options.partitions);
  PacketNet net(spec_, options, processes ? &*processes : nullptr);
  if (!processes) net.set_team(&team);
  if (!is_subnet_) net.open_all(mtu_bytes(scenario_.program.mtu));
  for (std::uint32_t n = 0; n < fabric_.nodes.size(); ++n) net.load(n, fabric_.nodes[n]);
  ReplySl reply_sl;
  if (auto sl = path_sl()) {
    reply_sl = [sl = std::move(sl)](HostNum from, HostNum to) { return sl(from, to, 0); };
  }
  const std::vector<CongestionControl> mechanisms = control_congestion(net, std::move(reply_sl));
  std::vector<CongestionHooks> hooks;
  for (const CongestionControl& mechanism : mechanisms) hooks.push_back(mechanism.hooks());
  net.set_congestion_control(hooks);
  net.set_route_choice(routes_.get());
  Meter meter(net);
  std::optional<ObserverPair> both;
  if (control.observer != nullptr) both.emplace(meter, *control.observer);
  net.set_observer(both ? static_cast<PacketObserver*>(&*both) : &meter);
  TrafficInput input{.load = load,
                     .seed = seed,
                     .mtu = mtu_bytes(scenario_.program.mtu),
                     .pattern = pattern_input(seed),
                     .lids = t.any_lid ? 1u << scenario_.program.lmc : 1u,
                     .by_host_number = !is_subnet_,
                     .path_sl = path_sl(),
                     .groups = &groups_of_hosts_.groups,
                     .adders = adders_,
                     .processes = processes ? &*processes : nullptr};
  const OfferedTraffic traffic(net, t, std::move(input));
  net.set_switch_port_handler(traffic.switch_ports());
  net.start();
  const auto step = [&](Picos until) {
    net.run_until(until);
    if (!processes) return;
    meter.share([&](unsigned partition, std::span<std::byte> counts) {
      processes->share(partition, counts);
    });
  };
  std::vector<Picos> blocked_before;
  if (traffic.is_closed()) {
    run_to_end(
        net,
        meter,
        scenario_.measure,
        step,
        traffic,
        [&net] { return net.is_full(); },
        control,
        out);
  } else {
    out.steady = measure_steady(
        net,
        meter,
        scenario_.measure.plan,
        step,
        [&](double share) {
          control.progress(share);
          return !control.stop() && !net.is_full();
        },
        [&] { blocked_before = blocked_times(net); });
  }
  if (net.is_full()) {
    out.steady.state = RunState::Full;
    out.steady.deadlock.clear();  // what stands still there is the simulation
  }
  out.latency = read_latency(meter.latency());
  out.network_latency = read_latency(meter.network_latency());
  out.head_latency = read_latency(meter.head_latency());
  out.mean_hops = meter.mean_hops();
  sum_up(net, spec_, meter.bytes_of(), blocked_before, out);
  return out;
}

}  // namespace smd::sim
