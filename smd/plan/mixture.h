// What entries may be in force while a phase is under way, and the turns that come of it.
//
// LIDs that no switch changes are looked at once; all others have a column with a stage for every
// switch.
#pragma once

#include <vector>

#include "smd/plan/plan_scene.h"
#include "smd/plan/turn_graph.h"

namespace smd {

enum class Stage : std::uint8_t {
  Pending,  // as held
  Now,      // held or wanted
  Done,     // as wanted; packets that the held entry sent may linger
  Fresh,    // as wanted; the held entry never met data, or what it sent is gone
};

class Mixture {
 public:
  /// Requires: all outlive this; `changes` is what find_changes() gives.
  Mixture(const TransitionTask& task, const PlanScene& scene, std::vector<EntryChange> changes);

  [[nodiscard]] const std::vector<EntryChange>& changes() const { return changes_; }

  [[nodiscard]] Stage stage(std::size_t change) const { return stage_[cell_[change]]; }

  void set_stage(std::size_t change, Stage stage) { stage_[cell_[change]] = stage; }

  /// Every change at a switch with data; those at idle switches are always Fresh.
  void set_stages(Stage stage);

  /// Adds every turn that packets can take, over links where data flows now or later. With
  /// `all_flow`, links of later are taken to carry data already.
  void mark(TurnGraph& graph, bool all_flow);

  /// Makes a change Now and adds its turns to a sorted graph; undoes it, and returns false, when a
  /// cycle would close. Takes all links to carry data already.
  [[nodiscard]] bool try_now(TurnGraph& graph, std::size_t change);

  /// Links to the destination along the wanted routes; the greatest number where there is no route.
  [[nodiscard]] std::vector<std::uint16_t> measure_distances() const;

 private:
  struct Choice {
    PortNum held, wanted;
    Stage stage;
    bool unknown;
  };

  [[nodiscard]] Choice choice(SwitchIdx sw, std::uint32_t column) const;
  [[nodiscard]] PortIdx channel_of(SwitchIdx sw, PortNum egress) const;

  template <class Visit>
  void for_each_exit(SwitchIdx sw, std::uint32_t column, bool new_only, Visit&& visit) const;
  template <class Visit>
  void for_each_sender(SwitchIdx sw, std::uint32_t column, bool new_only, Visit&& visit) const;
  [[nodiscard]] bool may_send(SwitchIdx sw, std::uint32_t column, PortIdx out) const;

  void mark_unchanged(TurnGraph& graph) const;
  void mark_column_entries(TurnGraph& graph, SwitchIdx sw, bool all_flow) const;
  [[nodiscard]] bool insert(TurnGraph& graph, PortIdx in, PortIdx out);

  const TransitionTask& task_;
  const PlanScene& scene_;
  const Fabric& fabric_;
  std::vector<EntryChange> changes_;
  std::vector<std::size_t> cell_;  // of a change
  std::vector<Lid> columns_;
  std::vector<std::uint32_t> column_of_;  // by LID
  std::vector<Stage> stage_;              // switch by column; Fresh where nothing changes
  std::vector<char> unknown_;             // switch by column; empty when nothing is
  std::vector<std::pair<PortIdx, PortIdx>> unchanged_;  // turns of the LIDs without a column
  bool has_unchanged_ = false;
  std::vector<std::pair<PortIdx, PortIdx>> inserted_;  // by the try under way
};

}  // namespace smd
