#include "smd/routing/verify/walk.h"

#include <algorithm>

namespace smd {

Walk::Walk(const Fabric& fabric, const ForwardingTables& tables)
    : fabric_(fabric),
      tables_(tables),
      switches_(static_cast<std::uint32_t>(fabric.switch_count())),
      egress_columns_(switches_ * kColumns, kNoRoute),
      columns_(switches_ * kColumns),
      first_lid_(~std::size_t{0}),
      outcome_(switches_, kUnknown) {
  for (const NodeIdx node : fabric.switch_node) {
    first_.push_back(static_cast<std::uint32_t>(leads_to_.size()));
    leads_to_.push_back(to_end());
    peer_port_.push_back(fabric.port_of(node, PortNum{0}));
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      peer_port_.push_back(peer);
      if (peer == kNone<PortIdx>) {
        leads_to_.push_back(to_nothing());
        continue;
      }
      const SwitchIdx sw = fabric.switch_at(peer);
      leads_to_.push_back(sw == kNone<SwitchIdx> ? to_end() : sw.value());
    }
  }
  first_.push_back(static_cast<std::uint32_t>(leads_to_.size()));
}

void Walk::load_columns(std::size_t first_lid) {
  first_lid_ = first_lid;
  const std::size_t width = tables_.blocks() * kLftBlockSize;
  for (std::uint32_t sw = 0; sw < switches_; ++sw) {
    const std::uint32_t* const leads_to = leads_to_.data() + first_[sw];
    const std::uint32_t ports = first_[sw + 1] - first_[sw];
    const bool known = sw < tables_.switches() && first_lid < width;
    const PortNum* const row = known ? tables_.row(SwitchIdx{sw}).data() + first_lid : nullptr;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const PortNum egress = known ? row[i] : kNoRoute;
      egress_columns_[i * switches_ + sw] = egress;
      columns_[i * switches_ + sw] =
          egress.value() < ports ? leads_to[egress.value()] : to_no_port();
    }
  }
}

void Walk::follow(Lid lid, PortIdx owner) {
  const std::size_t column = lid.value() % kColumns;
  if (lid.value() - column != first_lid_) load_columns(lid.value() - column);
  egress_ = egress_columns_.data() + column * switches_;
  onward_ = columns_.data() + column * switches_;
  std::ranges::fill(outcome_, kUnknown);
  for (std::uint32_t sw = 0; sw < switches_; ++sw) {
    if (outcome_[sw] != kUnknown) continue;
    // Most switches send on to one that is known by then.
    const std::uint32_t onward = onward_[sw];
    const std::uint32_t known = onward < switches_ ? outcome_[onward] : kUnknown;
    outcome_[sw] = known < kWalking ? known + 1 : chase(sw, owner);
  }
}

// Every switch on a path has the result of its end.
std::uint32_t Walk::chase(std::uint32_t sw, PortIdx owner) {
  std::uint32_t outcome = kUnknown;
  while (outcome == kUnknown) {
    outcome_[sw] = kWalking;
    path_.push_back(sw);
    const std::uint32_t onward = onward_[sw];
    if (onward >= switches_) {
      outcome = finish(sw, owner);
      break;
    }
    sw = onward;
    outcome = outcome_[sw];
    if (outcome == kWalking) {
      outcome = static_cast<std::uint32_t>(PathResult::Loop) << kResultShift;
    } else if (outcome != kUnknown) {
      ++outcome;
    }
  }
  for (; !path_.empty(); path_.pop_back()) outcome_[path_.back()] = outcome++;
  return outcome - 1;
}

std::uint32_t Walk::finish(std::uint32_t sw, PortIdx owner) const {
  PathResult result = PathResult::NoRoute;
  if (onward_[sw] == to_nothing()) result = PathResult::PortDown;
  if (onward_[sw] == to_end())
    result = peer_port(SwitchIdx{sw}) == owner ? PathResult::Arrives : PathResult::WrongPort;
  return static_cast<std::uint32_t>(result) << kResultShift;
}

SwitchIdx Walk::end(SwitchIdx sw) const {
  std::vector<char> met(switches_, 0);
  while (!met[sw.value()]) {
    met[sw.value()] = 1;
    const SwitchIdx onward = next(sw);
    if (onward == kNone<SwitchIdx>) break;
    sw = onward;
  }
  return sw;
}

}  // namespace smd
