#include "smd/multicast/group_trees.h"

#include <algorithm>
#include <utility>

#include "smd/multicast/check_tree.h"

namespace smd {

void GroupTrees::adopt(std::shared_ptr<const Fabric> fabric,
                       const LidMap& lids,
                       const RoutingTables& routing,
                       TreeShape wanted) {
  fabric_ = std::move(fabric);
  ranks_ = choose_ranks(*fabric_, lids, routing, ranks_.kept);
  forest_.adopt(fabric_, ranks_.rank);
  // Where labels cannot be had: up and down.
  by_labels_ = wanted != TreeShape::UpDown && paths_.adopt(fabric_, wanted);
  shape_refused_ = wanted == TreeShape::UpDown ? std::string() : paths_.refusal();
}

void GroupTrees::clear() {
  forest_ = {};
  ranks_ = {};
}

GroupTrees::Outcome GroupTrees::lay(Lid mlid, std::vector<TreeMember> members) {
  if (members.empty()) {
    erase(mlid);
    return {};
  }
  const Tree& tree = by_labels_ ? paths_.update(mlid, members) : forest_.update(mlid, members);
  Outcome laid{.masks = {}, .stranded = tree.stranded.size(), .fault = {}};
  std::erase_if(members, [&](const TreeMember& member) {
    return std::ranges::binary_search(tree.stranded, member.port);
  });
  laid.masks = compute_masks(*fabric_, tree, members);
  laid.fault = find_tree_fault(*fabric_, laid.masks, members);
  if (laid.fault.empty() && turns_up(*fabric_, laid.masks, ranks()))
    laid.fault = "packets turn up again";
  return laid;
}

void GroupTrees::erase(Lid mlid) {
  forest_.erase(mlid);
  paths_.erase(mlid);
}

}  // namespace smd
