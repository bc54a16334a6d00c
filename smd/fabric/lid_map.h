// Which LIDs belong to which end port: the desired addressing of a snapshot, made by policy/, read
// by routing/.
#pragma once

#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

struct LidMap {
  IndexVector<PortIdx, Lid> base;          // kUnassignedLid for ports that take none
  IndexVector<PortIdx, std::uint8_t> lmc;  // 2^lmc LIDs from base
  std::vector<PortIdx> owner;              // by LID value, 0 … top; kNone for LIDs nobody has
  Lid top = kUnassignedLid;                // highest LID in use

  [[nodiscard]] PortIdx owner_of(Lid lid) const {
    return lid.value() < owner.size() ? owner[lid.value()] : kNone<PortIdx>;
  }

  friend bool operator==(const LidMap&, const LidMap&) = default;
};

/// An empty map for `fabric`, to be filled with set_lid().
[[nodiscard]] LidMap make_lid_map(const Fabric& fabric);

/// Gives port the LIDs base … base + 2^lmc - 1. Requires: they are free, and unicast.
void set_lid(LidMap& map, PortIdx port, Lid base, std::uint8_t lmc);

}  // namespace smd
