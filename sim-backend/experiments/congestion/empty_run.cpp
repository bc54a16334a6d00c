#include "sim-backend/experiments/congestion/empty_run.h"

#include <algorithm>

#include "sim-backend/congestion/echo.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/programmed_nodes.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {
namespace {

/// Between two packets: more than the longest round trip of 1,024 bytes.
constexpr Picos kApart = 10'000 * kNano;

/// The first host sends a packet to every other one in turn.
class InTurn final : public Workload {
 public:
  InTurn(std::uint16_t payload, unsigned ports, HostNum places)
      : payload_(payload), ports_(ports), to_(2 * ports - 1), places_(places) {}

  Picos first(HostNum host) override { return host == 0 && to_ < places_ ? 0 : kNever; }

  Picos emit(DataNet& net, HostNum host, Picos now) override {
    net.send(host, {.dlid = net.host_lid(to_), .payload = payload_});
    to_ += ports_;
    return to_ < places_ ? now + kApart : kNever;
  }

 private:
  std::uint16_t payload_;
  HostNum ports_, to_, places_;
};

/// Writes down routes and round trips by destination.
class Clock final : public Reaction, public PacketObserver {
 public:
  explicit Clock(HostNum places) : switches_(places, 0), sent_(places, 0), trip_(places, 0) {}

  Picos allowed_at(const Flow&, Picos) override { return 0; }

  void on_injected(const Flow& flow, Picos begin, Picos) override {
    sent_[flow.destination] = begin;
  }

  void on_feedback(const Flow& flow, const Feedback&, Picos now) override {
    trip_[flow.destination] = now - sent_[flow.destination];
  }

  void on_delivered(const Delivery& arrival) override {
    switches_[arrival.destination] = arrival.hops;
  }

  [[nodiscard]] EmptyResult tell() const {
    EmptyResult out{.switches = std::ranges::max(switches_)};
    for (std::size_t to = 0; to < trip_.size(); ++to) {
      if (out.switches == 0 || switches_[to] != out.switches) continue;
      const double trip = double(trip_[to]) / kNano;
      out.most_round_trip = std::max(out.most_round_trip, trip);
      out.least_round_trip =
          out.least_round_trip == 0 ? trip : std::min(out.least_round_trip, trip);
    }
    return out;
  }

 private:
  std::vector<unsigned> switches_;
  std::vector<Picos> sent_, trip_;
};

}  // namespace

Result<EmptyResult> run_empty(const UniformNetwork& network) {
  const auto spec = load_fabric(network.fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  const auto fabric = program_nodes(*spec, {.engine = "updn", .mtu = Mtu::B1024});
  if (!fabric) return tl::unexpected<Error>(fabric.error());
  PacketOptions options = PacketOptions::multistage();
  options.switches.input_buffer_bytes = options.switches.output_buffer_bytes = 4 * network.payload;
  PacketNet net(*spec, options);
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);
  InTurn workload(static_cast<std::uint16_t>(network.payload), network.ports, net.host_count());
  Clock clock(net.host_count());
  const auto echo = acknowledge();
  net.set_congestion_control({.echo = echo.get(), .reaction = &clock});
  net.set_workload(&workload);
  net.set_observer(&clock);
  net.start();
  net.run_until(kApart * (net.host_count() + 1));
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  return clock.tell();
}

}  // namespace smd::sim
