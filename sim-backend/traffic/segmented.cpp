#include "sim-backend/traffic/segmented.h"

#include <algorithm>
#include <bit>

namespace smd::sim {
namespace {

constexpr std::uint32_t kGroup = UINT32_MAX;
constexpr std::uint32_t kResult = 1;  // tag of what comes by multicast

}  // namespace

SegmentedCollective::SegmentedCollective(const CollectiveOptions& options,
                                         const CollectiveRanks& ranks)
    : options_(options),
      ranks_(ranks),
      down_by_group_(options.kind != CollectiveKind::BinomialBroadcast),
      of_(ranks.hosts.size()) {
  options_.bytes = std::max<std::uint64_t>(1, options.bytes);
  if (options_.segment == 0 || options_.segment > options_.bytes) options_.segment = options_.bytes;
  if (options.kind == CollectiveKind::BinomialBroadcast) connect_binomial();
  if (options.kind == CollectiveKind::MulticastAllReduce) connect_reduction();
  if (down_by_group_) of_[0].to = {kGroup};
  for (Rank& rank : of_) {
    rank.bytes.assign(rank.from.size(), 0);
    if (rank.from.empty()) rank.allowed = segments() * rank.to.size();
  }
}

void SegmentedCollective::connect_binomial() {
  const auto n = static_cast<std::uint32_t>(of_.size());
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    if (rank > 0) of_[rank].from = {rank - std::bit_floor(rank)};
    for (std::uint64_t step = rank == 0 ? 1 : 2 * std::bit_floor(rank); rank + step < n; step *= 2)
      of_[rank].to.push_back(static_cast<std::uint32_t>(rank + step));
  }
}

void SegmentedCollective::connect_reduction() {
  const auto n = static_cast<std::uint32_t>(of_.size());
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    for (const std::uint32_t child : {2 * rank + 1, 2 * rank + 2}) {
      if (child < n) of_[rank].from.push_back(child);
    }
    if (rank > 0) of_[rank].to = {(rank - 1) / 2};
  }
}

std::uint64_t SegmentedCollective::segments() const {
  return (options_.bytes + options_.segment - 1) / options_.segment;
}

std::uint64_t SegmentedCollective::segment_bytes(std::uint64_t number) const {
  return std::min(options_.segment, options_.bytes - number * options_.segment);
}

std::uint64_t SegmentedCollective::whole_segments(std::uint64_t bytes) const {
  return bytes == options_.bytes ? segments() : bytes / options_.segment;
}

std::uint64_t SegmentedCollective::messages() const {
  std::uint64_t sum = 0;
  for (const Rank& rank : of_) sum += rank.to.size() * segments();
  return sum;
}

Picos SegmentedCollective::finished() const {
  Picos last = 0;
  for (const Rank& rank : of_) last = std::max(last, rank.done_at);
  return last;
}

Picos SegmentedCollective::done_at(HostNum host) const {
  const std::uint32_t rank = ranks_.rank_of(host);
  return rank == kNowhere ? 0 : of_[rank].done_at;
}

Picos SegmentedCollective::first(HostNum host) {
  const std::uint32_t rank = ranks_.rank_of(host);
  if (rank == kNowhere) return kNever;
  // Who has everything from the beginning is not waited for.
  if (rank == 0 && of_[0].from.empty()) of_[0].done_at = options_.start;
  return of_[rank].allowed > 0 ? options_.start : kNever;
}

/// One segment to one of them; the next when the link has had time for it.
Picos SegmentedCollective::emit(DataNet& net, HostNum host, Picos now) {
  const std::uint32_t at = ranks_.rank_of(host);
  Rank& rank = of_[at];
  if (rank.sent >= rank.allowed) return kNever;
  const std::uint64_t number = rank.sent / rank.to.size();
  const std::uint32_t to = rank.to[rank.sent++ % rank.to.size()];
  PacketRequest sending{.dlid = options_.group, .sl = options_.group_sl, .tag = kResult};
  if (to != kGroup) {
    const HostNum far = ranks_.hosts[to];
    sending = {.dlid = ranks_.lids[to],
               .sl = options_.path_sl ? options_.path_sl(host, far) : options_.sl};
  }
  std::uint64_t left = segment_bytes(number);
  const auto bytes = static_cast<double>(left);
  while (left > 0) {
    sending.payload = static_cast<std::uint16_t>(std::min<std::uint64_t>(left, options_.mtu));
    net.send(host, sending);
    left -= sending.payload;
  }
  if (rank.sent >= rank.allowed) return kNever;
  return now + std::max<Picos>(1, static_cast<Picos>(bytes * net.host_byte_time(host) / 65536.0));
}

void SegmentedCollective::on_delivered(DataNet& net, const Delivery& arrival) {
  Rank& rank = of_[ranks_.rank_of(arrival.destination)];
  if (arrival.tag == kResult) {
    rank.down += arrival.payload;
    if (rank.down == options_.bytes) rank.done_at = arrival.tail;
    return;
  }
  const std::uint32_t source = ranks_.rank_of(arrival.source);
  const auto at = std::ranges::find(rank.from, source) - rank.from.begin();
  rank.bytes[static_cast<std::size_t>(at)] += arrival.payload;
  // Packets of one sender keep their order: what is there is a beginning.
  const std::uint64_t have = whole_segments(std::ranges::min(rank.bytes));
  // Below the root of a reduction the result is still to come.
  const bool is_last = !down_by_group_ || rank.to == std::vector{kGroup};
  if (have == segments() && is_last) rank.done_at = arrival.tail;
  if (have * rank.to.size() <= rank.allowed) return;
  // Who is still sending goes on by himself.
  const bool is_idle = rank.sent >= rank.allowed;
  rank.allowed = have * rank.to.size();
  if (is_idle) net.wake(arrival.destination, arrival.tail);
}

}  // namespace smd::sim
