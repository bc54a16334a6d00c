// What an engine computes: egress ports by switch and LID, each switch a row of 64-entry blocks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smd/base/index_vector.h"
#include "smd/base/shared.h"
#include "smd/fabric/fabric.h"
#include "smd/mad/tables.h"
#include "smd/routing/sl_to_vl.h"

namespace smd {

/// Versions share rows: a copy costs a pointer for each switch, and a row is copied when a version
/// writes to it that may not be the only one to hold it. So a row that another version holds never
/// changes, whichever thread reads it. Several threads may write to different LIDs of one version
/// where its rows are its own from the beginning: those of a new one are.
///
/// A row knows which row it was copied from, and where it was written to since, so that versions
/// are compared at the cost of what differs.
class ForwardingTables {
 public:
  ForwardingTables() = default;

  /// Every entry "no route", for LIDs 0 … top. All rows lie in one block, which is there as long as
  /// any version holds one of them: for tables that are made anew as a whole.
  ForwardingTables(std::size_t switches, Lid top);

  /// The same with one row for all switches, until they get their own: for tables that take most
  /// rows from others.
  [[nodiscard]] static ForwardingTables without_rows(std::size_t switches, Lid top);

  [[nodiscard]] std::size_t switches() const { return rows_.size(); }

  [[nodiscard]] std::size_t blocks() const { return blocks_; }

  [[nodiscard]] Lid top() const { return top_; }

  /// Requires: lid <= the last entry of the last block.
  [[nodiscard]] PortNum route(SwitchIdx sw, Lid destination) const {
    return rows_[sw].entries.get()[destination.value()];
  }

  void set_route(SwitchIdx sw, Lid destination, PortNum egress) {
    Row& row = rows_[sw];
    if (!is_own(sw)) {
      if (route(sw, destination) == egress) return;
      make_own(sw);
    }
    row.note_written(std::uint64_t{1} << (destination.value() / kLftBlockSize >> stretch_));
    row.entries.get()[destination.value()] = egress;
  }

  [[nodiscard]] std::span<const PortNum, kLftBlockSize> block(SwitchIdx sw,
                                                              std::size_t number) const {
    return std::span<const PortNum, kLftBlockSize>{rows_[sw].entries.get() + number * kLftBlockSize,
                                                   kLftBlockSize};
  }

  void set_block(SwitchIdx sw, std::size_t number, std::span<const PortNum, kLftBlockSize> egress);

  [[nodiscard]] std::span<const PortNum> row(SwitchIdx sw) const {
    return {rows_[sw].entries.get(), blocks_ * kLftBlockSize};
  }

  /// Copies the row where another version may hold it. All of it counts as written.
  [[nodiscard]] std::span<PortNum> mutable_row(SwitchIdx sw) {
    if (!is_own(sw)) make_own(sw);
    rows_[sw].note_written(~std::uint64_t{0});
    return {rows_[sw].entries.get(), blocks_ * kLftBlockSize};
  }

  /// The row of another version, with as many entries as that has in common with this one, which
  /// is shared where both have the same number of blocks.
  void set_row(SwitchIdx sw, const ForwardingTables& of, SwitchIdx there);

  /// Equal, without looking at an entry. False says nothing.
  [[nodiscard]] bool shares_row(SwitchIdx sw, const ForwardingTables& of, SwitchIdx there) const {
    return blocks_ == of.blocks_ && rows_[sw].entries == of.rows_[there].entries;
  }

  /// The number of every block that both rows have and that is not the same in both, ascending,
  /// until `visit` returns false. Where one row was copied from the other, or both from a third,
  /// costs what was written since.
  template <class Visit>
  void for_each_other_block(SwitchIdx sw,
                            const ForwardingTables& of,
                            SwitchIdx there,
                            Visit&& visit) const;

  [[nodiscard]] std::optional<std::size_t> find_other_block(SwitchIdx sw,
                                                            const ForwardingTables& of,
                                                            SwitchIdx there) const;

  friend bool operator==(const ForwardingTables& a, const ForwardingTables& b);

 private:
  /// Of what a row holds, which outlives the row. Only compared.
  using Identity = std::shared_ptr<const char>;

  struct Row {
    std::shared_ptr<PortNum[]> entries;
    bool own = false;  // no other version held it when this one took it
    Identity identity;
    Identity copied_from;       // of a row that nobody writes to any more; null: of none
    std::uint64_t written = 0;  // since it was copied: a bit for each stretch

    // Threads that write to a row of a new version do not meet here.
    void note_written(std::uint64_t stretches) {
      if (copied_from != nullptr) written |= stretches;
    }
  };

  [[nodiscard]] bool is_own(SwitchIdx sw) const { return rows_[sw].own && !shared_.get(); }

  void make_own(SwitchIdx sw);

  /// Stretches outside of which both are equal. Requires: both have as many blocks.
  [[nodiscard]] static std::uint64_t find_written(const Row& a, const Row& b) {
    if (a.identity == b.identity) return 0;
    if (a.copied_from == b.identity) return a.written;
    if (b.copied_from == a.identity) return b.written;
    if (a.copied_from != nullptr && a.copied_from == b.copied_from) return a.written | b.written;
    return ~std::uint64_t{0};
  }

  std::size_t blocks_ = 0;
  unsigned stretch_ = 0;  // 2^stretch_ blocks are one, so that there are 64 at most
  Lid top_;
  SharedMark shared_;
  IndexVector<SwitchIdx, Row> rows_;
};

template <class Visit>
void ForwardingTables::for_each_other_block(SwitchIdx sw,
                                            const ForwardingTables& of,
                                            SwitchIdx there,
                                            Visit&& visit) const {
  const std::size_t blocks = std::min(blocks_, of.blocks_);
  const PortNum* const a = rows_[sw].entries.get();
  const PortNum* const b = of.rows_[there].entries.get();
  const auto differ = [&](std::size_t first, std::size_t last) {
    return std::memcmp(a + first * kLftBlockSize,
                       b + first * kLftBlockSize,
                       (last - first) * kLftBlockSize) != 0;
  };
  std::uint64_t stretches =
      blocks_ == of.blocks_ ? find_written(rows_[sw], of.rows_[there]) : ~std::uint64_t{0};
  for (; stretches != 0; stretches &= stretches - 1) {
    const std::size_t first = static_cast<std::size_t>(std::countr_zero(stretches)) << stretch_;
    if (first >= blocks) return;
    const std::size_t last = std::min(first + (std::size_t{1} << stretch_), blocks);
    if (!differ(first, last)) continue;
    for (std::size_t block = first; block < last; ++block) {
      if (differ(block, block + 1) && !visit(block)) return;
    }
  }
}

/// LIDs that nobody has and that some switch has an entry for, ascending; of all blocks.
[[nodiscard]] std::vector<Lid> list_orphaned_lids(const ForwardingTables& tables,
                                                  const LidMap& lids);

/// up*/down* orientation, kept from one change to the next. A link is walked upwards towards the
/// smaller rank; equal ranks are ordered by GUID, the smaller being the upper end.
struct Orientation {
  /// Distance from the root, or place in a depth-first walk, when the switch was ranked. Empty
  /// where routes do not obey the directions, which are then kept for the next computation only.
  IndexVector<SwitchIdx, std::uint32_t> rank;
  std::vector<std::pair<Guid, std::uint32_t>>
      by_guid;  // sorted by GUID: what survives into the next snapshot

  friend bool operator==(const Orientation&, const Orientation&) = default;
};

/// One explicit entry, in the order in which an engine computed it.
struct ComputedEntry {
  SwitchIdx sw;
  Lid lid;
  PortNum egress;
  std::uint32_t distance = 0;  // links to the destination; 0 where the engine counts none

  friend bool operator==(const ComputedEntry&, const ComputedEntry&) = default;
};

/// How even the loads of channels between switches were when all routes were computed at once: what
/// later changes are measured against.
struct Imbalance {
  double peak = 0;             // the highest load against the mean; 0: unknown
  std::uint32_t channels = 0;  // that there were

  friend bool operator==(const Imbalance&, const Imbalance&) = default;
};

/// What an engine knows of the loads of its own tables, so that a change costs only what it moves.
struct LoadRecord {
  Imbalance imbalance;
  std::vector<std::uint64_t> by_edge;  // of the switch graph of the fabric; empty: to be counted
  std::uint64_t basis = 0;             // of what was counted: who sends, and the demand of each LID
};

/// What is known of the turns of the tables (routing/nue/turn_record.h).
struct TurnRecord;

/// Where switches stand in a lattice that routes go by (routing/topology/lattice_record.h).
struct LatticeRecord;

/// A fat tree as ftree numbers it (routing/fat_tree/tree_fabric.h).
struct TreeFabric;

/// An engine whose routes `auto` weighed, or could not have.
struct EngineCandidate {
  std::string engine;
  std::string refused;  // why there are no routes of it; else empty
  bool taken = false;
  bool measured = false;     // what follows is known: it was not the only one
  double worth = 0;          // what was compared; 1 would be best at everything that was asked for
  double fullest = 0;        // paths on the fullest channel, as LoadReport::fullest
  double against_bound = 1;  // that, in what any routes must carry there
  double uniform = 0, permutations = 0, shifts = 0, worst_shift = 0;  // as RouteMeasures
  double mean_hops = 0;
  unsigned vls = 1;

  friend bool operator==(const EngineCandidate&, const EngineCandidate&) = default;
};

struct RoutingTables {
  std::string engine;     // that made them
  std::string chosen_by;  // the engine that was asked and left it to that one; else empty
  ForwardingTables lft;
  Orientation orientation;  // empty for engines without one
  unsigned vls = 1;         // data VLs that the routes need
  PathSls path_sls;         // empty: any SL on any path
  SlToVlMaps sl_to_vl;      // empty: SL s on VL s modulo `vls`, everywhere

  /// Where a switch sends LIDs without an entry (SwitchInfo.DefaultPort of random tables);
  /// kNoRoute: nowhere. Empty when every route has its entry.
  IndexVector<SwitchIdx, PortNum> default_port;

  /// Explicit entries as they were found, replaced ones included; only from engines that promise
  /// it.
  std::vector<ComputedEntry> sequence;

  LoadRecord load;
  std::shared_ptr<const TurnRecord> turns;       // null: to be found out
  std::shared_ptr<const LatticeRecord> lattice;  // null: routes go by none
  std::shared_ptr<const TreeFabric> tree;        // null: to be looked at anew

  /// Of two sets of paths (EngineOptions::path_sets): the second one as its engine left it, which
  /// has turns, loads and directions of its own.
  std::shared_ptr<const RoutingTables> second_set;

  /// Switches that could not keep their place in the orientation of the request.
  std::vector<Guid> altered;

  /// LIDs whose routes were computed anew, ascending; the rest is as it was in force. Nothing: all.
  std::optional<std::vector<Lid>> recomputed;

  /// What the caller should tell a human: "root 0x… is not here".
  std::vector<std::string> notes;

  /// What `chosen_by` had to choose from, when it last did.
  std::vector<EngineCandidate> candidates;
};

// Tables with default ports for switches that have none.

/// Every entry that is missing and whose LID somebody has, sent where the switch sends what it has
/// no entry for. Entries of other LIDs stay missing, so that their packets die at once.
void fill_default_ports(const IndexVector<SwitchIdx, PortNum>& default_port,
                        const LidMap& lids,
                        ForwardingTables& tables);

}  // namespace smd
