#include "sim-backend/experiments/congestion/phases_run.h"

#include <algorithm>
#include <optional>

#include "sim-backend/experiments/congestion/phases_watch.h"
#include "sim-backend/scenario/surroundings.h"
#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/traffic/phases/phase_trace.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kPayload = 256;
constexpr Picos kCycle = kNano;
constexpr Picos kGiveUp = 100'000'000 * kCycle;

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

  Picos emit(PacketNet& net, HostNum, Picos now) override {
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
  PhasesWatch watch(setup, packet.cables.header_bytes);
  net.set_congestion_control(control.hooks());
  net.set_workload(&traffic);
  net.set_observer(&watch);
  net.start();
  PhasesResult out;
  const auto second_at = static_cast<Picos>(setup.second_at) * kCycle;
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
  out.consumed = double(net.now() - second_at) / kCycle;
  for (std::size_t i = 0; i < watch.all.size(); ++i) {
    out.windows.push_back({.begins = (double(i) - double(begin)) * double(setup.latency_window),
                           .mean_latency = watch.all[i].mean()});
  }

  const auto end = static_cast<std::uint64_t>(net.now() / kCycle) / setup.rate_window;
  net.run_until(static_cast<Picos>((end + 3) * setup.rate_window) * kCycle);
  if (traffic.finished(0)) return fail(Errc::Invalid, "the first program ends too early");
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  out.digest = net.stats().digest;
  watch.bytes.resize(std::max(watch.bytes.size(), end + 3));
  watch.tell_rates(end, out);
  return out;
}

}  // namespace smd::sim
