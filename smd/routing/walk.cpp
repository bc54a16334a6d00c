#include "smd/routing/walk.h"

namespace smd {

Walk::Walk(const Fabric& fabric, const ForwardingTables& tables)
    : fabric_(fabric),
      tables_(tables),
      switch_at_(fabric.port_count(), kNone<SwitchIdx>),
      fate_(fabric.switch_count()),
      hops_(fabric.switch_count()),
      end_(fabric.switch_count()),
      exit_(fabric.switch_count()),
      entered_(fabric.switch_count()) {
  for (const PortIdx port : fabric.peer.indices())
    switch_at_[port] = fabric.switch_of[fabric.node_of[port]];
}

Walk::Step Walk::take(SwitchIdx sw, PortNum exit, PortIdx owner) const {
  const NodeIdx node = fabric_.switch_node[sw];
  if (exit == kNoRoute || exit.value() > fabric_.num_ports(node))
    return {Fate::NoRoute, kNone<PortIdx>};
  const PortIdx out = fabric_.port_of(node, exit);
  if (exit == PortNum{0}) return {out == owner ? Fate::Arrives : Fate::WrongPort, kNone<PortIdx>};
  const PortIdx far = fabric_.peer[out];
  if (far == kNone<PortIdx>) return {Fate::PortDown, far};
  if (switch_at_[far] == kNone<SwitchIdx>)
    return {far == owner ? Fate::Arrives : Fate::WrongPort, kNone<PortIdx>};
  return {Fate::Unknown, far};
}

void Walk::follow(Lid lid, PortIdx owner) {
  const bool in_tables = lid.value() < tables_.blocks() * kLftBlockSize;
  for (const SwitchIdx sw : fate_.indices()) {
    exit_[sw] = in_tables && sw.value() < tables_.switches() ? tables_.route(sw, lid) : kNoRoute;
    const Step step = take(sw, exit_[sw], owner);
    fate_[sw] = step.fate;
    entered_[sw] = step.entered;
    hops_[sw] = 0;
    end_[sw] = sw;
  }
  for (const SwitchIdx start : fate_.indices()) {
    if (fate_[start] != Fate::Unknown) continue;
    SwitchIdx sw = start;
    path_.clear();
    while (fate_[sw] == Fate::Unknown) {
      fate_[sw] = Fate::Walking;
      path_.push_back(sw);
      sw = switch_at_[entered_[sw]];
    }
    // Everybody on the way shares the fate of where it ends.
    const bool met_itself = fate_[sw] == Fate::Walking;
    const Fate fate = met_itself ? Fate::Loop : fate_[sw];
    const SwitchIdx end = met_itself ? sw : end_[sw];
    std::uint32_t hops = met_itself ? 0 : hops_[sw];
    for (; !path_.empty(); path_.pop_back()) {
      fate_[path_.back()] = fate;
      end_[path_.back()] = end;
      hops_[path_.back()] = ++hops;
    }
  }
}

}  // namespace smd
