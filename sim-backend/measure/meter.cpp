#include "sim-backend/measure/meter.h"

#include <algorithm>

namespace smd::sim {

Meter::Meter(PacketNet& net) : net_(net), bytes_of_(net.host_count(), 0) { restart(); }

void Meter::on_delivered(const Arrival& arrival) {
  const auto total = static_cast<std::uint64_t>(arrival.tail - arrival.generated);
  const auto network = static_cast<std::uint64_t>(arrival.tail - arrival.injected);
  latency_.add(total);
  network_latency_.add(network);
  head_latency_.add(static_cast<std::uint64_t>(arrival.head - arrival.generated));
  interval_latency_ += static_cast<double>(total);
  interval_network_ += static_cast<double>(network);
  hops_ += arrival.hops;
  bytes_of_[arrival.source] += arrival.payload;
}

Interval Meter::cut() {
  const NetStats& now = net_.stats();
  Interval out{.begin = began_,
               .end = net_.now(),
               .generated = now.generated - at_begin_.generated,
               .injected = now.injected - at_begin_.injected,
               .delivered = now.delivered - at_begin_.delivered,
               .delivered_bytes = now.delivered_bytes - at_begin_.delivered_bytes,
               .in_flight = now.in_flight,
               .waiting = now.waiting};
  out.wire_bytes = out.delivered_bytes + out.delivered * net_.options().cables.header_bytes;
  for (std::size_t i = 0; i < kDiscards; ++i) {
    out.discarded[i] = now.discarded[i] - at_begin_.discarded[i];
  }
  const double delivered = static_cast<double>(std::max<std::uint64_t>(1, out.delivered));
  out.latency = interval_latency_ / delivered;
  out.network_latency = interval_network_ / delivered;
  at_begin_ = now;
  began_ = net_.now();
  interval_latency_ = interval_network_ = 0;
  return out;
}

void Meter::restart() {
  cut();
  latency_.clear();
  network_latency_.clear();
  head_latency_.clear();
  hops_ = 0;
  std::ranges::fill(bytes_of_, 0);
}

double Meter::mean_hops() const {
  return latency_.count() == 0 ? 0 : hops_ / static_cast<double>(latency_.count());
}

Occupancy read_occupancy(const PacketNet& net) {
  Occupancy out;
  double inputs = 0, outputs = 0;
  const Wiring& wiring = net.wiring();
  for (std::uint32_t node = 0; node < wiring.is_switch.size(); ++node) {
    if (wiring.is_switch[node] == 0) continue;
    for (unsigned port = 1; port <= wiring.num_ports[node]; ++port) {
      if (wiring.wires[wiring.port_of(node, port)].peer == kNowhere) continue;
      for (unsigned vl = 0; vl < net.options().vls; ++vl) {
        const LaneView lane = net.view_lane(
            node, PortNum{static_cast<std::uint8_t>(port)}, Vl{static_cast<std::uint8_t>(vl)});
        const double in = double(lane.input_used) / lane.input_capacity;
        out.mean_input += in;
        out.max_input = std::max(out.max_input, in);
        ++inputs;
        if (lane.output_capacity == 0) continue;
        const double used = double(lane.output_used) / lane.output_capacity;
        out.mean_output += used;
        out.max_output = std::max(out.max_output, used);
        ++outputs;
      }
    }
  }
  if (inputs > 0) out.mean_input /= inputs;
  if (outputs > 0) out.mean_output /= outputs;
  return out;
}

}  // namespace smd::sim
