#include "sim-backend/experiments/congestion/phases_run.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim-backend/experiments/congestion/hot_spot_run.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/fabric_facts.h"
#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/traffic/phases/phase_trace.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kPayload = 256;
constexpr Picos kGiveUp = 100'000'000 * kNano;

Result<PhaseTrace> trace_of(const ProgramTrace& program,
                            std::uint32_t ranks,
                            std::uint64_t start,
                            std::uint64_t seed) {
  auto phases = parse_phases(program.phases, ranks);
  if (!phases) return fail(Errc::Invalid, print_fault(phases.error().at(0)));
  return PhaseTrace(std::move(*phases),
                    {.ranks = ranks,
                     .repeat = program.repeat,
                     .start_ns = start,
                     .jitter_ns = program.jitter,
                     .bytes_per_ns = program.bytes_per_cycle,
                     .speed = program.speed,
                     .seed = seed});
}

/// Sends what both say when they say it; tags tell them apart. Host 0 is the clock of all.
class BothPrograms final : public Workload {
 public:
  BothPrograms(PhaseTrace first, PhaseTrace second, const std::vector<Lid>& lids)
      : traces_{std::move(first), std::move(second)}, lids_(lids) {
    for (std::size_t i = 0; i < 2; ++i) next_[i] = traces_[i].next();
  }

  Picos first(HostNum host) override { return host == 0 ? due() : kNever; }

  Picos emit(DataNet& net, HostNum, Picos now) override {
    for (std::uint32_t i = 0; i < 2; ++i) {
      for (; next_[i] && next_[i]->at <= now; next_[i] = traces_[i].next()) {
        std::uint32_t left = next_[i]->bytes;
        do {
          const auto payload = static_cast<std::uint16_t>(std::min(left, kPayload));
          net.send(next_[i]->source,
                   {.dlid = lids_[next_[i]->destination], .payload = payload, .tag = i});
          ++sent_[i];
          left -= payload;
        } while (left > 0);
      }
    }
    return due();
  }

  [[nodiscard]] bool keeps_times() const override { return true; }

  [[nodiscard]] bool finished(std::size_t program) const { return !next_[program]; }

  [[nodiscard]] std::uint64_t sent(std::size_t program) const { return sent_[program]; }

 private:
  [[nodiscard]] Picos due() const {
    return std::min(next_[0] ? next_[0]->at : kNever, next_[1] ? next_[1]->at : kNever);
  }

  PhaseTrace traces_[2];
  std::optional<TraceLine> next_[2];
  std::uint64_t sent_[2] = {0, 0};
  const std::vector<Lid>& lids_;
};

/// What is seen of both: latencies of all packets and of the first program's, and what hosts take,
/// window by window.
class PhasesWatch final : public PacketObserver {
 public:
  struct Sum {
    std::uint64_t packets = 0;
    double latency = 0;

    void add(double cycles) {
      ++packets;
      latency += cycles;
    }

    [[nodiscard]] double mean() const { return packets == 0 ? 0 : latency / double(packets); }

    [[nodiscard]] PhasesOf told() const { return {packets, mean()}; }
  };

  /// `header`: bytes of a packet beside its payload.
  PhasesWatch(const PhasesSetup& setup, unsigned header) : setup_(setup), header_(header) {}

  void on_delivered(const Delivery& arrival) override;

  /// Highest mean of the windows from `from` to before `to`; windows of few packets do not count.
  [[nodiscard]] static double peak(const std::vector<Sum>& windows,
                                   std::size_t from,
                                   std::size_t to);

  /// Into `out`: what each host took, before, while and after the second program was there. `end`:
  /// the window in which all of it is consumed; there are two more.
  void tell_rates(std::size_t end, PhasesResult& out) const;

  std::vector<Sum> all, firsts;  // by latency window
  std::vector<double> bytes;     // by rate window
  Sum before, of[2];
  std::uint64_t arrived[2] = {0, 0};

 private:
  const PhasesSetup& setup_;
  unsigned header_;
};

template <class T>
T& at(std::vector<T>& windows, std::uint64_t window) {
  if (windows.size() <= window) windows.resize(window + 1);
  return windows[window];
}

void PhasesWatch::on_delivered(const Delivery& arrival) {
  const double latency = double(arrival.tail - arrival.generated) / kNano;
  const auto cycle = static_cast<std::uint64_t>(arrival.tail / kNano);
  at(all, cycle / setup_.latency_window).add(latency);
  if (arrival.tag == 0) at(firsts, cycle / setup_.latency_window).add(latency);
  at(bytes, cycle / setup_.rate_window) += arrival.payload + header_;
  ++arrived[arrival.tag];
  if (cycle < setup_.second_at) {
    before.add(latency);
  } else {
    of[arrival.tag].add(latency);
  }
}

double PhasesWatch::peak(const std::vector<Sum>& windows, std::size_t from, std::size_t to) {
  double out = 0;
  for (std::size_t i = from; i < std::min(to, windows.size()); ++i) {
    if (windows[i].packets >= kLeastPackets) out = std::max(out, windows[i].mean());
  }
  return out;
}

void PhasesWatch::tell_rates(std::size_t end, PhasesResult& out) const {
  const double share = double(setup_.rate_window) * setup_.ranks;
  const std::size_t begin = setup_.second_at / setup_.rate_window;
  out.rate_after = bytes[end + 2] / share;
  // The first window fills an empty network.
  for (std::size_t i = 1; i < begin; ++i) out.rate_before += bytes[i] / share;
  if (begin > 1) out.rate_before /= double(begin - 1);
  double sum = 0, squares = 0;
  std::size_t count = 0;
  for (std::size_t i = begin; i <= end; ++i, ++count) {
    const double rate = bytes[i] / share;
    out.least_rate = count == 0 ? rate : std::min(out.least_rate, rate);
    sum += rate;
    squares += rate * rate;
  }
  if (count == 0 || sum == 0) return;
  const double mean = sum / double(count);
  out.rate_deviation = std::sqrt(std::max(0.0, squares / double(count) - mean * mean)) / mean;
}

}  // namespace

Result<PhasesResult> run_phases(const PhasesSetup& setup,
                                const CongestionSpec& mechanism,
                                std::uint64_t seed) {
  auto spec = load_fabric(setup.fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  auto fabric = program_nodes(*spec, {.engine = "updn", .mtu = Mtu::B256});
  if (!fabric) return tl::unexpected<Error>(fabric.error());
  auto first = trace_of(setup.first, setup.ranks, 0, seed);
  auto second = trace_of(setup.second, setup.ranks, setup.second_at, seed + 1);
  if (!first) return tl::unexpected<Error>(first.error());
  if (!second) return tl::unexpected<Error>(second.error());

  const PacketOptions packet = PacketOptions::multistage();
  PacketNet net(*spec, packet);
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);
  BothPrograms traffic(std::move(*first), std::move(*second), fabric->host_lids);
  CongestionControl control(mechanism, survey(net, *fabric, kPayload));
  PhasesWatch watch(setup, packet.links.header_bytes);
  net.set_congestion_control(control.hooks());
  net.set_workload(&traffic);
  net.set_observer(&watch);
  net.start();
  PhasesResult out;
  const auto second_at = static_cast<Picos>(setup.second_at) * kNano;
  while (!traffic.finished(1) || watch.arrived[1] < traffic.sent(1)) {
    if (net.now() > kGiveUp) return fail(Errc::Invalid, "the second program does not end");
    if (!net.run_one()) return fail(Errc::Invalid, "nothing is sent any more");
    if (net.now() >= second_at) {
      out.backlog = std::max(out.backlog, double(traffic.sent(0) - watch.arrived[0]));
    }
  }
  const std::size_t begin = setup.second_at / setup.latency_window;
  out.first = watch.of[0].told();
  out.second = watch.of[1].told();
  PhasesWatch::Sum all = watch.of[0];
  all.packets += watch.of[1].packets;
  all.latency += watch.of[1].latency;
  out.all = all.told();
  out.peak_latency = PhasesWatch::peak(watch.all, begin, watch.all.size());
  out.peak_first = PhasesWatch::peak(watch.firsts, begin, watch.firsts.size());
  out.mean_before = watch.before.mean();
  out.peak_before = PhasesWatch::peak(watch.all, 0, begin);
  out.consumed = double(net.now() - second_at) / kNano;
  for (std::size_t i = 0; i < watch.all.size(); ++i) {
    out.windows.push_back({.begins = (double(i) - double(begin)) * double(setup.latency_window),
                           .mean_latency = watch.all[i].mean()});
  }

  const auto end = static_cast<std::uint64_t>(net.now() / kNano) / setup.rate_window;
  net.run_until(static_cast<Picos>((end + 3) * setup.rate_window) * kNano);
  if (traffic.finished(0)) return fail(Errc::Invalid, "the first program ends too early");
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  out.digest = net.stats().digest;
  watch.bytes.resize(std::max(watch.bytes.size(), end + 3));
  watch.tell_rates(end, out);
  return out;
}

}  // namespace smd::sim
