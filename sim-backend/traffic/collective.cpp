#include "sim-backend/traffic/collective.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

namespace smd::sim {

namespace {

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 7> kNames{
    {{"all-to-all-exchange", CollectiveKind::AllToAll},
     {"ring-all-reduce", CollectiveKind::RingAllReduce},
     {"tree-all-reduce", CollectiveKind::TreeAllReduce},
     {"binomial-broadcast", CollectiveKind::BinomialBroadcast},
     {"multicast-broadcast", CollectiveKind::MulticastBroadcast},
     {"multicast-all-reduce", CollectiveKind::MulticastAllReduce},
     {"in-network-all-reduce", CollectiveKind::InNetworkAllReduce}}};

}  // namespace

bool find_collective(std::string_view name, CollectiveKind& out) {
  for (const auto& [known, kind] : kNames) {
    if (known != name) continue;
    out = kind;
    return true;
  }
  return false;
}

std::string list_collectives() {
  std::string out;
  for (const auto& [name, kind] : kNames) {
    if (!out.empty()) out += name == kNames.back().first ? " or " : ", ";
    out += '"' + std::string(name) + '"';
  }
  return out;
}

bool needs_group(CollectiveKind kind) {
  return kind == CollectiveKind::MulticastBroadcast || kind == CollectiveKind::MulticastAllReduce ||
         kind == CollectiveKind::InNetworkAllReduce;
}

CollectiveRanks::CollectiveRanks(std::vector<HostNum> by_rank, std::vector<Lid> their_lids)
    : hosts(std::move(by_rank)), lids(std::move(their_lids)) {
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] >= ranks.size()) ranks.resize(hosts[rank] + 1, kNowhere);
    ranks[hosts[rank]] = rank;
  }
}

CollectiveRanks::CollectiveRanks(std::vector<Lid> all) : lids(std::move(all)) {
  hosts.resize(lids.size());
  std::iota(hosts.begin(), hosts.end(), HostNum{0});
  ranks = hosts;
}

Collective::Collective(const CollectiveOptions& options, const CollectiveRanks& places)
    : options_(options), places_(places), ranks_(places.hosts.size()) {
  if (options_.kind == CollectiveKind::AllToAll) find_hosts();
  for (std::uint32_t host = 0; host < ranks_.size(); ++host) {
    Rank& rank = ranks_[host];
    rank.received.assign(options_.kind == CollectiveKind::AllToAll ? ranks_.size() : expected(host),
                         0);
    switch (options_.kind) {
      case CollectiveKind::AllToAll:
        rank.allowed = messages_of(host);
        if (rank.allowed == 0) rank.done_at = options_.start;
        break;
      case CollectiveKind::RingAllReduce:
        rank.allowed = std::min(1u, messages_of(host));
        break;
      case CollectiveKind::TreeAllReduce:
        // Leaves begin.
        rank.allowed = children(host) == 0 && host > 0 ? 1 : 0;
        break;
      default:
        break;  // not of one host each
    }
  }
}

void Collective::find_hosts() {
  if (places_.host_of.empty()) return;
  std::map<std::uint32_t, std::size_t> numbers;  // hosts, ascending
  for (const std::uint32_t host : places_.host_of) numbers.emplace(host, 0);
  std::size_t hosts = 0;
  for (auto& [host, number] : numbers) number = hosts++;
  of_host_.resize(hosts);
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    std::vector<std::uint32_t>& own = of_host_[numbers.at(places_.host_of[rank])];
    in_host_.push_back({numbers.at(places_.host_of[rank]), own.size()});
    own.push_back(rank);
  }
  // Twice round, so that a host's others follow it without a gap.
  before_.push_back(0);
  for (std::size_t i = 0; i < 2 * hosts; ++i)
    before_.push_back(before_.back() + of_host_[i % hosts].size());
}

std::uint32_t Collective::find_other(std::uint32_t rank, std::uint32_t message) const {
  const InHost& own = in_host_[rank];
  const std::uint64_t at = before_[own.host + 1] + message;
  const auto host =
      static_cast<std::size_t>(std::ranges::upper_bound(before_, at) - before_.begin()) - 1;
  const std::vector<std::uint32_t>& ranks = of_host_[host % of_host_.size()];
  return ranks[(own.place + at - before_[host]) % ranks.size()];
}

std::uint32_t Collective::children(std::uint32_t host) const {
  const auto n = static_cast<std::uint32_t>(ranks_.size());
  return (2 * host + 1 < n ? 1u : 0u) + (2 * host + 2 < n ? 1u : 0u);
}

std::uint32_t Collective::messages_of(std::uint32_t host) const {
  const auto n = static_cast<std::uint32_t>(ranks_.size());
  switch (options_.kind) {
    case CollectiveKind::AllToAll:
      return n - (of_host_.empty()
                      ? 1
                      : static_cast<std::uint32_t>(of_host_[in_host_[host].host].size()));
    case CollectiveKind::RingAllReduce:
      return 2 * (n - 1);
    case CollectiveKind::TreeAllReduce:
      return children(host) + (host > 0 ? 1 : 0);
    default:
      break;
  }
  return 0;
}

std::uint32_t Collective::expected(std::uint32_t host) const {
  if (options_.kind != CollectiveKind::TreeAllReduce) return messages_of(host);
  return children(host) + (host > 0 ? 1 : 0);
}

std::uint64_t Collective::messages() const {
  std::uint64_t sum = 0;
  for (std::uint32_t host = 0; host < ranks_.size(); ++host) sum += messages_of(host);
  return sum;
}

Picos Collective::finished() const {
  Picos last = 0;
  for (const Rank& rank : ranks_) last = std::max(last, rank.done_at);
  return last;
}

Picos Collective::done_at(HostNum host) const {
  const std::uint32_t rank = places_.rank_of(host);
  return rank == kNowhere ? 0 : ranks_[rank].done_at;
}

std::uint64_t Collective::message_bytes() const {
  if (options_.kind != CollectiveKind::RingAllReduce)
    return std::max<std::uint64_t>(1, options_.bytes);
  // Rounded up: pieces are alike, and all of the data are in them.
  return std::max<std::uint64_t>(1, (options_.bytes + ranks_.size() - 1) / ranks_.size());
}

std::uint32_t Collective::target(std::uint32_t host, std::uint32_t message) const {
  const auto n = static_cast<std::uint32_t>(ranks_.size());
  switch (options_.kind) {
    case CollectiveKind::AllToAll:
      return of_host_.empty() ? (host + 1 + message) % n : find_other(host, message);
    case CollectiveKind::RingAllReduce:
      return (host + 1) % n;
    case CollectiveKind::TreeAllReduce:
      // First to the parent, if any, then to the children.
      if (host > 0 && message == 0) return (host - 1) / 2;
      return 2 * host + 1 + (message - (host > 0 ? 1 : 0));
    default:
      break;
  }
  return host;
}

Picos Collective::first(HostNum host) {
  const std::uint32_t rank = places_.rank_of(host);
  return rank != kNowhere && ranks_[rank].allowed > 0 ? options_.start : kNever;
}

/// One message; the next when the link has had time for it, so that memory is not filled at once.
Picos Collective::emit(DataNet& net, HostNum host, Picos now) {
  const std::uint32_t at = places_.rank_of(host);
  Rank& rank = ranks_[at];
  if (rank.sent >= rank.allowed) return kNever;
  const std::uint32_t message = rank.sent++;
  const std::uint32_t to = target(at, message);
  PacketRequest sending{
      .dlid = places_.lids[to],
      .sl = options_.path_sl ? options_.path_sl(host, places_.hosts[to]) : options_.sl,
      // Which message of the receiver it is, where that is not known by the source.
      .tag = options_.kind == CollectiveKind::RingAllReduce ? message : at};
  std::uint64_t left = message_bytes();
  while (left > 0) {
    sending.payload = static_cast<std::uint16_t>(std::min<std::uint64_t>(left, options_.mtu));
    net.send(host, sending);
    left -= sending.payload;
  }
  if (rank.sent >= rank.allowed) return kNever;
  const double bytes = static_cast<double>(message_bytes());
  return now + std::max<Picos>(1, static_cast<Picos>(bytes * net.host_byte_time(host) / 65536.0));
}

void Collective::on_delivered(DataNet& net, const Delivery& arrival) {
  const std::uint32_t at = places_.rank_of(arrival.destination);
  Rank& rank = ranks_[at];
  std::size_t slot = arrival.tag;
  if (options_.kind == CollectiveKind::TreeAllReduce) {
    // Children come first, then the parent.
    const std::uint32_t from = arrival.tag;
    slot = at > 0 && from == (at - 1) / 2 ? children(at) : from - 2 * at - 1;
  }
  rank.received[slot] += arrival.payload;
  if (rank.received[slot] == message_bytes()) on_message(net, at, arrival.tail);
}

void Collective::on_message(DataNet& net, std::uint32_t host, Picos now) {
  Rank& rank = ranks_[host];
  ++rank.complete;
  if (rank.complete == expected(host)) rank.done_at = now;
  switch (options_.kind) {
    case CollectiveKind::AllToAll:
      return;
    case CollectiveKind::RingAllReduce:
      // What came in step s goes on in step s + 1.
      rank.allowed = std::min(messages_of(host), rank.complete + 1);
      break;
    case CollectiveKind::TreeAllReduce:
      if (rank.complete == children(host)) rank.allowed = host > 0 ? 1 : messages_of(host);
      if (rank.complete == expected(host)) rank.allowed = messages_of(host);
      break;
    default:
      break;
  }
  if (rank.sent < rank.allowed) net.wake(places_.hosts[host], now);
}

Picos RailCollective::finished() const {
  Picos last = 0;
  for (const auto& each : in_rail_) last = std::max(last, each->finished());
  return last;
}

std::uint64_t RailCollective::messages() const {
  std::uint64_t sum = 0;
  for (const auto& each : in_rail_) sum += each->messages();
  return sum;
}

}  // namespace smd::sim
