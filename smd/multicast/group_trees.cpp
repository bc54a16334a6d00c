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
  const bool wants_labels = wanted != TreeShape::UpDown && wanted != TreeShape::BySender;
  by_labels_ = wants_labels && paths_.adopt(fabric_, wanted);
  by_sender_ = wanted == TreeShape::BySender || (by_labels_ && wanted == TreeShape::MultiPath);
  shape_refused_ = wants_labels ? paths_.refusal() : std::string();
  sender_.clear();
}

void GroupTrees::clear() {
  forest_ = {};
  ranks_ = {};
  sender_.clear();
}

GroupTrees::Outcome GroupTrees::lay(Lid mlid, std::vector<TreeMember> members) {
  if (members.empty()) {
    erase(mlid);
    return {};
  }
  const auto update = [&]() -> const Tree& {
    return by_labels_ ? paths_.update(mlid, members) : forest_.update(mlid, members);
  };
  const auto let_all_send = [&] {
    for (TreeMember& member : members) member.sends = true;
  };
  PortIdx sender = by_sender_ ? find_only_sender(members) : kNone<PortIdx>;
  if (sender == kNone<PortIdx>) let_all_send();
  const Tree* tree = &update();
  const auto is_stranded = [&](PortIdx port) {
    return std::ranges::binary_search(tree->stranded, port);
  };
  if (sender != kNone<PortIdx> && is_stranded(sender)) {
    sender = kNone<PortIdx>;
    let_all_send();
    tree = &update();
  }
  sender_.erase(mlid);
  if (sender != kNone<PortIdx>) sender_[mlid] = sender;
  Outcome laid{.masks = {}, .stranded = tree->stranded.size(), .fault = {}};
  std::erase_if(members, [&](const TreeMember& member) { return is_stranded(member.port); });
  laid.masks = compute_masks(*fabric_, *tree, members);
  laid.fault = find_tree_fault(*fabric_, laid.masks, members);
  if (laid.fault.empty() && turns_up(*fabric_, laid.masks, ranks()))
    laid.fault = "packets turn up again";
  return laid;
}

void GroupTrees::erase(Lid mlid) {
  forest_.erase(mlid);
  paths_.erase(mlid);
  sender_.erase(mlid);
}

}  // namespace smd
