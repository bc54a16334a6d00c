#include "sim-backend/traffic/synthetic.h"

#include <algorithm>

namespace smd::sim {

SyntheticTraffic::SyntheticTraffic(const SyntheticOptions& options,
                                   Destinations destinations,
                                   std::vector<std::uint32_t> byte_time,
                                   PathSl path_sl)
    : options_(options), destinations_(std::move(destinations)), path_sl_(std::move(path_sl)) {
  sources_.reserve(byte_time.size());
  for (HostNum host = 0; host < byte_time.size(); ++host) {
    // A stream of its own for each host: what one does changes nothing for another.
    Source source{.rng = Rng(options_.seed * 0x9e3779b97f4a7c15u + host),
                  .arrivals = {},
                  .model = options_.arrivals};
    const double least = mean_wire_bytes() * byte_time[host] / 65536.0;
    source.model.least_gap = least;
    source.model.mean_gap = options_.load > 0 ? least * copies_of(host) / options_.load : 0;
    sources_.push_back(source);
  }
}

/// That a message comes in as, on average.
double SyntheticTraffic::copies_of(HostNum host) const {
  double copies = static_cast<double>(options_.destinations);
  if (!options_.groups.empty() && !options_.groups[host].empty()) {
    copies = 0;
    for (const GroupTarget& each : options_.groups[host]) copies += each.copies;
    copies /= static_cast<double>(options_.groups[host].size());
  }
  return copies == 1 ? 1 : 1 + options_.multicast_share * (copies - 1);
}

std::uint32_t SyntheticTraffic::wire_bytes(std::uint32_t payload) const {
  const std::uint32_t packets = std::max(1u, (payload + options_.mtu - 1) / options_.mtu);
  return payload + packets * options_.header_bytes;
}

double SyntheticTraffic::mean_wire_bytes() const {
  double sum = 0, weights = 0;
  for (const SizeShare& size : options_.sizes) {
    sum += size.weight * wire_bytes(size.bytes);
    weights += size.weight;
  }
  return sum / weights;
}

bool SyntheticTraffic::sends(HostNum host) const {
  const bool in_group = !options_.groups.empty() && !options_.groups[host].empty();
  return options_.load > 0 && (in_group || destinations_.sends(host));
}

std::optional<double> SyntheticTraffic::least_mean_gap() const {
  std::optional<double> least;
  for (HostNum host = 0; host < sources_.size(); ++host) {
    const double gap = sources_[host].model.mean_gap;
    if (sends(host) && (!least || gap < *least)) least = gap;
  }
  return least;
}

Picos SyntheticTraffic::first(HostNum host) {
  if (!sends(host)) return kNever;
  Source& source = sources_[host];
  return options_.start + source.arrivals.begin(source.model, source.rng);
}

std::uint32_t SyntheticTraffic::draw_size(Rng& rng) const {
  if (options_.sizes.size() == 1) return options_.sizes[0].bytes;
  double total = 0;
  for (const SizeShare& size : options_.sizes) total += size.weight;
  double u = static_cast<double>(rng.next() >> 11) * 0x1.0p-53 * total;
  for (const SizeShare& size : options_.sizes) {
    if (u < size.weight) return size.bytes;
    u -= size.weight;
  }
  return options_.sizes.back().bytes;
}

/// Different ones, none of them the source.
void SyntheticTraffic::draw_hosts(HostNum source, Rng& rng, std::vector<HostNum>& out) const {
  while (out.size() < options_.destinations) {
    const auto host = static_cast<HostNum>(rng.below(sources_.size()));
    if (host != source && std::ranges::find(out, host) == out.end()) out.push_back(host);
  }
}

void SyntheticTraffic::send_message(DataNet& net, HostNum host, PacketRequest sending) {
  std::uint32_t left = draw_size(sources_[host].rng);
  do {
    sending.payload = static_cast<std::uint16_t>(std::min(left, options_.mtu));
    net.send(host, sending);
    left -= sending.payload;
  } while (left > 0);
}

Picos SyntheticTraffic::emit(DataNet& net, HostNum host, Picos now) {
  if (now >= options_.stop) return kNever;
  Source& source = sources_[host];
  if (options_.destinations > 1 && source.rng.chance(options_.multicast_share)) {
    std::vector<HostNum> hosts;
    draw_hosts(host, source.rng, hosts);
    const auto payload = std::min(draw_size(source.rng), options_.mtu);
    options_.send_to(host, hosts, static_cast<std::uint16_t>(payload));
    return source.arrivals.next(source.model, now - options_.start, source.rng) + options_.start;
  }
  if (!options_.groups.empty() && !options_.groups[host].empty() &&
      source.rng.chance(options_.multicast_share)) {
    const std::vector<GroupTarget>& groups = options_.groups[host];
    const GroupTarget& group = groups[groups.size() == 1 ? 0 : source.rng.below(groups.size())];
    send_message(net, host, {.dlid = group.mlid, .sl = group.sl, .copies = group.copies});
    return source.arrivals.next(source.model, now - options_.start, source.rng) + options_.start;
  }
  const HostNum to = destinations_.draw(host, source.rng);
  if (to != TrafficPattern::kSilent) {
    // As the port has it now: a manager may have moved it.
    const auto offset =
        options_.lids > 1 ? static_cast<std::uint32_t>(source.rng.below(options_.lids)) : 0;
    PacketRequest sending{.sl = options_.sl, .tag = to};
    if (options_.by_host_number) {
      sending.to = to;
    } else {
      sending.dlid = Lid{static_cast<std::uint16_t>(net.host_lid(to).value() + offset)};
    }
    if (options_.sl_choice == SlChoice::Random) {
      sending.sl = static_cast<std::uint8_t>(source.rng.below(options_.sl + 1u));
    } else if (options_.sl_choice == SlChoice::Path) {
      sending.sl = path_sl_(host, to, offset);
    }
    send_message(net, host, sending);
  }
  return source.arrivals.next(source.model, now - options_.start, source.rng) + options_.start;
}

}  // namespace smd::sim
