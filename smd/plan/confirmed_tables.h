// What switches are known to hold, forwarding blocks and SL-to-VL entries, by GUID; and which
// blocks differ from it.
#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "smd/ib/types.h"
#include "smd/mad/tables.h"
#include "smd/routing/sl_to_vl.h"
#include "smd/routing/tables.h"

namespace smd {

// The forwarding blocks that switches are known to hold, by GUID: what the next diff starts from.

struct HeldTables;

class ConfirmedTables {
 public:
  /// The switch holds exactly `block` at `number`: it answered so.
  void confirm(Guid node, std::size_t number, const LftBlock& block);

  /// What the switch holds at `number` is unknown from now on.
  void forget_block(Guid node, std::size_t number);

  /// Nothing is known of the switch: it is new, or it was reset.
  void forget(Guid node);

  /// True when anything was ever confirmed of the switch since it was last forgotten.
  [[nodiscard]] bool knows(Guid node) const;

  /// Nothing when the block is unknown.
  [[nodiscard]] std::optional<LftBlock> find_block(Guid node, std::size_t number) const;

  /// What the first `blocks` blocks hold is known.
  [[nodiscard]] bool knows_all(Guid node, std::size_t blocks) const;

  /// The first block of this row that the switch is not known to hold.
  [[nodiscard]] std::optional<std::size_t> find_other_block(Guid node,
                                                            const ForwardingTables& tables,
                                                            SwitchIdx sw) const;

  /// Where the switch holds exactly this row it is remembered as the same one, until something else
  /// is confirmed or forgotten of it.
  void share_row(Guid node, const ForwardingTables& tables, SwitchIdx sw);

  /// The switch holds exactly this row, and it costs no look at an entry to say so. False says
  /// nothing.
  [[nodiscard]] bool shares_row(Guid node, const ForwardingTables& tables, SwitchIdx sw) const;

 private:
  struct Table {
    std::vector<LftBlock> blocks;  // none where the row says them all
    std::vector<bool> known;
    ForwardingTables row;  // of one switch: what all blocks hold; of none: see above

    [[nodiscard]] bool has_row() const { return row.switches() == 1; }

    /// Its 64 entries; null where they are unknown.
    [[nodiscard]] const PortNum* find_block(std::size_t number) const {
      if (number >= known.size() || !known[number]) return nullptr;
      return blocks.empty() ? row.block(SwitchIdx{0}, number).data() : blocks[number].data();
    }

    /// As ForwardingTables::for_each_other_block(), of all blocks of `tables`; what is unknown is
    /// another.
    template <class Visit>
    void for_each_other_block(const ForwardingTables& tables, SwitchIdx sw, Visit&& visit) const;

    [[nodiscard]] std::optional<std::size_t> find_other_block(const ForwardingTables& tables,
                                                              SwitchIdx sw) const;

    void forget_row();
  };

  friend double changed_entries_pct(const Fabric&, const ForwardingTables&, const ConfirmedTables&);

  friend HeldTables collect_held_tables(const Fabric&,
                                        Lid,
                                        const ConfirmedTables&,
                                        const ForwardingTables*);

  std::unordered_map<Guid, Table> tables_;  // look-ups only
};

// Which blocks have to be written: desired tables against confirmed ones.

struct TableBlock {
  SwitchIdx sw;
  std::uint32_t block = 0;

  friend bool operator==(const TableBlock&, const TableBlock&) = default;
};

/// Blocks that differ or are unknown. Block by block over all switches, so that consecutive SMPs go
/// to different agents.
[[nodiscard]] std::vector<TableBlock> diff_tables(const Fabric& fabric,
                                                  const ForwardingTables& wanted,
                                                  const ConfirmedTables& confirmed);

/// Share of the entries 1 … top that differ from what is confirmed; unknown blocks count as all
/// different. 0 … 100.
[[nodiscard]] double changed_entries_pct(const Fabric& fabric,
                                         const ForwardingTables& wanted,
                                         const ConfirmedTables& confirmed);

// What the switches of a snapshot hold now, as one matrix: where every transition starts.

struct HeldTables {
  ForwardingTables lft;             // "no route" where a block is unknown
  std::vector<TableBlock> unknown;  // may hold anything; ascending by switch, then block
};

/// Blocks for LIDs 0 … top. What lies above a switch's LinearFDBTop forwards nothing, whatever it
/// holds. Rows that switches share with `like` are shared, if it is given; it has the same
/// switches.
[[nodiscard]] HeldTables collect_held_tables(const Fabric& fabric,
                                             Lid top,
                                             const ConfirmedTables& confirmed,
                                             const ForwardingTables* like = nullptr);

// SL-to-VL entries that switches are known to hold, by switch, input and output.

class ConfirmedSlToVl {
  struct PortPairs {
    std::size_t width = 0;             // ports, port 0 included
    std::vector<std::uint32_t> index;  // into entries_, by input and output
  };

 public:
  /// What one switch is known to hold; as long as nothing is confirmed or forgotten.
  class OfSwitch {
   public:
    OfSwitch() = default;

    /// Null where nothing is known.
    [[nodiscard]] const SlToVl* find(PortNum in, PortNum out) const {
      if (pairs_ == nullptr || in.value() >= pairs_->width || out.value() >= pairs_->width)
        return nullptr;
      const std::uint32_t number = pairs_->index[in.value() * pairs_->width + out.value()];
      return number == kUnknown ? nullptr : &(*entries_)[number];
    }

   private:
    friend class ConfirmedSlToVl;

    const PortPairs* pairs_ = nullptr;
    const std::vector<SlToVl>* entries_ = nullptr;
  };

  [[nodiscard]] OfSwitch of(Guid node) const;

  /// Null where nothing is known.
  [[nodiscard]] const SlToVl* find(Guid node, PortNum in, PortNum out) const {
    return of(node).find(in, out);
  }

  void confirm(Guid node, PortNum in, PortNum out, const SlToVl& row);
  void forget_entry(Guid node, PortNum in, PortNum out);

  void forget(Guid node) { switches_.erase(node); }

  /// No SL-to-VL entry of any switch was ever confirmed, unless it was forgotten with its switch.
  [[nodiscard]] bool empty() const { return switches_.empty(); }

 private:
  void widen(PortPairs& pairs, std::size_t width) const;

  static constexpr std::uint32_t kUnknown = 0xffffffff;

  std::map<Guid, PortPairs> switches_;
  std::map<SlToVl, std::uint32_t> number_;  // equal ones share one
  std::vector<SlToVl> entries_;
};

}  // namespace smd
