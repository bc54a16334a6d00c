#include "smd/routing/walk.h"

#include <algorithm>

namespace smd {

Walk::Walk(const Fabric& fabric, const ForwardingTables& tables)
    : fabric_(fabric),
      tables_(tables),
      columns_(fabric.switch_count() * kLftBlockSize, kNoRoute),
      block_(~std::size_t{0}),
      far_(fabric.switch_count()),
      fate_(fabric.switch_count()),
      hops_(fabric.switch_count()) {
  for (const NodeIdx node : fabric.switch_node) {
    first_far_.push_back(static_cast<std::uint32_t>(far_of_port_.size()));
    far_of_port_.push_back({.port = fabric.port_of(node, PortNum{0})});
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      const bool down = peer == kNone<PortIdx>;
      far_of_port_.push_back(
          down ? Far{} : Far{.sw = fabric.switch_of[fabric.node_of[peer]], .port = peer});
    }
  }
  first_far_.push_back(static_cast<std::uint32_t>(far_of_port_.size()));
}

void Walk::load_block(std::size_t block) {
  block_ = block;
  const std::size_t switches = fabric_.switch_count();
  std::fill(columns_.begin(), columns_.end(), kNoRoute);
  if (block >= tables_.blocks()) return;
  for (std::uint32_t sw = 0; sw < std::min(switches, tables_.switches()); ++sw) {
    const auto entries = tables_.block(SwitchIdx{sw}, block);
    for (std::size_t i = 0; i < kLftBlockSize; ++i) columns_[i * switches + sw] = entries[i];
  }
}

void Walk::follow(Lid lid, PortIdx owner) {
  if (const std::size_t block = lid.value() / kLftBlockSize; block != block_) load_block(block);
  exits_ = columns_.data() + lid.value() % kLftBlockSize * fabric_.switch_count();
  fate_.assign(fate_.size(), Fate::Unknown);
  for (const SwitchIdx start : fate_.indices()) {
    SwitchIdx sw = start;
    Fate fate = fate_[sw];
    std::uint32_t hops = 0;
    while (fate == Fate::Unknown) {
      fate_[sw] = Fate::Walking;
      path_.push_back(sw);
      fate = leave(sw, owner);
      hops = 0;
      if (fate != Fate::Unknown) break;
      sw = far_[sw].sw;
      fate = fate_[sw];
      hops = hops_[sw] + 1;
    }
    // Everybody on the way shares the fate of where it ends.
    if (fate == Fate::Walking) fate = Fate::Loop;
    for (; !path_.empty(); path_.pop_back()) {
      fate_[path_.back()] = fate;
      hops_[path_.back()] = hops++;
    }
  }
}

// Unknown when the entry leads on to a switch.
Fate Walk::leave(SwitchIdx sw, PortIdx owner) {
  const Far* const far = find_far(sw, exits_[sw.value()]);
  far_[sw] = far != nullptr ? *far : Far{};
  if (far == nullptr) return Fate::NoRoute;
  if (far->sw != kNone<SwitchIdx>) return Fate::Unknown;
  if (far->port == kNone<PortIdx>) return Fate::PortDown;
  return far->port == owner ? Fate::Arrives : Fate::WrongPort;
}

SwitchIdx Walk::end(SwitchIdx sw) const {
  std::vector<char> met(fate_.size(), 0);
  while (!met[sw.value()]) {
    met[sw.value()] = 1;
    const SwitchIdx onward = next(sw);
    if (onward == kNone<SwitchIdx>) break;
    sw = onward;
  }
  return sw;
}

}  // namespace smd
