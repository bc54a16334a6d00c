#include "smd/multicast/mft_plan.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "smd/multicast/check_tree.h"
#include "smd/multicast/subnet_limits.h"

namespace smd {
namespace {

/// The blocks that goals are in, ascending.
std::vector<std::uint16_t> blocks_of(const MftGoals& goals) {
  std::vector<std::uint16_t> blocks;
  for (const auto& [mlid, masks] : goals) {
    const auto block = static_cast<std::uint16_t>(place_of(mlid) / kMftBlockSize);
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  }
  return blocks;
}

/// Every position of the block in every switch that has room for it.
template <class Visit>
void each_cell(const Fabric& fabric, std::uint16_t block, Visit visit) {
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (fabric.switch_info[sw].multicast_fdb_cap <= block * kMftBlockSize) continue;
    const NodeIdx node = fabric.switch_node[sw];
    for (unsigned position = 0; position <= fabric.num_ports(node) / kPortsPerPosition; ++position)
      visit(sw, fabric.node_guid[node], MftModifier{block, static_cast<std::uint8_t>(position)});
  }
}

/// Masks of the switches where there are any, as they come in: ascending.
void put(std::vector<SwitchMask>& masks, SwitchIdx sw, unsigned position, std::uint16_t ports) {
  if (ports == 0) return;
  if (masks.empty() || masks.back().sw != sw) masks.push_back({sw, {}});
  masks.back().ports.add(position, ports);
}

PortMask mask_at(const std::vector<SwitchMask>& masks, SwitchIdx sw) {
  const auto found = std::ranges::lower_bound(masks, sw, {}, &SwitchMask::sw);
  return found == masks.end() || found->sw != sw ? PortMask{} : found->ports;
}

bool within(const std::vector<SwitchMask>& some, const std::vector<SwitchMask>& all) {
  return std::ranges::all_of(
      some, [&](const SwitchMask& mask) { return mask.ports.within(mask_at(all, mask.sw)); });
}

/// Ports of the position that lead to switches.
std::uint16_t ports_to_switches(const Fabric& fabric, SwitchIdx sw, unsigned position) {
  const NodeIdx node = fabric.switch_node[sw];
  std::uint16_t ports = 0;
  for (unsigned bit = 0; bit < kPortsPerPosition; ++bit) {
    const unsigned number = position * kPortsPerPosition + bit;
    if (number > fabric.num_ports(node)) break;
    const PortIdx peer = fabric.peer[fabric.port_of(node, PortNum{std::uint8_t(number)})];
    if (peer != kNone<PortIdx> && fabric.switch_at(peer) != kNone<SwitchIdx>)
      ports = static_cast<std::uint16_t>(ports | 1u << bit);
  }
  return ports;
}

/// Blocks that nobody read: what others left in the switches.
struct ForeignBlocks {
  std::vector<SwitchMask> whole;        // every port
  std::vector<SwitchMask> to_switches;  // every port that leads to one

  /// With what these may copy on, where anything is copied to them.
  [[nodiscard]] std::vector<SwitchMask> follow(const Fabric& fabric,
                                               const std::vector<SwitchMask>& masks) const {
    std::set<SwitchIdx> entered;
    std::vector<SwitchMask> added;
    std::vector<SwitchMask> open = masks;
    while (!open.empty()) {
      const SwitchMask from = open.back();
      open.pop_back();
      const NodeIdx node = fabric.switch_node[from.sw];
      from.ports.each([&](PortNum number) {
        if (number.value() > fabric.num_ports(node)) return;
        const PortIdx peer = fabric.peer[fabric.port_of(node, number)];
        const SwitchIdx to = peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric.switch_at(peer);
        if (to == kNone<SwitchIdx> || !entered.insert(to).second) return;
        const PortMask ports = mask_at(to_switches, to);
        if (!ports.any()) return;
        added.push_back({to, ports});
        open.push_back(added.back());
      });
    }
    std::ranges::sort(added, {}, &SwitchMask::sw);
    return unite_masks(masks, added);
  }
};

/// The goals of one block.
struct BlockGoals {
  struct Goal {
    Lid mlid;
    const std::vector<SwitchMask>* wanted;
    std::vector<SwitchMask> may;
    bool at_once = false;
    bool stays = false;  // as it is
    std::size_t at = 0;  // in `wanted`, while cells are visited
  };

  BlockGoals(const MftGoals& goals, std::uint16_t block) {
    const auto first = goals.lower_bound(
        Lid{static_cast<std::uint16_t>(kFirstMlid.value() + block * kMftBlockSize)});
    for (auto each = first; each != goals.end(); ++each) {
      if (place_of(each->first) / kMftBlockSize != block) break;
      all.push_back({.mlid = each->first, .wanted = &each->second, .may = {}});
    }
  }

  /// What the block shall be; held entries of other MLIDs stay.
  [[nodiscard]] MftBlock target(const MftMemory::Cell& cell, SwitchIdx sw, unsigned position) {
    MftBlock block = cell.held;
    for (Goal& goal : all) {
      while (goal.at < goal.wanted->size() && (*goal.wanted)[goal.at].sw < sw) ++goal.at;
      const bool here = goal.at < goal.wanted->size() && (*goal.wanted)[goal.at].sw == sw;
      const std::uint16_t wanted =
          here ? (*goal.wanted)[goal.at].ports.position(position) : std::uint16_t{0};
      std::uint16_t& entry = block[place_of(goal.mlid) % kMftBlockSize];
      if (goal.stays) continue;
      entry = goal.at_once ? wanted : static_cast<std::uint16_t>(entry & wanted);
    }
    return block;
  }

  std::vector<Goal> all;
};

}  // namespace

std::vector<SwitchMask> unite_masks(const std::vector<SwitchMask>& a,
                                    const std::vector<SwitchMask>& b) {
  std::vector<SwitchMask> both;
  std::ranges::merge(a, b, std::back_inserter(both), {}, &SwitchMask::sw, &SwitchMask::sw);
  std::vector<SwitchMask> out;
  for (const SwitchMask& mask : both) {
    if (out.empty() || out.back().sw != mask.sw) {
      out.push_back(mask);
    } else {
      out.back().ports |= mask.ports;
    }
  }
  return out;
}

void MftMemory::forget(Guid node) {
  switches_.erase(node);
  forgotten_.insert(node);
}

void MftMemory::note_restarted(Guid node) {
  const auto found = switches_.find(node);
  if (found != switches_.end() && found->second.blank && found->second.cells.empty()) return;
  if (found != switches_.end()) return forget(node);
  if (!forgotten_.contains(node)) switches_[node].blank = true;
}

void MftMemory::confirm(Guid node, MftModifier at, const MftBlock& block) {
  switches_[node].cells[encode_modifier(at)] = {.held = block, .may = block, .sure = true};
}

void MftMemory::send(Guid node, MftModifier at, const MftBlock& block) {
  Cell& cell = switches_[node].cells[encode_modifier(at)];
  for (std::size_t i = 0; i < block.size(); ++i)
    cell.may[i] = static_cast<std::uint16_t>(cell.may[i] | block[i]);
  cell.sure = false;
}

MftMemory::Cell MftMemory::find(Guid node, MftModifier at) const {
  const auto found = switches_.find(node);
  if (found == switches_.end()) return {.held = {}, .may = {}, .unread = true};
  const auto cell = found->second.cells.find(encode_modifier(at));
  if (cell != found->second.cells.end()) return cell->second;
  const bool blank = found->second.blank;
  return {.held = {}, .may = {}, .sure = blank, .unread = !blank};
}

std::vector<MftWrite> find_unread(const Fabric& fabric,
                                  const MftMemory& memory,
                                  const MftGoals& goals) {
  std::vector<MftWrite> unread;
  for (const std::uint16_t block : blocks_of(goals)) {
    each_cell(fabric, block, [&](SwitchIdx sw, Guid guid, MftModifier at) {
      if (!memory.find(guid, at).sure && !memory.is_refusing(guid))
        unread.push_back({.sw = sw, .at = at});
    });
  }
  return unread;
}

MftStage plan_stage(const Fabric& fabric,
                    const MftMemory& memory,
                    const MftGoals& goals,
                    const MftRules& rules) {
  const auto mixes = [&](const std::vector<SwitchMask>& both) {
    return !rules.in_two_steps && is_forest(fabric, both) &&
           (rules.rank.empty() || !turns_up(fabric, both, rules.rank));
  };
  MftStage stage;
  for (const std::uint16_t block : blocks_of(goals)) {
    BlockGoals here(goals, block);
    ForeignBlocks unread;
    each_cell(fabric, block, [&](SwitchIdx sw, Guid guid, MftModifier at) {
      const MftMemory::Cell cell = memory.find(guid, at);
      if (cell.unread) {
        put(unread.whole, sw, at.position, 0xffff);
        put(unread.to_switches, sw, at.position, ports_to_switches(fabric, sw, at.position));
      }
      for (BlockGoals::Goal& goal : here.all)
        put(goal.may, sw, at.position, cell.may[place_of(goal.mlid) % kMftBlockSize]);
    });
    for (BlockGoals::Goal& goal : here.all) {
      const std::vector<SwitchMask> both = unite_masks(goal.may, *goal.wanted);
      goal.at_once = within(goal.may, *goal.wanted) || mixes(both);
      // What is unread is not written, so nothing is added there.
      if (!unread.whole.empty() && !within(*goal.wanted, unite_masks(goal.may, unread.whole))) {
        goal.stays = !is_forest(fabric, unread.follow(fabric, *goal.wanted));
        goal.at_once = goal.at_once && is_forest(fabric, unread.follow(fabric, both));
      }
      if (goal.stays)
        stage.held_up.push_back(goal.mlid);
      else if (!goal.at_once)
        stage.first_steps.push_back(goal.mlid);
    }
    each_cell(fabric, block, [&](SwitchIdx sw, Guid guid, MftModifier at) {
      const MftMemory::Cell cell = memory.find(guid, at);
      const MftBlock target = here.target(cell, sw, at.position);
      if (cell.unread || memory.is_refusing(guid)) return;
      if (!cell.sure || target != cell.held)
        stage.writes.push_back({.sw = sw, .at = at, .masks = target});
    });
  }
  return stage;
}

std::vector<Lid> find_unmet(const Fabric& fabric, const MftMemory& memory, const MftGoals& goals) {
  std::set<Lid> unmet;
  for (const std::uint16_t block : blocks_of(goals)) {
    BlockGoals here(goals, block);
    for (BlockGoals::Goal& goal : here.all) goal.at_once = true;
    each_cell(fabric, block, [&](SwitchIdx sw, Guid guid, MftModifier at) {
      const MftMemory::Cell cell = memory.find(guid, at);
      const MftBlock target = here.target(cell, sw, at.position);
      for (const BlockGoals::Goal& goal : here.all) {
        const std::size_t entry = place_of(goal.mlid) % kMftBlockSize;
        if (!cell.sure || target[entry] != cell.held[entry]) unmet.insert(goal.mlid);
      }
    });
  }
  return {unmet.begin(), unmet.end()};
}

}  // namespace smd
