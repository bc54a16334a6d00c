#include "smd/routing/verify/channel_dependencies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace smd {
namespace {

constexpr std::size_t kCycleStarts = 64;

bool enters_switch(const Fabric& fabric, PortIdx out) {
  const PortIdx peer = fabric.peer[out];
  return peer != kNone<PortIdx> && fabric.is_switch(fabric.node_of[peer]);
}

constexpr std::size_t kEntries = 256;  // that an LFT can name
constexpr std::size_t kWords = kEntries / 64;

// Entries may name ports that a switch does not have.
void keep_ports(std::span<std::uint64_t> outs, unsigned last) {
  for (std::size_t word = 0; word < outs.size(); ++word) {
    if (last >= word * 64 + 63) continue;
    const std::uint64_t kept = last < word * 64 ? 0 : (std::uint64_t{2} << (last % 64)) - 1;
    outs[word] &= kept;
  }
}

/// By egress: the entries of the switch that it leads to, or `otherwise`.
void find_onward(const Fabric& fabric,
                 const ForwardingTables& tables,
                 SwitchIdx sw,
                 const PortNum* otherwise,
                 std::array<const PortNum*, kEntries>& onward) {
  onward.fill(otherwise);
  for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx>) continue;
    const SwitchIdx next = fabric.switch_at(peer);
    if (next != kNone<SwitchIdx> && next.value() < tables.switches())
      onward[fabric.number_of(port).value()] = tables.row(next).data();
  }
}

}  // namespace

ChannelGraph::ChannelGraph(const Fabric& fabric, unsigned vls) : fabric_(fabric), vls_(vls) {
  first_word_.reserve(fabric.port_count());
  words_.reserve(fabric.port_count());
  std::uint32_t at = 0;
  for (const PortIdx port : fabric.peer.indices()) {
    const NodeIdx node = fabric.node_of[port];
    const bool row = fabric.is_switch(node) && enters_switch(fabric, port);
    const std::uint32_t words = row ? ((fabric.num_ports(node) + 1) * vls + 63) / 64 : 0;
    first_word_.push_back(at);
    words_.push_back(words);
    at += words * vls;
  }
  rows_.assign(at, 0);
}

void ChannelGraph::find_successors(Channel channel, std::vector<Channel>& found) const {
  found.clear();
  const PortIdx in = fabric_.peer[PortIdx{channel / vls_}];
  const std::uint32_t first_port = fabric_.first_port[fabric_.node_of[in]];
  const std::uint64_t* const row =
      rows_.data() + first_word_[in.value()] + channel % vls_ * words_[in.value()];
  for (std::uint32_t word = 0; word < words_[in.value()]; ++word) {
    for (std::uint64_t bits = row[word]; bits != 0; bits &= bits - 1) {
      const auto bit = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      const PortIdx out{first_port + bit / vls_};
      // Port 0 and hosts take packets out of the network: nobody waits beyond them.
      if (enters_switch(fabric_, out)) found.push_back(out.value() * vls_ + bit % vls_);
    }
  }
}

// What is left after taking away, again and again, channels that nothing waits for: empty exactly
// when there is no cycle.
std::vector<char> ChannelGraph::find_core() const {
  const std::size_t channels = fabric_.port_count() * vls_;
  std::vector<char> core(channels, 0);
  std::vector<std::uint32_t> waiting(channels, 0);  // how many channels wait for one
  std::vector<Channel> successors;
  for (const PortIdx port : fabric_.peer.indices()) {
    if (!fabric_.is_switch(fabric_.node_of[port]) || !enters_switch(fabric_, port)) continue;
    for (unsigned vl = 0; vl < vls_; ++vl) {
      const Channel channel = port.value() * vls_ + vl;
      core[channel] = 1;
      find_successors(channel, successors);
      for (const Channel next : successors) ++waiting[next];
    }
  }
  std::vector<Channel> free;
  for (Channel channel = 0; channel < channels; ++channel) {
    if (core[channel] && waiting[channel] == 0) free.push_back(channel);
  }
  while (!free.empty()) {
    const Channel channel = free.back();
    free.pop_back();
    core[channel] = 0;
    find_successors(channel, successors);
    for (const Channel next : successors) {
      if (--waiting[next] == 0) free.push_back(next);
    }
  }
  return core;
}

std::vector<ChannelGraph::Channel> ChannelGraph::find_cycle_through(
    Channel start, const std::vector<char>& core, std::size_t shorter_than) const {
  constexpr Channel kUnseen = ~Channel{0};
  std::vector<Channel> from(core.size(), kUnseen);
  std::vector<std::pair<Channel, std::size_t>> queue{{start, 1}};
  std::vector<Channel> successors;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const auto [channel, length] = queue[at];
    if (length >= shorter_than) return {};
    find_successors(channel, successors);
    for (const Channel next : successors) {
      if (next == start) {
        std::vector<Channel> cycle;
        for (Channel back = channel; back != start; back = from[back]) cycle.push_back(back);
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (!core[next] || from[next] != kUnseen) continue;
      from[next] = channel;
      queue.emplace_back(next, length + 1);
    }
  }
  return {};
}

std::vector<ChannelStep> ChannelGraph::find_cycle() const {
  const std::vector<char> core = find_core();
  std::vector<Channel> best;
  std::size_t starts = 0;
  for (Channel channel = 0; channel < core.size(); ++channel) {
    if (!core[channel]) continue;
    // A channel of the core may only lead to a cycle; without a cycle yet, keep looking.
    if (++starts > kCycleStarts && !best.empty()) break;
    std::vector<Channel> cycle =
        find_cycle_through(channel, core, best.empty() ? core.size() + 1 : best.size());
    if (!cycle.empty()) best = std::move(cycle);
  }
  std::vector<ChannelStep> steps;
  for (const Channel channel : best)
    steps.push_back({PortIdx{channel / vls_}, Vl{static_cast<std::uint8_t>(channel % vls_)}});
  return steps;
}

void ChannelGraph::each(const std::function<void(ChannelStep from, ChannelStep to)>& visit) const {
  const auto step = [this](Channel channel) {
    return ChannelStep{PortIdx{channel / vls_}, Vl{static_cast<std::uint8_t>(channel % vls_)}};
  };
  std::vector<Channel> successors;
  for (const PortIdx port : fabric_.peer.indices()) {
    if (!fabric_.is_switch(fabric_.node_of[port]) || !enters_switch(fabric_, port)) continue;
    for (unsigned vl = 0; vl < vls_; ++vl) {
      find_successors(port.value() * vls_ + vl, successors);
      for (const Channel next : successors) visit(step(port.value() * vls_ + vl), step(next));
    }
  }
}

void add_table_turns(const Fabric& fabric,
                     const ForwardingTables& tables,
                     std::span<const std::uint16_t> lids,
                     std::size_t first,
                     std::size_t last,
                     ChannelGraph& graph) {
  std::array<const PortNum*, kEntries> onward{};           // by egress: the next switch's entries
  std::vector<std::uint64_t> turns(kEntries * kWords, 0);  // by egress: that of the next switch
  for (auto sw = static_cast<std::uint32_t>(first); sw < last; ++sw) {
    const NodeIdx node = fabric.switch_node[SwitchIdx{sw}];
    const PortNum* const own = tables.row(SwitchIdx{sw}).data();
    // Exits that lead to no switch get turns too, which nobody takes: no branch in the inner loop.
    find_onward(fabric, tables, SwitchIdx{sw}, own, onward);
    for (const std::uint16_t lid : lids) {
      const std::size_t egress = own[lid].value();
      const std::size_t then = onward[egress][lid].value();
      turns[egress * kWords + then / 64] |= std::uint64_t{1} << (then % 64);
    }
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[peer])) continue;
      const auto outs = std::span{turns}.subspan(fabric.number_of(port).value() * kWords, kWords);
      keep_ports(outs, fabric.num_ports(fabric.node_of[peer]));
      graph.add_all(peer, outs);
    }
    std::ranges::fill(turns, 0);
  }
}

void add_table_turns(const Fabric& fabric,
                     const LidMap& lids,
                     const ForwardingTables& tables,
                     ChannelGraph& graph) {
  const std::size_t switches = std::min(fabric.switch_count(), tables.switches());
  add_table_turns(fabric, tables, find_owned_lids(lids, tables), 0, switches, graph);
}

std::vector<std::uint16_t> find_owned_lids(const LidMap& lids, const ForwardingTables& tables) {
  std::vector<std::uint16_t> owned;
  const std::size_t end = std::min(lids.owner.size(), tables.blocks() * kLftBlockSize);
  for (std::size_t lid = 0; lid < end; ++lid) {
    if (lids.owner[lid] != kNone<PortIdx>) owned.push_back(static_cast<std::uint16_t>(lid));
  }
  return owned;
}

TurnCounts::TurnCounts(const Fabric& fabric) {
  IndexVector<PortIdx, SwitchOf> ports(fabric.port_count());
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    const auto width = static_cast<std::uint16_t>(fabric.num_ports(node) + 1);
    for (const PortIdx port : fabric.ports_of(node))
      ports[port] = {sw, fabric.number_of(port).value(), width};
    // Switches of one size share their zeros.
    const std::size_t size = std::size_t{width} * width;
    const bool alike = !by_switch_.empty() && by_switch_.back().counts->lids.size() == size;
    by_switch_.push_back(
        {alike ? by_switch_.back().counts
               : std::make_shared<OfSwitch>(
                     OfSwitch{.lids = std::vector<std::uint16_t>(size, 0),
                              .outs = std::vector<std::uint64_t>(width * ((width + 63u) / 64), 0)}),
         false});
  }
  ports_ = std::make_shared<const IndexVector<PortIdx, SwitchOf>>(std::move(ports));
}

void TurnCounts::make_own(SwitchIdx sw) {
  if (shared_.get()) {
    for (Switch& each : by_switch_) each.own = false;
    shared_.clear();
  }
  by_switch_[sw] = {std::make_shared<OfSwitch>(*by_switch_[sw].counts), true};
}

void TurnCounts::add(const Fabric& fabric,
                     const ForwardingTables& tables,
                     std::span<const std::uint16_t> lids) {
  const std::size_t switches = std::min(fabric.switch_count(), tables.switches());
  std::array<const PortNum*, kEntries> onward{};             // by egress: the next switch's entries
  std::vector<std::uint16_t> found(kEntries * kEntries, 0);  // by egress: that of the next switch
  for (std::uint32_t sw = 0; sw < switches; ++sw) {
    const NodeIdx node = fabric.switch_node[SwitchIdx{sw}];
    const PortNum* const own = tables.row(SwitchIdx{sw}).data();
    find_onward(fabric, tables, SwitchIdx{sw}, nullptr, onward);
    for (const std::uint16_t lid : lids) {
      const std::size_t egress = own[lid].value();
      if (onward[egress] != nullptr) ++found[egress * kEntries + onward[egress][lid].value()];
    }
    for (const PortIdx port : fabric.external_ports(node)) {
      const std::size_t egress = fabric.number_of(port).value();
      if (onward[egress] == nullptr) continue;
      std::uint16_t* const some = found.data() + egress * kEntries;
      const Place at = place(fabric.peer[port]);
      OfSwitch& counts = own_counts(at.sw);
      for (std::size_t out = 0; out < at.width; ++out) {
        std::uint16_t& all = counts.lids[at.first_count + out];
        all = static_cast<std::uint16_t>(all + some[out]);
        if (all != 0) counts.outs[at.first_word + out / 64] |= std::uint64_t{1} << (out % 64);
      }
      std::fill_n(some, kEntries, std::uint16_t{0});
    }
  }
}

bool operator==(const TurnCounts& a, const TurnCounts& b) {
  return std::ranges::equal(a.by_switch_, b.by_switch_, [](const auto& one, const auto& other) {
    return one.counts == other.counts || one.counts->lids == other.counts->lids;
  });
}

VlTurnCounts::VlTurnCounts(const Fabric& fabric, unsigned vls, bool changes)
    : vls_(vls), changes_(changes) {
  for (const NodeIdx node : fabric.switch_node) {
    const std::size_t width = fabric.num_ports(node) + 1;
    width_.push_back(static_cast<std::uint16_t>(width));
    const std::size_t size = width * width * vls * (changes ? vls : 1);
    // Switches of one size share their zeros.
    const bool alike = !by_switch_.empty() && by_switch_.back()->size() == size;
    by_switch_.push_back(alike ? by_switch_.back() : std::make_shared<const Counts>(size, 0u));
  }
}

std::uint64_t VlTurnCounts::measure(const Fabric& fabric, unsigned vls, bool changes) {
  std::uint64_t turns = 0;
  for (const NodeIdx node : fabric.switch_node) {
    const std::uint64_t width = fabric.num_ports(node) + 1;
    turns += width * width;
  }
  return turns * vls * (changes ? vls : 1) * sizeof(std::uint32_t);
}

void VlTurnCounts::Writer::finish() {
  for (const SwitchIdx sw : counts_.by_switch_.indices()) {
    std::vector<std::uint32_t>& own = own_[sw.value()];
    if (!own.empty()) counts_.by_switch_[sw] = std::make_shared<const Counts>(std::move(own));
    own.clear();
  }
}

bool operator==(const VlTurnCounts& a, const VlTurnCounts& b) {
  if (a.vls_ != b.vls_ || a.changes_ != b.changes_ || a.width_ != b.width_) return false;
  return std::ranges::equal(a.by_switch_, b.by_switch_, [](const auto& one, const auto& other) {
    return *one == *other;
  });
}

namespace {

/// Channels that lead up, by the ranks of their ends.
class ChannelRanks {
 public:
  ChannelRanks(const Fabric& fabric, const IndexVector<SwitchIdx, std::uint32_t>& rank)
      : fabric_(fabric),
        rank_(rank),
        up_(fabric.switch_count(), std::array<std::uint64_t, kWords>{}) {
    for (const SwitchIdx sw : rank.indices()) {
      for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
        const unsigned number = fabric.number_of(port).value();
        if (leads_up(port)) up_[sw][number / 64] |= std::uint64_t{1} << (number % 64);
      }
    }
  }

  [[nodiscard]] bool leads_down(PortIdx out) const {
    return enters_switch(fabric_, out) && is_above(out, fabric_.peer[out]);
  }

  [[nodiscard]] bool leads_up(SwitchIdx sw, PortNum out) const {
    return (up_[sw][out.value() / 64] >> (out.value() % 64) & 1) != 0;
  }

  [[nodiscard]] bool leads_up(SwitchIdx sw, std::span<const std::uint64_t> outs) const {
    for (std::size_t word = 0; word < outs.size(); ++word) {
      if ((outs[word] & up_[sw][word]) != 0) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool leads_up(PortIdx out) const {
    return enters_switch(fabric_, out) && is_above(fabric_.peer[out], out);
  }

  [[nodiscard]] bool is_above(PortIdx a, PortIdx b) const {
    const std::uint32_t of_a = rank_[fabric_.switch_at(a)];
    const std::uint32_t of_b = rank_[fabric_.switch_at(b)];
    if (of_a != of_b) return of_a < of_b;
    return fabric_.node_guid[fabric_.node_of[a]] < fabric_.node_guid[fabric_.node_of[b]];
  }

  const Fabric& fabric_;
  const IndexVector<SwitchIdx, std::uint32_t>& rank_;
  IndexVector<SwitchIdx, std::array<std::uint64_t, kWords>> up_;
};

}  // namespace

bool obeys_ranks(const Fabric& fabric,
                 const LidMap& lids,
                 const RoutingTables& routing,
                 const TurnCounts* turns) {
  const ChannelRanks channels{fabric, routing.orientation.rank};
  const ForwardingTables& lft = routing.lft;
  std::vector<Lid> looked_at = list_orphaned_lids(lft, lids);
  if (turns == nullptr) {
    looked_at.clear();
    for (unsigned value = 1; value <= lft.top().value(); ++value)
      looked_at.push_back(Lid{static_cast<std::uint16_t>(value)});
  }
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    for (const PortIdx out : fabric.external_ports(node)) {
      if (!channels.leads_down(out)) continue;
      const PortIdx in = fabric.peer[out];
      if (turns != nullptr && channels.leads_up(fabric.switch_at(in), turns->outs(in)))
        return false;
    }
    for (const Lid lid : looked_at) {
      const PortNum number = lft.route(sw, lid);
      if (number == PortNum{0} || number.value() > fabric.num_ports(node)) continue;
      const PortIdx out = fabric.port_of(node, number);
      if (!channels.leads_down(out)) continue;
      const SwitchIdx below = fabric.switch_at(fabric.peer[out]);
      if (channels.leads_up(below, lft.route(below, lid))) return false;
    }
  }
  return true;
}

}  // namespace smd
