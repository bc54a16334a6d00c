#include "sim-backend/traffic/pulse.h"

#include <algorithm>
#include <cmath>

namespace smd::sim {

PulseTraffic::PulseTraffic(const PulseOptions& options, HostNum hosts, std::uint32_t byte_time)
    : options_(options) {
  const double packet = double(options.payload + options.header_bytes) * byte_time / 65536.0;
  model_ = {.mean_gap = packet / options.load, .least_gap = packet};
  for (HostNum host = 0; host < hosts; ++host) {
    sources_.push_back({.rng = Rng(options.seed * 0x9e3779b97f4a7c15u + host)});
    if (host != options.hot_spot) hot_.push_back(host);
  }
  Rng draw(options.seed);
  for (std::size_t i = hot_.size(); i > 1; --i) std::swap(hot_[i - 1], hot_[draw.below(i)]);
  hot_.resize(std::min<std::size_t>(
      hot_.size(), static_cast<std::size_t>(std::llround(options.hot_share * hosts))));
  std::ranges::sort(hot_);
  for (const HostNum host : hot_) {
    sources_[host].hot = true;
    sources_[host].left = options.batch;
  }
}

Picos PulseTraffic::first(HostNum host) {
  Source& source = sources_[host];
  return source.hot ? kNever : source.arrivals.begin(model_, source.rng);
}

Picos PulseTraffic::emit(PacketNet& net, HostNum host, Picos now) {
  Source& source = sources_[host];
  if (!source.hot) {
    auto to = static_cast<HostNum>(source.rng.below(sources_.size() - 1));
    if (to >= host) ++to;
    net.send(host, {.dlid = net.host_lid(to), .payload = options_.payload, .tag = kColdPacket});
    return source.arrivals.next(model_, now, source.rng);
  }
  if (source.left == 0) return kNever;
  --source.left;
  net.send(
      host,
      {.dlid = net.host_lid(options_.hot_spot), .payload = options_.payload, .tag = kHotPacket});
  last_made_ = now;
  if (source.left == 0) return kNever;
  return began_ + source.arrivals.next(model_, now - began_, source.rng);
}

void PulseTraffic::on_delivered(PacketNet& net, const Arrival& arrival) {
  if (arrival.tag == kHotPacket) ++hot_arrived_;
  if (++arrived_ != options_.warm_packets) return;
  began_ = net.now();
  for (const HostNum host : hot_) {
    Source& source = sources_[host];
    net.wake(host, began_ + source.arrivals.begin(model_, source.rng));
  }
}

}  // namespace smd::sim
