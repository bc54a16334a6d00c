// Follows the tables towards one LID from every switch at once. For verification only: reads the
// raw snapshot and shares nothing with the engines.
#pragma once

#include <vector>

#include "smd/routing/tables.h"

namespace smd {

enum class Fate : std::uint8_t {
  Unknown,
  Walking,  // on the walk under way
  Arrives,
  NoRoute,    // entry 255, or a port that the switch does not have
  PortDown,   // nothing at the other end
  WrongPort,  // handed to a host, or to the switch itself, that does not own the LID
  Loop,
};

class Walk {
 public:
  Walk(const Fabric& fabric, const ForwardingTables& tables);

  /// Fills what the accessors below give. Requires: lid is owned by `owner`. Fast for LIDs of the
  /// same table block in a row.
  void follow(Lid lid, PortIdx owner);

  [[nodiscard]] Fate fate(SwitchIdx sw) const { return fate_[sw]; }

  /// Switch-to-switch links that follow. Requires: fate(sw) == Arrives.
  [[nodiscard]] std::uint32_t hops(SwitchIdx sw) const { return hops_[sw]; }

  /// Where the walk from here ends, or a switch that it meets twice.
  [[nodiscard]] SwitchIdx end(SwitchIdx sw) const;

  /// Port that the entry names, and the port of another switch it leads to (kNone: to none).
  [[nodiscard]] PortNum exit(SwitchIdx sw) const { return exits_[sw.value()]; }

  [[nodiscard]] PortIdx entered(SwitchIdx sw) const {
    return far_[sw].sw == kNone<SwitchIdx> ? kNone<PortIdx> : far_[sw].port;
  }

  /// The switch that the entry leads to; kNone: to none.
  [[nodiscard]] SwitchIdx next(SwitchIdx sw) const { return far_[sw].sw; }

 private:
  // What a port leads to; port 0 leads to itself.
  struct Far {
    SwitchIdx sw = kNone<SwitchIdx>;  // kNone: no switch
    PortIdx port = kNone<PortIdx>;    // kNone: the port is down
  };

  /// Null: the switch has no such port.
  [[nodiscard]] const Far* find_far(SwitchIdx sw, PortNum port) const {
    const std::uint32_t at = first_far_[sw.value()] + port.value();
    return at < first_far_[sw.value() + 1] ? &far_of_port_[at] : nullptr;
  }

  [[nodiscard]] Fate leave(SwitchIdx sw, PortIdx owner);
  void load_block(std::size_t block);

  const Fabric& fabric_;
  const ForwardingTables& tables_;
  std::vector<std::uint32_t> first_far_;  // by switch, one more than there are
  std::vector<Far> far_of_port_;
  std::vector<PortNum> columns_;  // entries of one block, LID by LID
  std::size_t block_;
  const PortNum* exits_ = nullptr;   // the column of the LID, by switch
  IndexVector<SwitchIdx, Far> far_;  // of the entry
  IndexVector<SwitchIdx, Fate> fate_;
  IndexVector<SwitchIdx, std::uint32_t> hops_;
  std::vector<SwitchIdx> path_;
};

}  // namespace smd
