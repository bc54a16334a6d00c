#include "sim-backend/experiments/congestion/uniform_run.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "sim-backend/congestion/echo.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/programmed_nodes.h"
#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/traffic/hot_spot.h"

namespace smd::sim {
namespace {

constexpr Picos kLook = 1000 * kNano;

/// Holds nothing back; counts the time that packets are on their way.
class RoundTrips final : public Reaction {
 public:
  Picos allowed_at(const Flow&, Picos) override { return 0; }

  void on_injected(const Flow&, Picos begin, Picos) override {
    advance(begin);
    ++outstanding_;
  }

  void on_feedback(const Flow&, const Feedback&, Picos now) override {
    advance(now);
    --outstanding_;
    ++answered_;
  }

  void begin(Picos now) {
    advance(now);
    packet_time_ = 0;
    answered_ = 0;
  }

  /// By Little's law.
  [[nodiscard]] double mean(Picos now) {
    advance(now);
    return answered_ == 0 ? 0 : packet_time_ / double(answered_) / kNano;
  }

 private:
  void advance(Picos now) {
    packet_time_ += double(outstanding_) * double(now - last_);
    last_ = now;
  }

  Picos last_ = 0;
  std::uint64_t outstanding_ = 0, answered_ = 0;
  double packet_time_ = 0;
};

/// Fill of every buffer between switches, and of every output buffer, summed up look by look.
class Fill {
 public:
  explicit Fill(const PacketNet& net) : net_(net) {
    const Wiring& wiring = net.wiring();
    for (PortAt port = 0; port < wiring.wires.size(); ++port) {
      const Wire& wire = wiring.wires[port];
      if (wire.peer == kNowhere || wiring.is_switch[wire.node] == 0) continue;
      places_.push_back(
          {wire.node, PortNum{wire.number}, wiring.is_switch[wiring.wires[wire.peer].node] != 0});
    }
    inputs_.resize(places_.size());
    outputs_.resize(places_.size());
  }

  void look() {
    ++looks_;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const VlOccupancy view = net_.read_vl_occupancy(places_[i].node, places_[i].port, Vl{0});
      inputs_[i] += double(view.input_used) / view.input_capacity;
      outputs_[i] += double(view.output_used) / view.output_capacity;
    }
  }

  void tell(UniformResult& out) const {
    double inputs = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      out.output_fill += outputs_[i] / looks_ / double(places_.size());
      out.fullest_fill = std::max({out.fullest_fill, inputs_[i] / looks_, outputs_[i] / looks_});
      if (!places_[i].between_switches) continue;
      out.input_fill += inputs_[i] / looks_;
      inputs += 1;
    }
    if (inputs > 0) out.input_fill /= inputs;
  }

 private:
  struct Place {
    std::uint32_t node;
    PortNum port;
    bool between_switches;
  };

  const PacketNet& net_;
  std::vector<Place> places_;
  std::vector<double> inputs_, outputs_;
  double looks_ = 0;
};

}  // namespace

Result<UniformResult> run_uniform(const UniformNetwork& network, double load, unsigned cycles) {
  const auto spec = load_fabric(network.fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  const auto fabric = program_nodes(*spec, {.engine = "updn", .mtu = Mtu::B1024});
  if (!fabric) return tl::unexpected<Error>(fabric.error());
  PacketOptions options = PacketOptions::multistage();
  options.switches.input_buffer_bytes = options.switches.output_buffer_bytes = 4 * network.payload;
  PacketNet net(*spec, options);
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);
  const Wire& first = net.wiring().wires[net.wiring().host_port[0]];
  HotSpotTraffic traffic({.load = load,
                          .payload = static_cast<std::uint16_t>(network.payload),
                          .ports = network.ports,
                          .hot_share = 0,
                          .warm_packets = std::numeric_limits<std::uint64_t>::max()},
                         net.host_count(),
                         first.byte_time);
  RoundTrips trips;
  const auto echo = acknowledge();
  net.set_congestion_control({.echo = echo.get(), .reaction = &trips});
  net.set_workload(&traffic);
  net.start();
  const Picos warm = cycles / 3 * kNano;
  net.run_until(warm);
  const std::uint64_t before = net.stats().delivered_bytes;
  trips.begin(warm);
  Fill fill(net);
  const Picos end = warm + cycles * kNano;
  while (net.now() < end) {
    net.run_until(std::min(net.now() + kLook, end));
    fill.look();
  }
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  const double payload = double(net.stats().delivered_bytes - before);
  const double headers = payload / network.payload * options.links.header_bytes;
  UniformResult out{.accepted = (payload + headers) / cycles / traffic.hosts(),
                    .round_trip = trips.mean(end)};
  fill.tell(out);
  return out;
}

}  // namespace smd::sim
