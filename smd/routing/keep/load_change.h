// What changed entries do to the loads of channels, without counting everything again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/keep/entries.h"
#include "smd/routing/keep/port_changes.h"

namespace smd {

/// Of what LoadRecord::by_edge counts.
[[nodiscard]] std::uint64_t compute_load_basis(const IndexVector<SwitchIdx, Guid>& guids,
                                               const Targets& targets,
                                               const std::vector<Destination>& destinations);

class LoadChange {
 public:
  struct Side {
    const SwitchGraph& graph;
    const ForwardingTables& tables;
  };

  /// All outlive it. `sources`: paths that begin at each switch, now and before.
  LoadChange(Side before,
             Side now,
             const PortChanges& changes,
             const IndexVector<SwitchIdx, std::uint32_t>& sources,
             const std::vector<Destination>& destinations);

  /// No port leads to another switch port than before: entries that stay mean what they meant.
  [[nodiscard]] bool is_known() const;

  /// By edge of now. `load`: by edge as it was. `changed`: every entry that may differ; sorted.
  /// Requires: is_known(), and every path over every link counts what its LID draws.
  [[nodiscard]] std::vector<std::uint64_t> apply(std::vector<std::uint64_t> load,
                                                 std::span<const Entries::Change> changed);

 private:
  static constexpr std::uint32_t kNoEdge = 0xffffffff;
  using ByPort = std::vector<std::uint32_t>;  // 256 per switch

  static ByPort list_by_port(const SwitchGraph& graph);

  /// Edges from the switch to the last one; nothing where entries do not lead there.
  void follow(const Side& side, const ByPort& by_port, SwitchIdx from, SwitchIdx last, Lid lid);
  [[nodiscard]] std::uint64_t count_own(SwitchIdx sw, Lid lid) const;
  void move_paths(Lid lid, SwitchIdx sw);

  Side before_, now_;
  const PortChanges& changes_;
  const IndexVector<SwitchIdx, std::uint32_t>& sources_;
  const std::vector<Destination>& destinations_;
  ByPort by_port_before_, by_port_;
  std::vector<std::uint64_t> left_, taken_;  // by edge as it was; by edge of now
  IndexVector<SwitchIdx, char> differs_;     // the entry of the LID at hand
  std::vector<std::uint32_t> path_;
};

}  // namespace smd
