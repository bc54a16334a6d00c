#include "sim-backend/traffic/collective.h"

#include <algorithm>

namespace smd::sim {

bool find_collective(std::string_view name, CollectiveKind& out) {
  if (name == "all-to-all-exchange") {
    out = CollectiveKind::AllToAll;
  } else if (name == "ring-all-reduce") {
    out = CollectiveKind::RingAllReduce;
  } else if (name == "tree-all-reduce") {
    out = CollectiveKind::TreeAllReduce;
  } else {
    return false;
  }
  return true;
}

Collective::Collective(const CollectiveOptions& options, std::vector<Lid> lids)
    : options_(options), lids_(std::move(lids)), ranks_(lids_.size()) {
  for (HostNum host = 0; host < ranks_.size(); ++host) {
    Rank& rank = ranks_[host];
    rank.received.assign(options_.kind == CollectiveKind::AllToAll ? lids_.size() : expected(host),
                         0);
    switch (options_.kind) {
      case CollectiveKind::AllToAll:
        rank.allowed = messages_of(host);
        break;
      case CollectiveKind::RingAllReduce:
        rank.allowed = std::min(1u, messages_of(host));
        break;
      case CollectiveKind::TreeAllReduce:
        // Leaves begin.
        rank.allowed = children(host) == 0 && host > 0 ? 1 : 0;
        break;
    }
  }
}

std::uint32_t Collective::children(HostNum host) const {
  const auto n = static_cast<HostNum>(lids_.size());
  return (2 * host + 1 < n ? 1u : 0u) + (2 * host + 2 < n ? 1u : 0u);
}

std::uint32_t Collective::messages_of(HostNum host) const {
  const auto n = static_cast<std::uint32_t>(lids_.size());
  switch (options_.kind) {
    case CollectiveKind::AllToAll:
      return n - 1;
    case CollectiveKind::RingAllReduce:
      return 2 * (n - 1);
    case CollectiveKind::TreeAllReduce:
      return children(host) + (host > 0 ? 1 : 0);
  }
  return 0;
}

std::uint32_t Collective::expected(HostNum host) const {
  if (options_.kind != CollectiveKind::TreeAllReduce) return messages_of(host);
  return children(host) + (host > 0 ? 1 : 0);
}

std::uint64_t Collective::messages() const {
  std::uint64_t sum = 0;
  for (HostNum host = 0; host < ranks_.size(); ++host) sum += messages_of(host);
  return sum;
}

Picos Collective::finished() const {
  Picos last = 0;
  for (const Rank& rank : ranks_) last = std::max(last, rank.done_at);
  return last;
}

std::uint64_t Collective::message_bytes() const {
  if (options_.kind != CollectiveKind::RingAllReduce)
    return std::max<std::uint64_t>(1, options_.bytes);
  return std::max<std::uint64_t>(1, options_.bytes / ranks_.size());
}

HostNum Collective::target(HostNum host, std::uint32_t message) const {
  const auto n = static_cast<HostNum>(lids_.size());
  switch (options_.kind) {
    case CollectiveKind::AllToAll:
      return (host + 1 + message) % n;
    case CollectiveKind::RingAllReduce:
      return (host + 1) % n;
    case CollectiveKind::TreeAllReduce:
      // First to the parent, if any, then to the children.
      if (host > 0 && message == 0) return (host - 1) / 2;
      return 2 * host + 1 + (message - (host > 0 ? 1 : 0));
  }
  return host;
}

Picos Collective::first(HostNum host) { return ranks_[host].allowed > 0 ? options_.start : kNever; }

/// One message; the next when the link has had time for it, so that memory is not filled at once.
Picos Collective::emit(DataNet& net, HostNum host, Picos now) {
  Rank& rank = ranks_[host];
  if (rank.sent >= rank.allowed) return kNever;
  const std::uint32_t message = rank.sent++;
  const HostNum to = target(host, message);
  PacketRequest sending{
      .dlid = lids_[to],
      .sl = options_.path_sl ? options_.path_sl(host, to) : options_.sl,
      // Which message of the receiver it is, where that is not known by the source.
      .tag = options_.kind == CollectiveKind::RingAllReduce ? message : host};
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
  Rank& rank = ranks_[arrival.destination];
  std::size_t slot = arrival.tag;
  if (options_.kind == CollectiveKind::TreeAllReduce) {
    // Children come first, then the parent.
    const HostNum parent = (arrival.destination - 1) / 2;
    slot = arrival.destination > 0 && arrival.source == parent
               ? children(arrival.destination)
               : arrival.source - 2 * arrival.destination - 1;
  }
  rank.received[slot] += arrival.payload;
  if (rank.received[slot] == message_bytes()) {
    on_message(net, arrival.destination, arrival.tail);
  }
}

void Collective::on_message(DataNet& net, HostNum host, Picos now) {
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
  }
  if (rank.sent < rank.allowed) net.wake(host, now);
}

}  // namespace smd::sim
