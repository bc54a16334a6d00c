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

std::vector<std::uint16_t> find_owned(const LidMap& lids, const ForwardingTables& tables) {
  std::vector<std::uint16_t> owned;
  const std::size_t end = std::min(lids.owner.size(), tables.blocks() * kLftBlockSize);
  for (std::size_t lid = 0; lid < end; ++lid) {
    if (lids.owner[lid] != kNone<PortIdx>) owned.push_back(static_cast<std::uint16_t>(lid));
  }
  return owned;
}

}  // namespace

void add_table_turns(const Fabric& fabric,
                     const LidMap& lids,
                     const ForwardingTables& tables,
                     ChannelGraph& graph) {
  const std::vector<std::uint16_t> owned = find_owned(lids, tables);
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
