// The trees of all groups, of the shape that is asked for where the fabric allows it: what a
// manager writes into switches, and what a dry run or a simulated network asks for, come from here.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/multicast/forest.h"
#include "smd/multicast/label_paths.h"
#include "smd/multicast/tree.h"
#include "smd/routing/tables.h"

namespace smd {

class GroupTrees {
 public:
  /// From now on trees are of this snapshot and go with these routes.
  void adopt(std::shared_ptr<const Fabric> fabric,
             const LidMap& lids,
             const RoutingTables& routing,
             TreeShape wanted);

  /// Nothing is kept but the labels of the switches.
  void clear();

  struct Outcome {
    std::vector<SwitchMask> masks;  // ascending by switch
    std::size_t stranded = 0;       // members that no tree could take in
    std::string fault;              // not empty: the tree is wrong, and must not be written
  };

  /// The tree for these members, made anew or from the one before, and verified. That some do not
  /// send matters to shapes that look at it, where one member alone does and does not receive.
  /// Requires: adopt(), a multicast LID; members ascending by port.
  [[nodiscard]] Outcome lay(Lid mlid, std::vector<TreeMember> members);

  void erase(Lid mlid);

  /// The member for whom alone the tree was laid; kNone: what anybody sends comes to all.
  [[nodiscard]] PortIdx sender_of(Lid mlid) const {
    const auto found = sender_.find(mlid);
    return found == sender_.end() ? kNone<PortIdx> : found->second;
  }

  /// Null where the MLID has none.
  [[nodiscard]] const Tree* find(Lid mlid) const {
    return by_labels_ ? paths_.find(mlid) : forest_.find(mlid);
  }

  /// No packet is copied up again after it came down. By switch; up leads to the smaller rank, then
  /// to the smaller GUID.
  [[nodiscard]] const IndexVector<SwitchIdx, std::uint32_t>& ranks() const {
    return by_labels_ ? paths_.labels() : ranks_.rank;
  }

  /// Unicast packets obey the same ranks: together they close no credit loop.
  [[nodiscard]] bool follows_unicast() const { return !by_labels_ && ranks_.of_unicast; }

  /// Why trees are not of the shape that is asked for; empty: they are.
  [[nodiscard]] const std::string& shape_refused() const { return shape_refused_; }

 private:
  std::shared_ptr<const Fabric> fabric_;
  Forest forest_;
  LabelPaths paths_;
  bool by_labels_ = false;         // trees are those of paths_
  bool by_sender_ = false;         // where there is only one
  std::map<Lid, PortIdx> sender_;  // of those that have one
  TreeRanks ranks_;
  std::string shape_refused_;
};

}  // namespace smd
