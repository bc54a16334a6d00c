#include "smd/routing/channel_load.h"

namespace smd {

std::vector<PortIdx> find_channels(const Fabric& fabric) {
  std::vector<PortIdx> channels;
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx far = fabric.peer[port];
      if (far == kNone<PortIdx> || fabric.node_of[far] == node) continue;
      if (fabric.is_switch(fabric.node_of[far])) channels.push_back(port);
    }
  }
  return channels;
}

ChannelLoad::ChannelLoad(const Fabric& fabric, const ForwardingTables& tables)
    : fabric_(fabric),
      tables_(tables),
      walk_(fabric, tables),
      load_(fabric.port_count(), 0),
      passing_(fabric.switch_count(), 0) {}

std::uint64_t ChannelLoad::add_tree(Lid lid,
                                    PortIdx owner,
                                    const IndexVector<SwitchIdx, std::uint64_t>& packets) {
  walk_.follow(lid, owner);
  for (std::vector<SwitchIdx>& some : by_hops_) some.clear();
  std::uint64_t lost = 0;
  for (const SwitchIdx sw : passing_.indices()) {
    passing_[sw] = packets[sw];
    if (walk_.fate(sw) != Fate::Arrives) {
      lost += packets[sw];
      continue;
    }
    if (by_hops_.size() <= walk_.hops(sw)) by_hops_.resize(walk_.hops(sw) + 1);
    by_hops_[walk_.hops(sw)].push_back(sw);
  }
  // Farthest first: when a switch's turn comes, everything that passes it has arrived there. The
  // destination itself never leaves the last switch, so it adds to no channel.
  for (std::size_t hops = by_hops_.size(); hops-- > 1;) {
    for (const SwitchIdx sw : by_hops_[hops]) {
      load_[fabric_.port_of(fabric_.switch_node[sw], walk_.exit(sw))] += passing_[sw];
      passing_[walk_.next(sw)] += passing_[sw];
    }
  }
  return lost;
}

PortIdx ChannelLoad::find_exit(SwitchIdx sw, Lid lid) const {
  if (sw.value() >= tables_.switches() || lid.value() / kLftBlockSize >= tables_.blocks())
    return kNone<PortIdx>;
  const NodeIdx node = fabric_.switch_node[sw];
  const PortNum exit = tables_.route(sw, lid);
  return exit.value() > fabric_.num_ports(node) ? kNone<PortIdx> : fabric_.port_of(node, exit);
}

bool ChannelLoad::add_path(SwitchIdx from, Lid lid, PortIdx owner, std::uint64_t packets) {
  // Twice the same way: packets that do not arrive shall load nothing.
  for (const bool arrives : {false, true}) {
    SwitchIdx sw = from;
    for (std::size_t steps = 0;; ++steps) {
      const PortIdx exit = find_exit(sw, lid);
      if (exit == kNone<PortIdx> || steps > fabric_.switch_count()) return false;
      const bool kept = fabric_.number_of(exit) == PortNum{0};
      const PortIdx far = kept ? exit : fabric_.peer[exit];
      if (far == owner) break;
      if (kept || far == kNone<PortIdx>) return false;
      sw = fabric_.switch_of[fabric_.node_of[far]];
      if (sw == kNone<SwitchIdx>) return false;
      if (arrives) load_[exit] += packets;
    }
  }
  return true;
}

std::uint64_t ChannelLoad::find_most(SwitchIdx from, Lid lid) const {
  std::uint64_t most = 0;
  for (SwitchIdx sw = from; sw != kNone<SwitchIdx>;) {
    const PortIdx exit = find_exit(sw, lid);
    const PortIdx far = fabric_.number_of(exit) == PortNum{0} ? kNone<PortIdx> : fabric_.peer[exit];
    sw = far == kNone<PortIdx> ? kNone<SwitchIdx> : fabric_.switch_of[fabric_.node_of[far]];
    if (sw != kNone<SwitchIdx>) most = std::max(most, load_[exit]);
  }
  return most;
}

void ChannelLoad::clear() { load_.assign(load_.size(), 0); }

}  // namespace smd
