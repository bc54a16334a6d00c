// Multicast along the labels of a Hamiltonian path: all switches of a group stand on one path whose
// labels rise all the way. Packets run up it and down it from wherever they are sent, and fork
// nowhere but to hosts; so nobody waits for a channel with a lower label while he holds one that
// rises, nor the other way round. Unicast routes of `hamiltonian` keep the same order.
//
//   PathShared  every label from the lowest member's to the highest's
//   DualPath    from one member the hop of the largest label that does not pass the next member's,
//               up to the highest and, mirrored, down to the lowest (Lin, McKinley and Ni, 1994).
//               The tables of switches do not look at the source, so a group has one such path:
//               from where its only sender stands, else from its middle member
//   MultiPath   where one member alone sends, and does not receive: a path by every neighbour of
//               its switch, each member by the neighbour from which its way is shortest, of equals
//               the one with the nearest label. Switches do not look at the port that a packet
//               came in by either, so where two paths would meet, that side of the labels has one
//               as above. Else like DualPath
//
// A switch without room for the MLID ends the path; members beyond it are stranded.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smd/ib/types.h"
#include "smd/multicast/tree.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

class LabelPaths {
 public:
  /// From now on paths are of this snapshot; its labels are those of engine `hamiltonian`, and
  /// those of before while switches and links are the same. False where there is no path: refusal()
  /// says why, and there is nothing to update. Requires: a shape of this file.
  bool adopt(std::shared_ptr<const Fabric> fabric, TreeShape shape);

  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// The path for these members, as a tree whose root is its lowest label, or the sender's switch
  /// where there are several paths. Requires: adopt() that was true, and a multicast LID.
  const Tree& update(Lid mlid, const std::vector<TreeMember>& members);

  void erase(Lid mlid) { trees_.erase(mlid); }

  /// Null when there is none.
  [[nodiscard]] const Tree* find(Lid mlid) const;

  /// By switch. Up leads to the smaller.
  [[nodiscard]] const IndexVector<SwitchIdx, std::uint32_t>& labels() const { return label_; }

 private:
  using Links = std::vector<std::pair<Guid, Guid>>;

  [[nodiscard]] bool keep_labels();
  [[nodiscard]] std::uint32_t next_up(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::uint32_t next_down(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::vector<std::uint32_t> walk(std::uint32_t start,
                                                const std::vector<std::uint32_t>& stops,
                                                Lid mlid) const;
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> walk_by_neighbours(
      std::uint32_t start, const std::vector<std::uint32_t>& stops, Lid mlid) const;
  [[nodiscard]] bool has_room(std::uint32_t label, Lid mlid) const;
  [[nodiscard]] PortIdx port_between(std::uint32_t from, std::uint32_t to, Lid mlid) const;

  std::shared_ptr<const Fabric> fabric_;
  std::unique_ptr<NeighbourGraph> graph_;
  TreeShape shape_ = TreeShape::PathShared;
  std::vector<Guid> order_;      // switches by label
  Links links_;                  // for which that was found, or refused
  std::vector<SwitchIdx> path_;  // by label
  IndexVector<SwitchIdx, std::uint32_t> label_;
  std::string refusal_;
  std::map<Lid, Tree> trees_;
};

}  // namespace smd
