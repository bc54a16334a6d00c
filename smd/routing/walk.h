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

  /// Fills what the accessors below give. Requires: lid is owned by `owner`.
  void follow(Lid lid, PortIdx owner);

  [[nodiscard]] Fate fate(SwitchIdx sw) const { return fate_[sw]; }

  /// Switch-to-switch links that follow. Requires: fate(sw) == Arrives.
  [[nodiscard]] std::uint32_t hops(SwitchIdx sw) const { return hops_[sw]; }

  /// Where the walk from here ends, or the first switch it meets twice.
  [[nodiscard]] SwitchIdx end(SwitchIdx sw) const { return end_[sw]; }

  /// Port that the entry names, and the port of another switch it leads to (kNone: to none).
  [[nodiscard]] PortNum exit(SwitchIdx sw) const { return exit_[sw]; }

  [[nodiscard]] PortIdx entered(SwitchIdx sw) const { return entered_[sw]; }

 private:
  struct Step {
    Fate fate;  // Unknown: goes on
    PortIdx entered;
  };

  [[nodiscard]] Step take(SwitchIdx sw, PortNum exit, PortIdx owner) const;

  const Fabric& fabric_;
  const ForwardingTables& tables_;
  IndexVector<PortIdx, SwitchIdx> switch_at_;  // kNone on hosts
  IndexVector<SwitchIdx, Fate> fate_;
  IndexVector<SwitchIdx, std::uint32_t> hops_;
  IndexVector<SwitchIdx, SwitchIdx> end_;
  IndexVector<SwitchIdx, PortNum> exit_;
  IndexVector<SwitchIdx, PortIdx> entered_;
  std::vector<SwitchIdx> path_;
};

}  // namespace smd
