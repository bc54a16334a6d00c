// Which lanes wait for which while some entries and SL-to-VL rows are old, new or either: what the
// packets of each SL do that hosts may send to each LID.
//
// A packet may be wherever entries that were in force since the plan began can have led it; what it
// waits for there depends on the entries and rows of the phase alone, since channels drain between
// phases.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "smd/plan/lane_turn_graph.h"
#include "smd/plan/mixture.h"

namespace smd {

/// Packets of an SL that wait for a lane on their way through a switch.
struct LaneUse {
  LaneTurnGraph::Edge edge;
  Turn way;
  unsigned sl = 0;
};

class LaneMixture {
 public:
  /// Both: what held rows discard is no news, and new entries come after new rows.
  enum class Rows : std::uint8_t { Held, Both, Wanted };

  /// Requires: all outlive this; no block and no row is unknown; `changes` is what find_changes()
  /// gives, sorted.
  LaneMixture(const TransitionTask& task,
              const PlanScene& scene,
              const std::vector<EntryChange>& changes);
  LaneMixture(const LaneMixture&) = delete;

  /// That any row names, discards aside.
  [[nodiscard]] unsigned lanes() const { return lanes_; }

  void set_rows(Rows rows);

  /// Hosts may use the SLs of the wanted routes too.
  void set_told(bool told) { told_ = told; }

  /// Nobody uses any other SL, and no entry or row but the wanted ones ever met data.
  void set_silent();

  [[nodiscard]] Stage stage(std::size_t change) const { return stage_[change]; }

  /// Pending, Now or Fresh; changes at idle switches are always Fresh.
  void set_stage(std::size_t change, Stage stage);
  void set_stages(Stage stage);

  [[nodiscard]] std::size_t lids() const { return first_change_.size() - 1; }

  /// Changes of a LID, as indices.
  [[nodiscard]] std::span<const std::uint32_t> changes_of(std::size_t lid) const {
    return {by_lid_.data() + first_change_[lid], by_lid_.data() + first_change_[lid + 1]};
  }

  /// As set_stages() and set_told() leave it; undoes set_silent().
  void set_flowing() { silent_ = false; }

  /// From now on what collect() finds is also told here, SL by SL; null: no longer.
  void tell_uses(std::vector<LaneUse>* uses) { uses_ = uses; }

  /// Dependencies of the packets to a LID, some twice. False when a row discards some.
  [[nodiscard]] bool collect(std::size_t lid, std::vector<LaneTurnGraph::Edge>& edges);

 private:
  using LaneSets = std::array<std::uint16_t, 16>;  // by SL: a bit for each VL, 15 among them

  struct Way {
    PortIdx out = kNone<PortIdx>;
    bool is_now = false;  // in force; else once was
  };

  [[nodiscard]] std::uint16_t offered(SwitchIdx sw, Lid lid) const;
  void find_ways(std::size_t lid);
  void add_way(SwitchIdx sw, PortNum egress, bool is_now);
  void spread_sls(std::size_t lid);
  [[nodiscard]] LaneSets lanes_of(SwitchIdx sw, PortNum in, PortNum out) const;
  [[nodiscard]] LaneSets lanes_on(SwitchIdx sw, PortIdx out, Lid lid) const;
  [[nodiscard]] bool add_edges(PortIdx from,
                               const LaneSets& on,
                               std::uint16_t sls,
                               PortIdx to,
                               std::vector<LaneTurnGraph::Edge>& edges);
  [[nodiscard]] bool delivers(SwitchIdx sw, std::size_t lid) const;
  void build_row_lanes();

  const TransitionTask& task_;
  const PlanScene& scene_;
  const Fabric& fabric_;
  const LaneTask& lane_task_;
  const std::vector<EntryChange>& changes_;
  std::vector<Stage> stage_;  // by change
  std::vector<std::uint32_t> by_lid_, first_change_;
  Rows rows_ = Rows::Held;
  bool told_ = false;
  bool silent_ = false;
  std::vector<LaneUse>* uses_ = nullptr;
  unsigned lanes_ = 1;
  std::vector<LaneSets> held_lanes_, wanted_lanes_;         // by row number
  IndexVector<SwitchIdx, std::vector<PortNum>> entrances_;  // of packets from hosts, 0 among them

  // Of the LID under way, by switch:
  std::vector<std::array<Way, 2>> ways_;  // to other switches
  std::vector<std::array<std::int32_t, 2>> change_at_;
  std::vector<std::uint16_t> sls_;
  std::vector<std::vector<PortIdx>> arrivals_;  // ports by which packets may come in
};

}  // namespace smd
