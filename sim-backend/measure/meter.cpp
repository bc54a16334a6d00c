#include "sim-backend/measure/meter.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace smd::sim {

Meter::Meter(DataNet& net) : net_(net), counts_(net.partitions()) {
  for (PartitionCounts& counts : counts_) counts.bytes_of.resize(net.host_count());
  restart();
}

void Meter::on_delivered(const Delivery& arrival) {
  PartitionCounts& here = counts_[arrival.partition];
  const auto total = static_cast<std::uint64_t>(arrival.tail - arrival.generated);
  const auto network = static_cast<std::uint64_t>(arrival.tail - arrival.injected);
  here.latency.add(total);
  here.network_latency.add(network);
  here.head_latency.add(static_cast<std::uint64_t>(arrival.head - arrival.generated));
  here.interval_latency.add(total);
  here.interval_network.add(network);
  here.hops += arrival.hops;
  here.bytes_of[arrival.source] += arrival.payload;
}

Interval Meter::cut() {
  const NetStats& now = net_.stats();
  Interval out{.begin = began_,
               .end = net_.now(),
               .generated = now.generated - at_begin_.generated,
               .wanted_bytes = now.wanted_bytes - at_begin_.wanted_bytes,
               .injected = now.injected - at_begin_.injected,
               .delivered = now.delivered - at_begin_.delivered,
               .delivered_bytes = now.delivered_bytes - at_begin_.delivered_bytes,
               .in_flight = now.in_flight,
               .waiting = now.waiting,
               .held_back = now.held_back(net_.now()) - at_begin_.held_back(began_)};
  out.wire_bytes = out.delivered_bytes + out.delivered * net_.header_bytes();
  for (std::size_t i = 0; i < kDiscards; ++i) {
    out.discarded[i] = now.discarded[i] - at_begin_.discarded[i];
  }
  const double delivered = static_cast<double>(std::max<std::uint64_t>(1, out.delivered));
  ExactSum latency, network;
  for (PartitionCounts& counts : counts_) {
    latency.add(std::exchange(counts.interval_latency, {}));
    network.add(std::exchange(counts.interval_network, {}));
  }
  out.latency = latency.value() / delivered;
  out.network_latency = network.value() / delivered;
  at_begin_ = now;
  began_ = net_.now();
  return out;
}

void Meter::share(const std::function<void(unsigned, std::span<std::byte>)>& pass) {
  for (unsigned i = 0; i < counts_.size(); ++i) {
    PartitionCounts& counts = counts_[i];
    const auto pass_one = [&](auto& value) {
      static_assert(std::is_trivially_copyable_v<std::remove_reference_t<decltype(value)>>);
      pass(i, std::as_writable_bytes(std::span(&value, 1)));
    };
    pass_one(counts.latency);
    pass_one(counts.network_latency);
    pass_one(counts.head_latency);
    pass_one(counts.interval_latency);
    pass_one(counts.interval_network);
    pass_one(counts.hops);
    pass(i, std::as_writable_bytes(std::span(counts.bytes_of)));
  }
}

void Meter::restart() {
  cut();
  for (PartitionCounts& counts : counts_) {
    counts.latency.clear();
    counts.network_latency.clear();
    counts.head_latency.clear();
    counts.hops = 0;
    std::ranges::fill(counts.bytes_of, 0);
  }
}

Histogram Meter::join(Histogram PartitionCounts::*of) const {
  Histogram out;
  for (const PartitionCounts& counts : counts_) out.add(counts.*of);
  return out;
}

double Meter::mean_hops() const {
  std::uint64_t hops = 0, packets = 0;
  for (const PartitionCounts& counts : counts_) {
    hops += counts.hops;
    packets += counts.latency.count();
  }
  return packets == 0 ? 0 : static_cast<double>(hops) / static_cast<double>(packets);
}

std::vector<double> Meter::bytes_of() const {
  std::vector<double> out(net_.host_count());
  for (const PartitionCounts& counts : counts_) {
    for (HostNum host = 0; host < out.size(); ++host) {
      out[host] += static_cast<double>(counts.bytes_of[host]);
    }
  }
  return out;
}

}  // namespace smd::sim
