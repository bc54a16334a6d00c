#include "sim-backend/traffic/contention.h"

#include <algorithm>
#include <cmath>

namespace smd::sim {

ContentionTraffic::ContentionTraffic(ContentionOptions options,
                                     HostNum hosts,
                                     std::uint32_t byte_time)
    : options_(std::move(options)),
      packet_time_(double(options_.payload + options_.header_bytes) * byte_time / 65536.0) {
  model_ = {.mean_gap = packet_time_ / options_.load, .least_gap = packet_time_};
  for (HostNum host = 0; host < hosts; ++host) {
    sources_.push_back({.rng = Rng(options_.seed * 0x9e3779b97f4a7c15u + host)});
    if (host != options_.hot_spot) contributors_.push_back(host);
  }
  Rng draw(options_.seed);
  for (std::size_t i = contributors_.size(); i > 1; --i) {
    std::swap(contributors_[i - 1], contributors_[draw.below(i)]);
  }
  contributors_.resize(std::min<std::size_t>(contributors_.size(), options_.contributors));
  std::ranges::sort(contributors_);
  for (const HostNum host : contributors_) {
    sources_[host].contributes = true;
    sources_[host].left = options_.packets;
  }
}

Picos ContentionTraffic::first(HostNum host) {
  Source& source = sources_[host];
  return source.contributes ? options_.start : source.arrivals.begin(model_, source.rng);
}

Picos ContentionTraffic::emit(DataNet& net, HostNum host, Picos now) {
  Source& source = sources_[host];
  HostNum to = options_.hot_spot;
  if (!source.contributes) {
    // Neither itself nor the hot spot, to which nobody but contributors sends.
    do {
      to = static_cast<HostNum>(source.rng.below(sources_.size()));
    } while (to == host || to == options_.hot_spot);
  }
  net.send(host,
           {.dlid = net.host_lid(to),
            .sl = options_.sl ? options_.sl(host, to) : std::uint8_t{0},
            .payload = options_.payload,
            .tag = source.contributes ? kContendingPacket : kVictimPacket});
  if (!source.contributes) return source.arrivals.next(model_, now, source.rng);
  if (options_.packets > 0 && --source.left == 0) return kNever;
  return now + std::llround(packet_time_);
}

void ContentionTraffic::on_delivered(DataNet& net, const Delivery& arrival) {
  if (arrival.tag != kContendingPacket || options_.packets == 0) return;
  if (++arrived_ == std::uint64_t{options_.packets} * contributors_.size()) completed_ = net.now();
}

}  // namespace smd::sim
