// One tree per MLID, kept from one change to the next: a member that comes or goes, and a link
// that is lost, cost what they touch.
//
// Every switch of a tree but its root has one branch, and it leads up. So no packet turns up again
// after it came down, whichever member sent it; trees along the directions of unicast routes close
// no credit loop with them, nor with each other. The root is the switch with the least hops to the
// members, of those that have them all below.
//
// Where one member alone sends, and does not receive, its switch is the root: every other switch
// has one branch, which leads back to it, along a shortest of the ways that lead up first, then
// down. A switch that leads up to be reached is entered from below, so that what it copies up never
// came down. Trees of both kinds close no credit loop together, either.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "smd/ib/types.h"
#include "smd/multicast/tree.h"
#include "smd/routing/updn/orientation.h"

namespace smd {

class Forest {
 public:
  /// From now on trees are of this snapshot. Branches whose link is as it was, Active, and still
  /// leads up or away from the only sender, stay; update() makes good what is missing.
  void adopt(std::shared_ptr<const Fabric> fabric,
             const IndexVector<SwitchIdx, std::uint32_t>& rank);

  /// The tree for these members. Requires: adopt(), and a multicast LID.
  const Tree& update(Lid mlid, const std::vector<TreeMember>& members);

  void erase(Lid mlid);

  /// Null when there is none.
  [[nodiscard]] const Tree* find(Lid mlid) const;

 private:
  struct Grown {
    Tree tree;
    SwitchIdx root = kNone<SwitchIdx>;
    std::size_t chosen_for = 0;  // switches with members, when the root was chosen
    bool by_sender = false;      // the root is where the only sender is
  };

  struct MemberSwitch {
    SwitchIdx sw;
    std::uint32_t members = 0;
  };

  /// Hops to the root that descend all the way from it; kUnreached where there is no such path.
  using Heights = IndexVector<SwitchIdx, std::uint16_t>;
  static constexpr std::uint16_t kUnreached = 0xffff;

  /// Hops from a sender's switch, up first, then down; kUnreached where no such way leads.
  struct SenderDistances {
    Heights hops;
    IndexVector<SwitchIdx, char> by_ups;  // entered from below
  };

  /// Of two ways the one over an Active link, then into the tree, then over the link with fewest
  /// trees, then the first.
  struct PortChoice {
    PortIdx port = kNone<PortIdx>;
    bool discards = true;
    bool outside = true;
    std::uint32_t trees = ~std::uint32_t{0};

    [[nodiscard]] auto cost() const { return std::tuple(discards, outside, trees); }
  };

  struct RootChoice {
    SwitchIdx root = kNone<SwitchIdx>;
    std::size_t reached = 0;  // member switches
    std::uint64_t cost = 0;   // hops to all members
  };

  [[nodiscard]] bool has_room(SwitchIdx sw, unsigned level) const;
  [[nodiscard]] unsigned level_of(Lid mlid) const;
  [[nodiscard]] const Heights& heights_of(SwitchIdx root, unsigned level);
  [[nodiscard]] RootChoice choose_root(const std::vector<MemberSwitch>& member_switches,
                                       unsigned level,
                                       SwitchIdx old_root);
  void settle_root(Grown& grown, const std::vector<MemberSwitch>& member_switches, unsigned level);
  void grow(Grown& grown, const std::vector<MemberSwitch>& member_switches, unsigned level);
  [[nodiscard]] PortChoice choice_of(SwitchIdx from,
                                     const UpDownGraph::Link& step,
                                     bool in_tree) const;
  [[nodiscard]] PortIdx choose_up_port(SwitchIdx from, const Heights& heights) const;
  [[nodiscard]] const SenderDistances& distances_of(SwitchIdx sender, unsigned level);
  void grow_from(Grown& grown,
                 SwitchIdx sender,
                 const std::vector<MemberSwitch>& member_switches,
                 unsigned level);
  [[nodiscard]] PortIdx choose_port_back(SwitchIdx from,
                                         const SenderDistances& distances,
                                         PortIdx old) const;
  void replace_branches(Grown& grown, const std::vector<SwitchIdx>& taken);
  [[nodiscard]] bool leads_up(PortIdx port) const;
  void count_in(const Grown& grown, int sign);

  std::shared_ptr<const Fabric> fabric_;
  std::optional<SwitchGraph> graph_;
  std::optional<UpDownGraph> up_down_;
  std::vector<std::uint32_t> rooms_;  // different sizes of multicast tables, ascending
  std::map<Lid, Grown> trees_;
  IndexVector<PortIdx, std::uint32_t> load_;     // trees over the link, by its lower PortIdx
  IndexVector<SwitchIdx, std::uint32_t> roots_;  // trees that start here
  std::map<std::pair<SwitchIdx, unsigned>, Heights> heights_;
  std::map<std::pair<SwitchIdx, unsigned>, SenderDistances> distances_;

  // Scratch, empty between calls.
  IndexVector<SwitchIdx, PortIdx> up_port_;  // towards the root; kNone: none yet
  IndexVector<SwitchIdx, char> used_;
  IndexVector<SwitchIdx, char> wanted_;  // has members
};

}  // namespace smd
