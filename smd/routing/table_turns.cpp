#include "smd/routing/table_turns.h"

#include <algorithm>
#include <array>

namespace smd {
namespace {

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

template <class Take>
std::vector<std::uint16_t> find_owned(const LidMap& lids,
                                      const ForwardingTables& tables,
                                      Take&& take) {
  std::vector<std::uint16_t> owned;
  const std::size_t end = std::min(lids.owner.size(), tables.blocks() * kLftBlockSize);
  for (std::size_t lid = 0; lid < end; ++lid) {
    if (lids.owner[lid] != kNone<PortIdx> && take(lids.owner[lid]))
      owned.push_back(static_cast<std::uint16_t>(lid));
  }
  return owned;
}

// The switch and its port that the entry leads to; kNone where it leads to none.
struct NextHop {
  SwitchIdx sw = kNone<SwitchIdx>;
  PortIdx entered = kNone<PortIdx>;
};

NextHop follow(const Fabric& fabric, const ForwardingTables& tables, SwitchIdx sw, Lid lid) {
  const NodeIdx node = fabric.switch_node[sw];
  if (sw.value() >= tables.switches()) return {};
  const PortNum egress = tables.route(sw, lid);
  if (egress.value() == 0 || egress.value() > fabric.num_ports(node)) return {};
  const PortIdx far = fabric.peer[fabric.port_of(node, egress)];
  if (far == kNone<PortIdx>) return {};
  return {fabric.switch_of[fabric.node_of[far]], far};
}

// On the walks from switches where somebody asks.
class AskedTurns {
 public:
  AskedTurns(const Fabric& fabric, const ForwardingTables& tables)
      : fabric_(fabric), tables_(tables), asks_(find_asking_switches(fabric)) {}

  void add(Lid lid, ChannelGraph& graph) {
    met_.assign(fabric_.switch_count(), 0);
    for (const SwitchIdx from : asks_.indices()) {
      SwitchIdx sw = asks_[from] ? from : kNone<SwitchIdx>;
      while (sw != kNone<SwitchIdx> && !met_[sw]) {
        met_[sw] = 1;
        const NextHop next = follow(fabric_, tables_, sw, lid);
        sw = next.sw;
        if (sw == kNone<SwitchIdx> || sw.value() >= tables_.switches()) break;
        const unsigned out = tables_.route(sw, lid).value();
        if (out <= fabric_.num_ports(fabric_.switch_node[sw])) graph.add(next.entered, 0, out, 0);
      }
    }
  }

 private:
  const Fabric& fabric_;
  const ForwardingTables& tables_;
  IndexVector<SwitchIdx, char> asks_;
  IndexVector<SwitchIdx, char> met_;
};

}  // namespace

bool is_base_port0(const Fabric& fabric, PortIdx port) {
  const SwitchIdx sw = fabric.switch_of[fabric.node_of[port]];
  return sw != kNone<SwitchIdx> && !fabric.switch_info[sw].enhanced_port0;
}

IndexVector<SwitchIdx, char> find_asking_switches(const Fabric& fabric) {
  IndexVector<SwitchIdx, char> asks;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    bool any = fabric.switch_info[sw].enhanced_port0;
    for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
      const PortIdx far = fabric.peer[port];
      any = any || (far != kNone<PortIdx> && !fabric.is_switch(fabric.node_of[far]));
    }
    asks.push_back(any);
  }
  return asks;
}

void add_table_turns(const Fabric& fabric,
                     const LidMap& lids,
                     const ForwardingTables& tables,
                     ChannelGraph& graph,
                     Pairs pairs) {
  const auto from_everywhere = [&](PortIdx owner) {
    return pairs == Pairs::Every || !is_base_port0(fabric, owner);
  };
  if (pairs == Pairs::Data) {
    AskedTurns asked{fabric, tables};
    for (const std::uint16_t lid :
         find_owned(lids, tables, [&](PortIdx owner) { return is_base_port0(fabric, owner); }))
      asked.add(Lid{lid}, graph);
  }
  const std::vector<std::uint16_t> owned = find_owned(lids, tables, from_everywhere);
  const std::size_t switches = std::min(fabric.switch_count(), tables.switches());
  std::array<const PortNum*, kEntries> onward{};           // by exit: the next switch's entries
  std::vector<std::uint64_t> turns(kEntries * kWords, 0);  // by exit: what the next one exits by
  for (std::uint32_t sw = 0; sw < switches; ++sw) {
    const NodeIdx node = fabric.switch_node[SwitchIdx{sw}];
    const PortNum* const own = tables.row(SwitchIdx{sw}).data();
    // Exits that lead to no switch get turns too, which nobody takes: no branch in the inner loop.
    onward.fill(own);
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx far = fabric.peer[port];
      if (far == kNone<PortIdx>) continue;
      const SwitchIdx next = fabric.switch_of[fabric.node_of[far]];
      if (next != kNone<SwitchIdx> && next.value() < switches)
        onward[fabric.number_of(port).value()] = tables.row(next).data();
    }
    for (const std::uint16_t lid : owned) {
      const std::size_t exit = own[lid].value();
      const std::size_t then = onward[exit][lid].value();
      turns[exit * kWords + then / 64] |= std::uint64_t{1} << (then % 64);
    }
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx far = fabric.peer[port];
      if (far == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[far])) continue;
      const auto outs = std::span{turns}.subspan(fabric.number_of(port).value() * kWords, kWords);
      keep_ports(outs, fabric.num_ports(fabric.node_of[far]));
      graph.add_all(far, outs);
    }
    std::ranges::fill(turns, 0);
  }
}

}  // namespace smd
