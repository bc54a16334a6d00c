// What entries may be in force while a phase is under way, and the turns that come of it.
//
// Pairs of entries that both stay as they are are looked at once; LIDs that change anywhere have a
// column with a stage for every switch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "smd/plan/make/turn_graph.h"
#include "smd/plan/transition.h"

namespace smd {

// Where data flows when a plan begins, and what is there to be done.

enum class Flow : std::uint8_t {
  Never,  // no link between switches, or one that stays down
  Later,  // once activated
  Half,  // now, as soon as the Active end sends; the other is Armed, and no new entry leads over it
  Now,
};

[[nodiscard]] constexpr bool is_now(Flow flow) { return flow >= Flow::Half; }

struct InitialState {
  explicit InitialState(const TransitionTask& task);

  IndexVector<PortIdx, Flow> flow;              // of links between switches
  IndexVector<PortIdx, SwitchIdx> peer_switch;  // the switch at the other end, or kNone
  IndexVector<SwitchIdx, char> idle;            // no link of the switch carries data
  std::vector<PortIdx> activate_inner;          // to be activated: ends of links between switches
  std::vector<PortIdx> activate_outer;          // … of all other links
  bool silent = true;                           // nothing carries data
  std::vector<Turn> kept;                       // blocked turns that nobody will need
  std::vector<Turn> restored;                   // … that the wanted routes may need
};

/// Every entry that differs or is unknown, sorted by (switch, LID). A table that ends early has no
/// routes beyond its end.
[[nodiscard]] std::vector<EntryChange> find_changes(const TransitionTask& task);

[[nodiscard]] bool differ(const TransitionTask& task);

[[nodiscard]] inline PortNum entry_of(const ForwardingTables& tables, SwitchIdx sw, Lid lid) {
  return sw.value() < tables.switches() && lid.value() < tables.blocks() * kLftBlockSize
             ? tables.route(sw, lid)
             : kNoRoute;
}

enum class EntryStage : std::uint8_t {
  Pending,  // as held
  Now,      // held or wanted
  Done,     // as wanted; packets that the held entry sent may linger
  Settled,  // as wanted; the held entry never met data, or what it sent is gone
};

class TransientGraph {
 public:
  /// Requires: all outlive this; `changes` is what find_changes() gives.
  TransientGraph(const TransitionTask& task,
                 const InitialState& initial,
                 std::vector<EntryChange> changes);
  TransientGraph(const TransientGraph&) = delete;

  [[nodiscard]] const TransitionTask& task() const { return task_; }

  [[nodiscard]] const InitialState& initial() const { return initial_; }

  [[nodiscard]] const std::vector<EntryChange>& changes() const { return changes_; }

  [[nodiscard]] EntryStage stage(std::size_t change) const { return stage_[cell_[change]]; }

  void set_stage(std::size_t change, EntryStage stage) { stage_[cell_[change]] = stage; }

  /// Every change at a switch with data; those at idle switches are always Fresh.
  void set_stages(EntryStage stage);

  /// Adds every turn that packets can take, over links where data flows now or later. With
  /// `all_flow`, links of later are taken to carry data already.
  void mark(TurnGraph& graph, bool all_flow);

  /// The same, and sorts the graph, which has no turns before. False when there is a cycle.
  [[nodiscard]] bool mark_sorted(TurnGraph& graph, bool all_flow);

  /// Makes a change Now and adds its turns to a sorted graph; undoes it, and returns false, when a
  /// cycle would close or a turn was forbidden. Takes all links to carry data already.
  [[nodiscard]] bool try_now(TurnGraph& graph, std::size_t change);

  /// Links to the destination along the wanted routes; the greatest number where there is no route.
  [[nodiscard]] std::vector<std::uint16_t> measure_distances() const;

 private:
  static constexpr std::size_t kNoRow = SIZE_MAX;

  /// Of the arrays that are switch by column. Requires: the switch has a row.
  [[nodiscard]] std::size_t cell(SwitchIdx sw, std::uint32_t column) const {
    return first_cell_[sw] + column;
  }

  struct Choice {
    PortNum held, wanted;
    EntryStage stage;
    bool unknown;
  };

  [[nodiscard]] Choice choice(SwitchIdx sw, std::uint32_t column) const;
  [[nodiscard]] PortIdx channel_of(SwitchIdx sw, PortNum egress) const;

  template <class Visit>
  void for_each_egress(SwitchIdx sw, std::uint32_t column, bool new_only, Visit&& visit) const;
  template <class Visit>
  void for_each_sender(SwitchIdx sw, std::uint32_t column, bool new_only, Visit&& visit) const;
  [[nodiscard]] bool may_send(SwitchIdx sw, std::uint32_t column, PortIdx out) const;

  [[nodiscard]] bool is_changed(SwitchIdx sw, std::uint32_t column) const {
    return first_cell_[sw] != kNoRow && changed_[cell(sw, column)] != 0;
  }

  struct Next {  // from a switch: the next one's row, and where to note the ports it names
    const PortNum* row = nullptr;
    std::uint8_t* egresses = nullptr;
  };

  void find_steady_turns();
  [[nodiscard]] bool take_counted_turns();
  [[nodiscard]] bool take_away_changes(TurnCounts& turns) const;
  void add_turns_of_nobodys();
  void add(TurnGraph& graph, PortIdx in, PortIdx out);
  void mark_slice(TurnGraph& graph,
                  const std::vector<PortNum>& steady,
                  SwitchIdx sw,
                  std::size_t first,
                  std::size_t last);
  void mark_channel(TurnGraph& graph, PortIdx out, std::uint32_t column, bool all_flow);
  void mark_change(TurnGraph& graph, std::size_t change, bool all_flow);
  void find_senders();

  /// Ports by which packets for the entry may come in, whatever the stages.
  [[nodiscard]] std::span<const PortIdx> senders(std::size_t change) const {
    return {senders_.data() + first_sender_[change], senders_.data() + first_sender_[change + 1]};
  }

  [[nodiscard]] bool insert(TurnGraph& graph, PortIdx in, PortIdx out);

  const TransitionTask& task_;
  const InitialState& initial_;
  const Fabric& fabric_;
  std::vector<EntryChange> changes_;
  IndexVector<SwitchIdx, std::size_t> first_cell_;  // of its row; kNoRow: nothing changes there
  std::vector<std::size_t> cell_;                   // of a change
  std::vector<Lid> columns_;
  std::vector<std::uint32_t> column_of_;     // by LID
  std::vector<EntryStage> stage_;            // switch by column; Fresh where nothing changes
  std::vector<char> unknown_;                // switch by column; empty when nothing is
  std::vector<std::uint32_t> first_sender_;  // by change, one more at the end
  std::vector<PortIdx> senders_;
  std::vector<char> changed_;        // switch by column
  std::optional<TurnGraph> steady_;  // turns of two entries that stay
  bool steady_is_sorted_ = false;
  std::vector<std::pair<PortIdx, PortIdx>> added_;  // besides, by mark()
  std::vector<std::uint8_t>
      egresses_;  // scratch: flags by port of one switch, and port of the peer
  std::vector<PortNum> no_row_;
  std::array<Next, 256> next_;
  Next nowhere_;
  std::vector<std::pair<PortIdx, PortIdx>> inserted_;  // by the try under way
  std::unordered_set<std::uint64_t> closing_;          // turns; look-ups only
};

}  // namespace smd
