// Entries of a fat tree by the modulo rule, 64 destination switches at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/fat_tree/tree_fabric.h"
#include "smd/routing/updn/orientation.h"

namespace smd {

// Next hops of legal routes to up to 64 destination switches at a time: a bit per destination in
// every word.
//
// Who may be entered from above descends, by the shortest path. All others take the shortest of all
// paths, down or up. A packet that has come down meets only the former, so it never climbs again;
// UpDownSearch, which lets everybody descend who can, leads more detours.

class BatchSearch {
 public:
  static constexpr std::size_t kBatch = 64;

  /// All cables from a switch to a neighbour.
  struct Link {
    SwitchIdx to;
    std::uint32_t edge;      // the one with the lowest port: position in the switch graph
    std::uint32_t parallel;  // how many
  };

  BatchSearch(const SwitchGraph& graph, const UpDownGraph& up_down);

  /// Bit i stands for destinations[i]; kNone: for nobody. Requires: no more than kBatch, all
  /// different.
  void find(std::span<const SwitchIdx> destinations);

  /// Links of a switch: numbers first_link(sw) … first_link(next(sw)) - 1, upward ones first.
  [[nodiscard]] std::uint32_t first_link(SwitchIdx sw) const { return first_[sw.value()]; }

  [[nodiscard]] std::uint32_t first_down(SwitchIdx sw) const { return middle_[sw.value()]; }

  [[nodiscard]] std::uint32_t end_link(SwitchIdx sw) const { return first_[sw.value() + 1]; }

  [[nodiscard]] const Link& link(std::uint32_t number) const { return links_[number]; }

  [[nodiscard]] std::uint32_t link_of(std::uint32_t edge) const { return link_of_[edge]; }

  /// Destinations that a switch may send to over the link.
  [[nodiscard]] std::uint64_t wanted(std::uint32_t link) const { return wanted_[link]; }

 private:
  static constexpr std::size_t kRoom = 6;

  /// False when some route is longer than there is room for.
  [[nodiscard]] bool find_within(std::span<const SwitchIdx> destinations);
  [[nodiscard]] bool find_descents(std::span<const SwitchIdx> destinations);
  template <class Room>
  [[nodiscard]] bool find_climbs(Room room);

  [[nodiscard]] std::uint64_t* at(SwitchIdx sw) { return at_.data() + sw.value() * room_; }

  const std::vector<SwitchIdx>& order_;  // upmost first
  std::vector<std::uint32_t> first_, middle_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> link_of_;  // by edge
  std::vector<std::uint64_t> wanted_;   // by link
  std::size_t room_ = kRoom;            // lengths that at_ has room for
  std::vector<std::uint64_t> at_;       // by switch and length: destinations that far away
  IndexVector<SwitchIdx, std::uint64_t> descends_;  // has an all-down path
  IndexVector<SwitchIdx, std::uint64_t> entered_;   // from above
  std::uint64_t all_ = 0;
  std::vector<SwitchIdx> reached_, next_;
  std::vector<std::uint64_t> lengths_;
};

// Entries by the modulo rule: of the next hops that a search allows, the one whose slot the number
// of the LID says. Where that one is missing or not allowed, the numbers that share it are spread
// over all others, each by itself: no number moves for another's loss. The switches that climb
// spread likewise, since each number comes down from a parent by one cable. So they do where the
// number's cable down is missing beside others of its trunk, which would carry it as well.

/// A row of tables that share it with a former version until an entry comes out otherwise.
class SharedRow {
 public:
  SharedRow(ForwardingTables& tables, SwitchIdx sw)
      : tables_(tables), sw_(sw), row_(tables.row(sw)) {}

  [[nodiscard]] PortNum operator[](Lid lid) const { return row_[lid.value()]; }

  void set(Lid lid, PortNum port) {
    tables_.set_route(sw_, lid, port);
    row_ = tables_.row(sw_);
  }

 private:
  ForwardingTables& tables_;
  SwitchIdx sw_;
  std::span<const PortNum> row_;
};

class TreeWriter {
 public:
  /// Both outlive it.
  TreeWriter(const TreeFabric& tree, const BatchSearch& search);

  /// What the search was made for; kNone: nobody, as there.
  void begin(std::span<const SwitchIdx> destinations);

  /// Sets the entries of a switch to the LIDs of the destinations whose bits are set in `which`;
  /// kNoRoute where there is no path. Of a SharedRow changed()[lid] says what was not so before;
  /// the other Row is a span of PortNum.
  template <class Row>
  void write(SwitchIdx sw, std::uint64_t which, Row row);

  /// Destinations for which the slots of other switches count as well.
  [[nodiscard]] std::uint64_t meets_gaps(SwitchIdx sw) const;

  [[nodiscard]] const std::vector<char>& changed() const { return changed_; }

 private:
  struct Entry {
    Lid lid;
    PortNum egress;
  };

  using Ports = std::array<PortNum, 256>;  // by slot; kNoRoute: no such cable

  static void put(std::span<PortNum> row, Lid lid, PortNum port) { row[lid.value()] = port; }

  void put(SharedRow& row, Lid lid, PortNum port) {
    if (row[lid] == port) return;
    changed_[lid.value()] = 1;
    row.set(lid, port);
  }

  template <class Row, class PortOf>
  void put_all(std::uint64_t which, Row& row, PortOf&& port_of);
  template <class Row>
  void climb(SwitchIdx sw, std::uint64_t which, Row& row);
  template <class Row>
  void descend(SwitchIdx sw, const BatchSearch::Link& link, std::uint64_t which, Row& row);

  [[nodiscard]] bool is_regular(SwitchIdx sw) const;

  [[nodiscard]] bool allows(std::uint32_t link, unsigned bit) const {
    return (search_.wanted(link) >> bit & 1) != 0;
  }

  void find_narrow(SwitchIdx child);

  [[nodiscard]] PortNum choose(SwitchIdx sw, unsigned bit, Lid lid) const;
  [[nodiscard]] PortNum choose_up(SwitchIdx sw,
                                  unsigned bit,
                                  std::uint64_t number,
                                  bool has_other_parents) const;

  /// Climbing by the slot, the number would come down by a cable that is another number's.
  [[nodiscard]] bool meets_gap(SwitchIdx sw,
                               const UpSlots::Slot& slot,
                               unsigned bit,
                               std::uint64_t number) const;

  /// The slot by which the number would climb from there, and come down to there.
  [[nodiscard]] const UpSlots::Slot& slot_of_number(SwitchIdx sw, std::uint64_t number) const;

  [[nodiscard]] PortNum choose_down(SwitchIdx sw,
                                    const BatchSearch::Link& link,
                                    std::uint64_t number) const;

  const TreeFabric& tree_;
  const BatchSearch& search_;
  std::vector<std::vector<std::uint8_t>> slot_;  // by level and LID; empty: too many slots
  std::vector<std::uint8_t> kind_;               // by link: leads up, down or neither
  std::vector<char> narrow_;                     // by link down: cables of its trunk are missing
  IndexVector<SwitchIdx, char> has_narrow_;      // some trunk up
  std::array<std::vector<Entry>, BatchSearch::kBatch> entries_;
  std::vector<std::uint64_t> narrow_ends_;  // by level: destinations there with has_narrow_
  IndexVector<SwitchIdx, std::uint64_t> narrow_below_;  // destinations it sends over a narrow link
  bool any_narrow_ = false;
  IndexVector<SwitchIdx, std::uint8_t> bit_;  // of destinations; kBatch: none
  std::vector<SwitchIdx> destinations_;
  std::vector<char> changed_;  // by LID
};

// Tables of a tree after a change: of those in force only what the change can touch is computed
// anew, to the same entries as from scratch.

struct TreeChange {
  ForwardingTables lft;
  std::vector<Lid> recomputed;  // LIDs with entries that changed, ascending
};

/// LIDs that nobody has any more keep their entries as long as those lead where they did.
/// Requires: the tables in force are those of this rule for `before`.
/// Nullopt: so much is different that nothing is gained.
[[nodiscard]] std::optional<TreeChange> change_tree(const Fabric& fabric,
                                                    const LidMap& lids,
                                                    const TreeFabric& tree,
                                                    const PreviousRoutes& in_force,
                                                    const TreeFabric& before);

}  // namespace smd
