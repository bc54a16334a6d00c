// The bare graph that shapes are recognised in: who is cabled to whom, parallel cables counted
// once. Nothing here depends on the numbers of ports or on the order in which nodes were found.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

/// One side of a link, which is all the cables between two switches.
struct Neighbour {
  SwitchIdx to;
  std::uint32_t link;  // the same number from both sides
};

class NeighbourGraph {
 public:
  explicit NeighbourGraph(const Fabric& fabric);

  [[nodiscard]] std::size_t switches() const { return first_.size() - 1; }

  [[nodiscard]] std::size_t links() const { return links_; }

  /// By GUID.
  [[nodiscard]] std::span<const Neighbour> around(SwitchIdx sw) const {
    return {neighbours_.data() + first_[sw.value()], neighbours_.data() + first_[sw.value() + 1]};
  }

  /// Number of around(sw).front() among all sides of links.
  [[nodiscard]] std::uint32_t first(SwitchIdx sw) const { return first_[sw.value()]; }

  [[nodiscard]] std::size_t sides() const { return neighbours_.size(); }

  /// Ports of the cables on that side, ascending.
  [[nodiscard]] std::span<const PortNum> ports(std::uint32_t side) const {
    return {ports_.data() + first_port_[side], ports_.data() + first_port_[side + 1]};
  }

  /// Place of the switch's GUID among those of all switches.
  [[nodiscard]] std::uint32_t rank(SwitchIdx sw) const { return rank_[sw]; }

  [[nodiscard]] const std::vector<SwitchIdx>& by_guid() const { return by_guid_; }

  /// Place of `to` among around(sw).
  [[nodiscard]] std::optional<std::uint32_t> find(SwitchIdx sw, SwitchIdx to) const;

  /// A switch that cables do not connect with the first one; kNone when there is none.
  [[nodiscard]] SwitchIdx find_island() const;

 private:
  IndexVector<SwitchIdx, std::uint32_t> rank_;
  std::vector<SwitchIdx> by_guid_;
  std::vector<std::uint32_t> first_;  // switches + 1 entries
  std::vector<Neighbour> neighbours_;
  std::vector<std::uint32_t> first_port_;  // sides + 1 entries
  std::vector<PortNum> ports_;
  std::size_t links_ = 0;
};

/// "sw-0-3", by description where there is one, else by GUID.
[[nodiscard]] std::string print_switch(const Fabric& fabric, SwitchIdx sw);

}  // namespace smd
