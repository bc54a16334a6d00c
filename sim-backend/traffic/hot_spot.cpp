#include "sim-backend/traffic/hot_spot.h"

#include <algorithm>
#include <cmath>

namespace smd::sim {

HotSpotTraffic::HotSpotTraffic(const HotSpotOptions& options,
                               HostNum places,
                               std::uint32_t byte_time)
    : options_(options) {
  const HostNum hosts = places / options.ports;
  const double mean_payload = options.other_payload == 0
                                  ? options.payload
                                  : (double(options.payload) + options.other_payload) / 2;
  const double packet = (mean_payload + options.header_bytes) * byte_time / 65536.0;
  model_ = {.kind = options.arrivals, .mean_gap = packet / options.load, .least_gap = packet};
  for (HostNum host = 0; host < hosts; ++host) {
    sources_.push_back({.rng = Rng(options.seed * 0x9e3779b97f4a7c15u + host)});
    if (host != options.hot_spot) hot_.push_back(host);
  }
  Rng draw(options.seed);
  for (std::size_t i = hot_.size(); i > 1; --i) std::swap(hot_[i - 1], hot_[draw.below(i)]);
  hot_.resize(std::min<std::size_t>(
      hot_.size(), static_cast<std::size_t>(std::llround(options.hot_share * hosts))));
  std::ranges::sort(hot_);
  for (HostNum& host : hot_) {
    sources_[host].hot = true;
    sources_[host].left = options.batch;
    host *= options.ports;
  }
}

Picos HotSpotTraffic::first(HostNum place) {
  if (place % options_.ports != 0) return kNever;
  Source& source = sources_[place / options_.ports];
  return source.hot ? kNever : source.arrivals.begin(model_, source.rng);
}

PacketRequest HotSpotTraffic::packet(Source& source, DataNet& net, HostNum to, std::uint32_t tag) {
  const bool other = options_.other_payload != 0 && source.rng.below(2) == 1;
  return {.dlid = net.host_lid(receiver(to)),
          .payload = other ? options_.other_payload : options_.payload,
          .tag = tag};
}

Picos HotSpotTraffic::emit(DataNet& net, HostNum place, Picos now) {
  const HostNum host = place / options_.ports;
  Source& source = sources_[host];
  if (!source.hot) {
    auto to = static_cast<HostNum>(source.rng.below(sources_.size() - 1));
    if (to >= host) ++to;
    net.send(place, packet(source, net, to, kColdPacket));
    if (source.burst_at <= now) {
      source.burst_at = kNever;
      for (unsigned i = 0; i < options_.burst; ++i) {
        net.send(place, packet(source, net, options_.hot_spot, kHotPacket));
      }
    }
    return source.arrivals.next(model_, now, source.rng);
  }
  if (source.left == 0) return kNever;
  --source.left;
  net.send(place, packet(source, net, options_.hot_spot, kHotPacket));
  if (source.left == 0) return kNever;
  return began_ + source.arrivals.next(model_, now - began_, source.rng);
}

void HotSpotTraffic::on_delivered(DataNet& net, const Delivery& arrival) {
  if (arrival.tag == kHotPacket) ++hot_arrived_;
  if (++arrived_ != options_.warm_packets) return;
  began_ = net.now();
  for (const HostNum place : hot_) {
    Source& source = sources_[place / options_.ports];
    net.wake(place, began_ + source.arrivals.begin(model_, source.rng));
  }
  if (options_.burst == 0) return;
  const auto lasts = static_cast<std::uint64_t>(model_.mean_gap * std::max(1u, options_.batch));
  for (HostNum host = 0; host < hosts(); ++host) {
    Source& source = sources_[host];
    if (!source.hot && host != options_.hot_spot) {
      source.burst_at = began_ + static_cast<Picos>(source.rng.below(lasts));
    }
  }
}

}  // namespace smd::sim
