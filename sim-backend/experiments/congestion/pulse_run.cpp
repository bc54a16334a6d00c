#include "sim-backend/experiments/congestion/pulse_run.h"

#include <algorithm>

#include "sim-backend/experiments/congestion/pulse_watch.h"
#include "sim-backend/scenario/surroundings.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {
namespace {

constexpr unsigned kLeastPackets = 20;  // of a window, for its mean to count

Mtu mtu_for(unsigned payload) {
  for (const Mtu mtu : {Mtu::B256, Mtu::B512, Mtu::B1024, Mtu::B2048}) {
    if (mtu_bytes(mtu) >= payload) return mtu;
  }
  return Mtu::B4096;
}

void add(PulseBin::Of& sum, const PulseBin::Of& more) {
  sum.packets += more.packets;
  sum.marked += more.marked;
  sum.fully_marked += more.fully_marked;
  sum.latency += more.latency;
}

PulseBin sum_of(std::span<const PulseBin> bins) {
  PulseBin sum;
  for (const PulseBin& bin : bins) {
    add(sum.cold, bin.cold);
    add(sum.hot, bin.hot);
    sum.link_bytes += bin.link_bytes;
  }
  return sum;
}

PulseClass sum_up(const PulseResult& result, PulseBin::Of PulseBin::*of, std::size_t window) {
  const PulseBin::Of total = sum_of(result.bins).*of;
  const double packets = std::max(1u, total.packets);
  return {.packets = total.packets,
          .mean_latency = total.latency / packets,
          .peak_latency = peak_latency(result, of, window),
          .marked = total.marked / packets,
          .fully_marked = total.fully_marked / packets};
}

/// What is told window by window: `window` bins each, the last one not being whole.
void look_at_windows(PulseResult& out, std::size_t window, HostNum cold_hosts) {
  const double cycles = double(window) * kPulseBin / kNano;
  const std::span<const PulseBin> bins(out.bins);
  double link_bytes = 0;
  std::size_t windows = 0;
  for (std::size_t at = 0; at + window < bins.size(); at += window, ++windows) {
    const PulseBin sum = sum_of(bins.subspan(at, window));
    const double cold_rate = sum.cold.packets * 1000 / cycles / cold_hosts;
    out.least_cold_rate = windows == 0 ? cold_rate : std::min(out.least_cold_rate, cold_rate);
    if (windows == 0) continue;
    const double share = sum.link_bytes / cycles;
    out.least_link_share = windows == 1 ? share : std::min(out.least_link_share, share);
    link_bytes += sum.link_bytes;
  }
  if (windows > 1) out.link_share = link_bytes / (cycles * double(windows - 1));
}

}  // namespace

double peak_latency(const PulseResult& result, PulseBin::Of PulseBin::*of, std::size_t bins) {
  double peak = 0;
  const std::span<const PulseBin> all(result.bins);
  for (std::size_t at = 0; at < all.size(); at += bins) {
    const PulseBin::Of sum = sum_of(all.subspan(at, std::min(bins, all.size() - at))).*of;
    if (sum.packets >= kLeastPackets) peak = std::max(peak, sum.latency / sum.packets);
  }
  return peak;
}

Result<PulseResult> run_pulse(const PulseNetwork& network,
                              const CongestionSpec& mechanism,
                              double rate,
                              std::uint64_t seed) {
  auto spec = load_fabric(network.fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  PulseOptions options = network.traffic;
  options.load = rate;
  options.seed = seed;
  options.header_bytes = network.packet.cables.header_bytes;
  const unsigned largest = std::max(options.payload, options.other_payload);
  auto fabric = program_nodes(*spec, {.engine = network.engine, .mtu = mtu_for(largest)});
  if (!fabric) return tl::unexpected<Error>(fabric.error());
  PacketNet net(*spec, network.packet);
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);

  PulseTraffic traffic(
      options, net.host_count(), net.wiring().wires[net.wiring().host_port[0]].byte_time);
  CongestionControl control(mechanism, survey(net, *fabric, largest));
  PulseWatch watch(net, traffic, control, mechanism);
  net.set_congestion_control(watch.hooks());
  net.set_workload(&traffic);
  net.set_observer(&watch);
  net.start();
  while (!traffic.finished()) {
    if (net.now() > network.give_up) return fail(Errc::Invalid, "the pulse does not end");
    if (!net.run_one()) return fail(Errc::Invalid, "nothing is sent any more");
  }
  const Picos ended = net.now();
  if (network.after > 0) {
    while (net.now() < ended + network.after && net.run_one()) {
    }
  }
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));

  PulseResult out{.notices = net.stats().notices.made,
                  .impossible_marks = net.stats().impossible_marks,
                  .digest = net.stats().digest,
                  .bins = watch.take_bins()};
  const auto in_pulse = static_cast<std::ptrdiff_t>((ended - traffic.began()) / kPulseBin + 1);
  if (in_pulse < std::ssize(out.bins)) {
    out.trailer.assign(out.bins.begin() + in_pulse, out.bins.end());
    out.bins.resize(static_cast<std::size_t>(in_pulse));
  }
  const auto window = static_cast<std::size_t>(network.window / kPulseBin);
  const auto cold_hosts = static_cast<HostNum>(traffic.hosts() - traffic.hot_sources().size());
  out.drained = double(ended - traffic.began()) / kNano;
  out.longest_gap = double(watch.longest_gap()) / kNano;
  out.cold_rate_before =
      double(options.warm_packets) * 1000 / (double(traffic.began()) / kNano) / cold_hosts;
  look_at_windows(out, window, cold_hosts);
  out.cold = sum_up(out, &PulseBin::cold, window);
  out.hot = sum_up(out, &PulseBin::hot, window);
  return out;
}

}  // namespace smd::sim
