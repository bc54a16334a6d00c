// Which VLs of channels wait for which while some entries and SL-to-VL entries are old, new or
// either: what the packets of each SL do that hosts may send to each LID.
//
// A packet may be wherever entries that were in force since the plan began can have led it; what it
// waits for there depends on the forwarding and SL-to-VL entries of the phase alone, since channels
// drain between phases.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "smd/plan/make/transient_graph.h"
#include "smd/plan/make/turn_graph.h"

namespace smd {

/// Packets of an SL that wait for a VL on their way through a switch.
struct VlUse {
  VlTurnGraph::Edge edge;
  Turn turn;
  unsigned sl = 0;
};

class VlTransientGraph {
 public:
  /// Both: what held SL-to-VL entries discard is no news, and new forwarding entries come after new
  /// SL-to-VL entries.
  enum class SlToVlState : std::uint8_t { Held, Both, Wanted };

  /// Requires: all outlive this; no block and no SL-to-VL entry is unknown; `changes` is what
  /// find_changes() gives, sorted.
  VlTransientGraph(const TransitionTask& task,
                   const InitialState& initial,
                   const std::vector<EntryChange>& changes);
  VlTransientGraph(const VlTransientGraph&) = delete;

  /// That any SL-to-VL entry names, discards aside.
  [[nodiscard]] unsigned vls() const { return vls_; }

  void set_sl_to_vl(SlToVlState rows);

  /// Hosts may use the SLs of the wanted routes too.
  void set_advertised(bool advertised) { advertised_ = advertised; }

  /// Nobody uses any other SL, and no entry but the wanted ones ever met data.
  void set_silent();

  [[nodiscard]] EntryStage stage(std::size_t change) const { return stage_[change]; }

  /// Pending, Now or Fresh; changes at idle switches are always Fresh.
  void set_stage(std::size_t change, EntryStage stage);
  void set_stages(EntryStage stage);

  [[nodiscard]] std::size_t lids() const { return first_change_.size() - 1; }

  /// Changes of a LID, as indices.
  [[nodiscard]] std::span<const std::uint32_t> changes_of(std::size_t lid) const {
    return {by_lid_.data() + first_change_[lid], by_lid_.data() + first_change_[lid + 1]};
  }

  /// As set_stages() and set_advertised() leave it; undoes set_silent().
  void set_flowing() { silent_ = false; }

  /// From now on what collect() finds is also recorded here, SL by SL; null: no longer.
  void record_uses(std::vector<VlUse>* uses) { uses_ = uses; }

  /// Dependencies of the packets to a LID, some twice. False when an SL-to-VL entry discards some.
  [[nodiscard]] bool collect(std::size_t lid, std::vector<VlTurnGraph::Edge>& edges);

 private:
  using VlSets = std::array<std::uint16_t, 16>;  // by SL: a bit for each VL, 15 among them

  struct NextHop {
    PortIdx out = kNone<PortIdx>;
    bool is_now = false;  // in force; else once was
  };

  [[nodiscard]] std::uint16_t offered(SwitchIdx sw, Lid lid) const;
  void find_next_hops(std::size_t lid);
  void add_next_hop(SwitchIdx sw, PortNum egress, bool is_now);
  void spread_sls(std::size_t lid);
  [[nodiscard]] VlSets vls_of(SwitchIdx sw, PortNum in, PortNum out) const;
  [[nodiscard]] VlSets vls_on(SwitchIdx sw, PortIdx out, Lid lid) const;
  [[nodiscard]] bool add_edges(PortIdx from,
                               const VlSets& on,
                               std::uint16_t sls,
                               PortIdx to,
                               std::vector<VlTurnGraph::Edge>& edges);
  [[nodiscard]] bool delivers(SwitchIdx sw, std::size_t lid) const;
  void build_vl_sets();

  const TransitionTask& task_;
  const InitialState& initial_;
  const Fabric& fabric_;
  const SlToVlTask& sl_to_vl_task_;
  const std::vector<EntryChange>& changes_;
  std::vector<EntryStage> stage_;  // by change
  std::vector<std::uint32_t> by_lid_, first_change_;
  SlToVlState sl_to_vl_ = SlToVlState::Held;
  bool advertised_ = false;
  bool silent_ = false;
  std::vector<VlUse>* uses_ = nullptr;
  unsigned vls_ = 1;
  std::vector<VlSets> held_vls_, wanted_vls_;               // by number of the SL-to-VL entry
  IndexVector<SwitchIdx, std::vector<PortNum>> entrances_;  // of packets from hosts, 0 among them

  // Of the LID under way, by switch:
  std::vector<std::array<NextHop, 2>> next_hops_;  // to other switches
  std::vector<std::array<std::int32_t, 2>> change_at_;
  std::vector<std::uint16_t> sls_;
  std::vector<std::vector<PortIdx>> arrivals_;  // ports by which packets may come in
};

}  // namespace smd
