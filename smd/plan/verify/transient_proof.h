// What the verifier believes: which turns packets can take while a phase is under way, from the
// tables alone. Shares nothing with the planner.
#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "smd/plan/transition.h"

namespace smd {

/// Tables of one width, whatever the width of those they come from: what those do not reach is
/// kNoRoute.
class TableView {
 public:
  /// Requires: `tables` ends at or before `lids`.
  TableView(const ForwardingTables& tables, std::size_t switches, std::size_t lids);

  [[nodiscard]] std::size_t lids() const { return lids_; }

  [[nodiscard]] const PortNum* row(SwitchIdx sw) const { return tables_.row(sw).data(); }

  void set(SwitchIdx sw, std::size_t lid, PortNum egress) {
    tables_.set_route(sw, Lid{static_cast<std::uint16_t>(lid)}, egress);
  }

  void set_row(SwitchIdx sw, const TableView& of) { tables_.set_row(sw, of.tables_, sw); }

  /// As ForwardingTables::for_each_other_block().
  template <class Visit>
  void for_each_other_block(SwitchIdx sw, const TableView& of, Visit&& visit) const {
    tables_.for_each_other_block(sw, of.tables_, sw, std::forward<Visit>(visit));
  }

  [[nodiscard]] bool differs(SwitchIdx sw, const TableView& of) const {
    return tables_.find_other_block(sw, of.tables_, sw).has_value();
  }

 private:
  std::size_t lids_;
  ForwardingTables tables_;
};

using LidList = std::vector<std::uint16_t>;

/// Of a port whose link joins two switches; all others are Closed.
enum class LinkUse : std::uint8_t {
  Closed,  // no data during the phase
  Opens,   // activated once all entries of the phase are in
  Open,    // carries data all the time
};

/// An entry that was in force, or may have been, besides those of the tables.
struct LooseEntry {
  SwitchIdx sw;
  std::uint16_t lid = 0;
  bool any = false;  // else: `port`
  PortNum port;

  friend auto operator<=>(const LooseEntry&, const LooseEntry&) = default;
};

/// One phase, as the proof needs it.
struct PhaseView {
  const TableView* before = nullptr;
  const TableView* after = nullptr;
  const LidList* written = nullptr;          // LIDs that the phase changes anywhere
  const std::vector<LooseEntry>* unknown;    // before the phase, anything; sorted
  const std::vector<LooseEntry>* lingering;  // of earlier phases; sorted
  const IndexVector<PortIdx, LinkUse>* use = nullptr;
  const std::vector<Turn>* blocked = nullptr;
  bool u_turns = true;  // leaving by the port one came in by counts
};

/// An entry of a switch, whatever it holds.
struct ChangingEntry {
  SwitchIdx sw;
  std::uint16_t lid = 0;

  friend auto operator<=>(const ChangingEntry&, const ChangingEntry&) = default;
};

/// Turns of tables as somebody counted them who does not make plans, of the LIDs that somebody has.
struct KnownTurns {
  const TurnCounts* turns = nullptr;
  const LidMap* lids = nullptr;
  const TableView* tables = nullptr;
  std::vector<ChangingEntry> changed;  // all others are, in the whole plan, as in `tables`; sorted
};

/// A turn is the affair of two neighbouring entries of one LID. Where turns were counted, those of
/// two entries that nobody touches are what is left when the turns around changed entries are taken
/// away; only changed entries and their neighbours are looked at then. LIDs that nobody has, and
/// all where nobody counted, are looked at in full.
class TransientProof {
 public:
  /// `constant`: LIDs for which every switch keeps, in the whole plan, what it has in `tables`.
  /// `changing`: all others. `counted`: ignored where it is not of the tables that it names.
  TransientProof(const Fabric& fabric,
                 const TableView& tables,
                 const LidList& constant,
                 const LidList& changing,
                 const KnownTurns* counted = nullptr);

  /// Empty when every dependency of the phase respects `order`; else the first that violates it.
  [[nodiscard]] std::string find_violation(const PhaseView& phase, const ChannelOrder& order);

  /// The first turn of `blocked` that a packet from a switch or a host needs once the plan is done.
  [[nodiscard]] std::string find_need(const std::vector<Turn>& blocked, const TableView& tables);

 private:
  using Word = std::uint64_t;
  static constexpr std::size_t kPorts = 256;  // values of a PortNum
  static constexpr std::size_t kWords = kPorts / 64;

  struct NextHop {  // from a switch: the next one's row, and where to note the ports it names
    const PortNum* row = nullptr;
    std::uint8_t* seen = nullptr;
  };

  [[nodiscard]] bool joins_switches(PortIdx port) const {
    return peer_switch_[port] != kNone<SwitchIdx>;
  }

  [[nodiscard]] bool is_open(PortIdx port) const { return (*phase_->use)[port] == LinkUse::Open; }

  [[nodiscard]] PortIdx find_port(SwitchIdx sw, PortNum number) const;

  /// Data during the phase, or from its end on.
  [[nodiscard]] bool carries(PortIdx port) const {
    return (*phase_->use)[port] != LinkUse::Closed && joins_switches(port);
  }

  /// Of a port that joins switches: a bit for each port to leave by.
  [[nodiscard]] std::span<Word> turns_from(PortIdx in) {
    return std::span{turns_}.subspan(row_[in].first, row_[in].words);
  }

  [[nodiscard]] std::span<const Word> turns_from(PortIdx in) const {
    return std::span{turns_}.subspan(row_[in].first, row_[in].words);
  }

  /// Ports that the switch does not have discard.
  void mark(PortIdx in, PortNum out) {
    const std::span<Word> turns = turns_from(in);
    if (out.value() / 64 < turns.size()) turns[out.value() / 64] |= Word{1} << (out.value() % 64);
  }

  void mark_tables(const TableView& arrive,
                   const TableView& leave,
                   const LidList& lids,
                   bool arrive_open,
                   bool leave_open);
  void mark_slice(const PortNum* row,
                  const TableView& leave,
                  std::span<const std::uint16_t> lids,
                  SwitchIdx sw,
                  bool arrive_open,
                  bool leave_open);
  [[nodiscard]] bool take_counted(const KnownTurns& counted);
  [[nodiscard]] bool find_changed(const KnownTurns& counted, TurnCounts& rest);
  [[nodiscard]] LidList uncounted(const LidList& lids) const;
  void mark_changed(const TableView& before, const TableView& after, const LidList& written);
  [[nodiscard]] std::string find_violation_at(SwitchIdx sw, const ChannelOrder& order) const;
  [[nodiscard]] bool respects(SwitchIdx sw, const ChannelOrder& order) const;

  [[nodiscard]] bool opens_to(SwitchIdx sw, PortNum number) const {
    return open_[sw.value() * kWords + number.value() / 64] >> (number.value() % 64) & 1;
  }

  void mark_loose();
  void mark_arrival(SwitchIdx sw, std::uint16_t lid, PortNum port);
  void mark_any_egress(SwitchIdx sw, std::uint16_t lid);
  [[nodiscard]] bool may_arrive(SwitchIdx from, PortNum port, std::uint16_t lid) const;
  void remove_blocked();
  [[nodiscard]] std::string print_violation(PortIdx in,
                                            PortIdx out,
                                            const ChannelOrder& order) const;

  struct Changed {
    ChangingEntry entry;
    std::uint32_t end_of_entrances = 0;  // ports by which entries that stay send packets for it
  };

  struct Row {  // in turns_; no words where the port joins no switches
    std::uint32_t first = 0, words = 0;
  };

  const Fabric& fabric_;
  LidList changing_;              // of those that are not counted
  std::vector<char> is_counted_;  // by LID
  std::vector<Changed> changed_;  // of LIDs that are counted
  std::vector<PortIdx> entrances_;
  const PhaseView* phase_ = nullptr;
  IndexVector<PortIdx, SwitchIdx> peer_switch_;  // at the other end of a switch port
  std::vector<Word> constant_;                   // turns of the constant LIDs
  std::vector<Word> turns_;                      // by the port of entry: ports to leave by
  IndexVector<PortIdx, Row> row_;
  std::vector<Word> open_;                     // by switch: ports that are Open
  std::vector<Word> carrying_;                 // … or open at the end
  IndexVector<SwitchIdx, std::size_t> words_;  // that its ports take
  std::vector<std::uint8_t> seen_;  // scratch: flags by port of one switch, and port of the peer
  std::array<NextHop, kPorts> next_hops_;
  NextHop nowhere_;
};

}  // namespace smd
