#include <algorithm>

#include "smd/multicast/tree.h"

namespace smd {
namespace {

/// One tree with its branches numbered as they stand in it.
struct Numbered {
  Numbered(const Fabric& fabric, const Tree& tree) : parent(tree.branches.size(), kRoot) {
    for (std::uint32_t i = 0; i < tree.branches.size(); ++i) {
      const PortIdx up = tree.branches[i].up;
      if (up == kNone<PortIdx>) continue;
      parent[i] = find(tree, fabric.switch_of[fabric.node_of[fabric.peer[up]]]);
    }
    // Children before their parents: leaves are taken away one after the other.
    std::vector<std::uint32_t> children(parent.size(), 0);
    for (const std::uint32_t p : parent) {
      if (p != kRoot) ++children[p];
    }
    for (std::uint32_t i = 0; i < parent.size(); ++i) {
      if (children[i] == 0) upwards.push_back(i);
    }
    for (std::size_t at = 0; at < upwards.size(); ++at) {
      const std::uint32_t p = parent[upwards[at]];
      if (p != kRoot && --children[p] == 0) upwards.push_back(p);
    }
  }

  static std::uint32_t find(const Tree& tree, SwitchIdx sw) {
    const auto at = std::ranges::lower_bound(tree.branches, sw, {}, &Branch::sw);
    return at == tree.branches.end() || at->sw != sw
               ? kRoot
               : static_cast<std::uint32_t>(at - tree.branches.begin());
  }

  static constexpr std::uint32_t kRoot = 0xffffffff;

  std::vector<std::uint32_t> parent;   // by branch
  std::vector<std::uint32_t> upwards;  // all branches
};

}  // namespace

std::vector<SwitchMask> compute_masks(const Fabric& fabric,
                                      const Tree& tree,
                                      const std::vector<TreeMember>& members) {
  const Numbered numbered(fabric, tree);
  std::vector<SwitchMask> masks;
  masks.reserve(tree.branches.size());
  for (const Branch& branch : tree.branches) masks.push_back({branch.sw, {}});
  std::vector<std::uint32_t> below(masks.size(), 0);  // receivers at the switch or under it
  std::uint32_t all = 0;
  for (const TreeMember& member : members) {
    if (!member.receives) continue;
    const PortIdx entry = entry_of(fabric, member.port);
    if (entry == kNone<PortIdx>) continue;
    const auto at = Numbered::find(tree, fabric.switch_of[fabric.node_of[entry]]);
    if (at == Numbered::kRoot) continue;
    masks[at].ports.set(fabric.number_of(entry));
    ++below[at];
    ++all;
  }
  for (const std::uint32_t i : numbered.upwards) {
    const std::uint32_t p = numbered.parent[i];
    if (p == Numbered::kRoot) continue;
    below[p] += below[i];
    const PortIdx up = tree.branches[i].up;
    if (below[i] < all) masks[i].ports.set(fabric.number_of(up));
    if (below[i] > 0) masks[p].ports.set(fabric.number_of(fabric.peer[up]));
  }
  std::erase_if(masks, [](const SwitchMask& mask) { return !mask.ports.any(); });
  return masks;
}

}  // namespace smd
