#include "sim-backend/traffic/in_network.h"

#include <algorithm>

#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// The lowest host below each; kNowhere where there is none.
std::vector<HostNum> first_hosts(const InNetworkAllReduce::Tree& tree,
                                 const std::vector<HostNum>& hosts) {
  std::vector<HostNum> out(tree.adders.size(), kNowhere);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    for (std::uint32_t at = tree.entry[rank]; at != kNowhere; at = tree.adders[at].parent) {
      out[at] = std::min(out[at], hosts[rank]);
    }
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> count_below(const InNetworkAllReduce::Tree& tree) {
  std::vector<std::uint32_t> out(tree.adders.size(), 0);
  std::vector<char> used(tree.adders.size(), 0);
  for (std::uint32_t at : tree.entry) {
    ++out[at];
    for (; used[at] == 0; at = tree.adders[at].parent) {
      used[at] = 1;
      if (tree.adders[at].parent == kNowhere) break;
      ++out[tree.adders[at].parent];
    }
  }
  return out;
}

InNetworkAllReduce::InNetworkAllReduce(const CollectiveOptions& options,
                                       const CollectiveRanks& ranks,
                                       const Tree& tree)
    : options_(options),
      ranks_(ranks),
      tree_(tree),
      states_(tree.adders.size()),
      sent_(ranks.hosts.size(), 0),
      bytes_(ranks.hosts.size(), 0),
      done_at_(ranks.hosts.size(), kNever) {
  options_.bytes = std::max<std::uint64_t>(1, options.bytes);
  const std::vector<HostNum> names = first_hosts(tree_, ranks_.hosts);
  for (std::size_t rank = 0; rank < ranks_.hosts.size(); ++rank) {
    states_[tree_.entry[rank]].below.push_back({.name = ranks_.hosts[rank]});
  }
  for (std::uint32_t at = 0; at < tree_.adders.size(); ++at) {
    const Adder& adder = tree_.adders[at];
    if (adder.node >= place_of_.size()) place_of_.resize(adder.node + 1, kNowhere);
    place_of_[adder.node] = at;
    states_[at].sums.resize(packets());
    if (adder.parent != kNowhere && names[at] != kNowhere) {
      states_[adder.parent].below.push_back({.name = names[at]});
    }
  }
  for (State& state : states_) std::ranges::sort(state.below, {}, &SumInput::name);
}

std::uint32_t InNetworkAllReduce::packets() const {
  return static_cast<std::uint32_t>((options_.bytes + options_.mtu - 1) / options_.mtu);
}

std::uint64_t InNetworkAllReduce::messages() const { return ranks_.hosts.size() * packets(); }

Picos InNetworkAllReduce::finished() const {
  Picos last = 0;
  for (const Picos each : done_at_) last = std::max(last, each);
  return last;
}

Picos InNetworkAllReduce::done_at(HostNum host) const {
  const std::uint32_t rank = ranks_.rank_of(host);
  return rank == kNowhere ? 0 : done_at_[rank];
}

Picos InNetworkAllReduce::first(HostNum host) {
  return ranks_.rank_of(host) == kNowhere ? kNever : options_.start;
}

/// A packet at a time, as the link takes them.
Picos InNetworkAllReduce::emit(DataNet& net, HostNum host, Picos now) {
  const std::uint32_t rank = ranks_.rank_of(host);
  if (sent_[rank] == packets()) return kNever;
  const std::uint32_t number = sent_[rank]++;
  const std::uint64_t left = options_.bytes - std::uint64_t{number} * options_.mtu;
  const auto payload = static_cast<std::uint16_t>(std::min<std::uint64_t>(left, options_.mtu));
  net.send(host,
           {.dlid = tree_.adders[tree_.entry[rank]].lid,
            .sl = options_.group_sl,
            .payload = payload,
            .tag = number});
  if (sent_[rank] == packets()) return kNever;
  return now + std::max<Picos>(1, transfer_time(net.host_byte_time(host), payload));
}

void InNetworkAllReduce::on_taken_in(PacketNet& net, std::uint32_t node, const Delivery& arrival) {
  const std::uint32_t at = node < place_of_.size() ? place_of_[node] : kNowhere;
  SMD_CHECK(at != kNowhere, "a switch outside of the tree has nothing to add");
  const Adder& adder = tree_.adders[at];
  State& state = states_[at];
  const auto below = std::ranges::lower_bound(state.below, arrival.source, {}, &SumInput::name);
  SMD_CHECK(below != state.below.end() && below->name == arrival.source,
            "a switch got a part from somebody who is not below it");
  below->free = std::max(below->free, arrival.tail) + tree_.adding;
  Sum& sum = state.sums[arrival.tag];
  sum.ready = std::max(sum.ready, below->free);
  if (++sum.parts < state.below.size()) return;
  const bool is_top = adder.parent == kNowhere;
  net.send_from_switch({.node = node,
                        .out = is_top ? PortNum{} : adder.up,
                        .source = state.below.front().name,
                        .ready = sum.ready,
                        .packet = {.dlid = is_top ? options_.group : tree_.adders[adder.parent].lid,
                                   .sl = options_.group_sl,
                                   .payload = arrival.payload,
                                   .tag = arrival.tag}});
}

void InNetworkAllReduce::on_delivered(DataNet&, const Delivery& arrival) {
  const std::uint32_t rank = ranks_.rank_of(arrival.destination);
  bytes_[rank] += arrival.payload;
  if (bytes_[rank] == options_.bytes) done_at_[rank] = arrival.tail;
}

}  // namespace smd::sim
