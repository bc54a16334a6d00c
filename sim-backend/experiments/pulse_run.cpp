#include "sim-backend/experiments/pulse_run.h"

#include <algorithm>

#include "sim-backend/experiments/subnet.h"
#include "sim-backend/scenario/surroundings.h"
#include "sim-backend/traffic/pulse.h"

namespace smd::sim {
namespace {

constexpr Picos kCycle = kNano;
constexpr Picos kWindow = 10'000 * kCycle;
constexpr unsigned kLeastPackets = 20;  // of a window, for its mean to count
constexpr Picos kGiveUp = 20'000'000 * kCycle;

struct Sum {
  void add(const Arrival& arrival, Marks all) {
    ++packets;
    latency += static_cast<double>(arrival.tail - arrival.generated) / kCycle;
    marked += arrival.marks != 0;
    fully += arrival.marks == all;
  }

  [[nodiscard]] double mean() const { return packets == 0 ? 0 : latency / double(packets); }

  std::uint64_t packets = 0;
  double latency = 0;
  std::uint64_t marked = 0;
  std::uint64_t fully = 0;
};

class Watch final : public PacketObserver {
 public:
  explicit Watch(Marks all) : all_(all) {}

  void on_delivered(const Arrival& arrival) override {
    const bool hot = arrival.tag == kHotPacket;
    window[hot].add(arrival, all_);
    if (!counts) return;
    total[hot].add(arrival, all_);
    if (!hot) return;
    if (last_hot != kNever) gap = std::max(gap, arrival.tail - last_hot);
    last_hot = arrival.tail;
  }

  Sum window[2], total[2];
  Picos last_hot = kNever, gap = 0;
  bool counts = false;

 private:
  Marks all_;
};

PulseClass sum_up(const Sum& total, double peak) {
  const auto packets = std::max(1.0, double(total.packets));
  return {.packets = total.packets,
          .mean_latency = total.mean(),
          .peak_latency = peak,
          .marked = double(total.marked) / packets,
          .fully_marked = double(total.fully) / packets};
}

}  // namespace

Result<PulseResult> run_pulse(const PulseNetwork& network,
                              const CongestionSpec& mechanism,
                              double rate,
                              std::uint64_t seed) {
  auto spec = load_fabric(network.fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  auto fabric = program_nodes(*spec, {.engine = network.engine, .mtu = Mtu::B256});
  if (!fabric) return tl::unexpected<Error>(fabric.error());
  PacketNet net(*spec, PacketOptions::multistage());
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);

  const PulseOptions options{
      .load = rate, .warm_packets = network.warm_packets, .batch = network.batch, .seed = seed};
  const PortAt host_port = net.wiring().host_port[options.hot_spot];
  const Wire& to_hot = net.wiring().wires[net.wiring().wires[host_port].peer];
  PulseTraffic traffic(options, net.host_count(), net.wiring().wires[host_port].byte_time);
  CongestionControl control(mechanism, survey(net, *fabric, options.payload));
  net.set_congestion_control(control.hooks());
  const bool two_bits =
      mechanism.marking == MarkingKind::Iopm || mechanism.marking == MarkingKind::Mvpm;
  Watch watch(two_bits ? kFirstMark | kSecondMark : kFirstMark);
  net.set_workload(&traffic);
  net.set_observer(&watch);
  net.start();

  const auto link_bytes = [&] { return net.sent_bytes(to_hot.node, PortNum{to_hot.number}); };
  const double window_bytes = double(kWindow) / kCycle;
  const double cold_hosts = double(net.host_count() - traffic.hot_sources().size());
  PulseResult out{.least_link_share = 1, .least_cold_rate = 1e9};
  double cold_peak = 0, hot_peak = 0, before = 0;
  unsigned quiet_windows = 0, pulse_windows = 0;
  std::uint64_t bytes_before = 0, first_bytes = 0;
  while (!traffic.finished()) {
    if (net.now() > kGiveUp) return fail(Errc::Invalid, "the pulse does not end");
    watch.window[0] = watch.window[1] = {};
    bytes_before = link_bytes();
    const Picos begin = net.now();
    const Picos until = begin + kWindow;
    while (net.now() < until && !traffic.finished()) {
      if (!net.run_one()) return fail(Errc::Invalid, "nothing is sent any more");
      if (!watch.counts && traffic.began() != kNever) watch.counts = true;
    }
    const double cold_rate =
        double(watch.window[0].packets) * 1000 / (double(net.now() - begin) / kCycle) / cold_hosts;
    if (traffic.began() >= begin) {
      // The pulse has not begun, or begins in this window.
      before += cold_rate;
      ++quiet_windows;
      first_bytes = link_bytes();
      continue;
    }
    ++pulse_windows;
    if (watch.window[0].packets >= kLeastPackets)
      cold_peak = std::max(cold_peak, watch.window[0].mean());
    if (watch.window[1].packets >= kLeastPackets)
      hot_peak = std::max(hot_peak, watch.window[1].mean());
    if (traffic.finished()) break;
    out.least_cold_rate = std::min(out.least_cold_rate, cold_rate);
    if (pulse_windows == 1) {
      first_bytes = link_bytes();
      continue;
    }
    out.least_link_share =
        std::min(out.least_link_share, double(link_bytes() - bytes_before) / window_bytes);
    out.link_share = double(link_bytes() - first_bytes) / (window_bytes * (pulse_windows - 1));
  }
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  out.cold = sum_up(watch.total[0], cold_peak);
  out.hot = sum_up(watch.total[1], hot_peak);
  out.drained = double(net.now() - traffic.began()) / kCycle;
  out.longest_gap = double(watch.gap) / kCycle;
  out.cold_rate_before = quiet_windows == 0 ? 0 : before / quiet_windows;
  out.notices = net.stats().notices.made;
  out.digest = net.stats().digest;
  return out;
}

}  // namespace smd::sim
