// What an engine computes: one contiguous, switch-major matrix of egress ports, in 64-entry blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/fabric/lid_map.h"
#include "smd/mad/tables.h"
#include "smd/routing/sl_to_vl.h"

namespace smd {

class ForwardingTables {
 public:
  ForwardingTables() = default;

  /// Every entry "no route", for LIDs 0 … top.
  ForwardingTables(std::size_t switches, Lid top)
      : blocks_(top.value() / kLftBlockSize + 1),
        top_(top),
        entries_(switches * blocks_ * kLftBlockSize, kNoRoute) {}

  [[nodiscard]] std::size_t switches() const {
    return blocks_ == 0 ? 0 : entries_.size() / (blocks_ * kLftBlockSize);
  }

  [[nodiscard]] std::size_t blocks() const { return blocks_; }

  [[nodiscard]] Lid top() const { return top_; }

  /// Requires: lid <= the last entry of the last block.
  [[nodiscard]] PortNum route(SwitchIdx sw, Lid destination) const {
    return entries_[at(sw) + destination.value()];
  }

  void set_route(SwitchIdx sw, Lid destination, PortNum egress) {
    entries_[at(sw) + destination.value()] = egress;
  }

  [[nodiscard]] std::span<const PortNum, kLftBlockSize> block(SwitchIdx sw,
                                                              std::size_t number) const {
    return std::span<const PortNum, kLftBlockSize>{
        entries_.data() + at(sw) + number * kLftBlockSize, kLftBlockSize};
  }

  void set_block(SwitchIdx sw, std::size_t number, std::span<const PortNum, kLftBlockSize> egress) {
    std::ranges::copy(
        egress, entries_.begin() + static_cast<std::ptrdiff_t>(at(sw) + number * kLftBlockSize));
  }

  [[nodiscard]] std::span<const PortNum> row(SwitchIdx sw) const {
    return {entries_.data() + at(sw), blocks_ * kLftBlockSize};
  }

  [[nodiscard]] std::span<PortNum> row(SwitchIdx sw) {
    return {entries_.data() + at(sw), blocks_ * kLftBlockSize};
  }

  friend bool operator==(const ForwardingTables&, const ForwardingTables&) = default;

 private:
  [[nodiscard]] std::size_t at(SwitchIdx sw) const { return sw.value() * blocks_ * kLftBlockSize; }

  std::size_t blocks_ = 0;
  Lid top_;
  std::vector<PortNum> entries_;
};

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

  /// Switches that could not keep their place in the orientation of the request.
  std::vector<Guid> altered;

  /// LIDs whose routes were computed anew, ascending; the rest is as it was in force. Nothing: all.
  std::optional<std::vector<Lid>> recomputed;

  /// What the caller should tell a human: "root 0x… is not here".
  std::vector<std::string> notes;
};

// Tables with default ports for switches that have none.

/// Every entry that is missing and whose LID somebody has, sent where the switch sends what it has
/// no entry for. Entries of other LIDs stay missing, so that their packets die at once.
void fill_default_ports(const IndexVector<SwitchIdx, PortNum>& default_port,
                        const LidMap& lids,
                        ForwardingTables& tables);

}  // namespace smd
