// Which VLs of channels wait for which while some entries and SL-to-VL entries are old, new or
// either: what the packets of each SL do that hosts may send to each LID.
//
// A packet may be wherever entries that were in force since the plan began can have led it; what it
// waits for there depends on the forwarding and SL-to-VL entries of the phase alone, since channels
// drain between phases.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "smd/plan/make/transient_graph.h"
#include "smd/plan/make/turn_graph.h"

namespace smd {

/// In sets of VLs by bit: packets that an SL-to-VL entry discards (VL 15).
inline constexpr std::uint16_t kDiscarded = 1u << 15;

/// Packets of an SL that wait for a VL on their way through a switch.
struct VlUse {
  VlTurnGraph::Edge edge;
  Turn turn;
  unsigned sl = 0;
};

/// Packets to a LID that go through a switch by entries in force, to another switch.
struct SlUse {
  PortIdx from = kNone<PortIdx>;  // the channel that they come by; none: from hosts
  PortIdx to;
  Turn turn;
  std::uint16_t sls = 0;
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

  /// Of the wanted entries alone, with every SL that is or was advertised.
  void set_final();

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
  void set_flowing() { silent_ = final_ = false; }

  /// Calls visit(SlUse) for all packets to the LID, those from hosts first.
  template <class Visit>
  void for_each_use(std::size_t lid, Visit&& visit);

  /// Whatever LIDs without changes could tell.
  struct State {
    SlToVlState sl_to_vl = SlToVlState::Held;
    bool advertised = false, silent = false, final = false;

    friend bool operator==(const State&, const State&) = default;
  };

  [[nodiscard]] State state() const { return {sl_to_vl_, advertised_, silent_, final_}; }

  /// From now on what collect() finds is also recorded here, SL by SL; null: no longer.
  void record_uses(std::vector<VlUse>* uses) {
    uses_ = uses;
    by_class_ = uses == nullptr;
  }

  /// From now on a LID that goes the same way as the one that was collected last adds nothing; else
  /// every LID is collected whole.
  void skip_alike(bool on) {
    skips_ = on;
    has_last_ = false;
  }

  /// Dependencies of the packets to a LID, some twice. False when an SL-to-VL entry discards some.
  [[nodiscard]] bool collect(std::size_t lid, std::vector<VlTurnGraph::Edge>& edges);

 private:
  using VlSets = std::array<std::uint16_t, 16>;  // by SL: a bit for each VL, 15 among them

  struct NextHop {
    PortIdx out = kNone<PortIdx>;
    bool is_now = false;  // in force; else once was

    friend bool operator==(const NextHop&, const NextHop&) = default;
  };

  // SLs that every entry maps alike are one: the least of them.
  void find_classes();
  [[nodiscard]] std::uint16_t classes_of(std::uint16_t sls) const;
  void load_columns(std::size_t lid);
  void find_next_hops(std::size_t lid);
  void add_next_hop(SwitchIdx sw, PortNum egress, bool is_now);
  void spread_sls(std::size_t lid);
  /// Good until the next call.
  [[nodiscard]] const VlSets& vls_of(SwitchIdx sw, PortNum in, PortNum out);
  [[nodiscard]] const VlSets& vls_from_hosts(SwitchIdx sw, PortIdx out);
  [[nodiscard]] VlSets vls_on(SwitchIdx sw, PortIdx out);
  [[nodiscard]] bool add_edges(PortIdx from,
                               const VlSets& on,
                               std::uint16_t sls,
                               PortIdx to,
                               std::vector<VlTurnGraph::Edge>& edges);
  [[nodiscard]] bool delivers(SwitchIdx sw, std::size_t lid);
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
  bool final_ = false;
  std::vector<VlUse>* uses_ = nullptr;
  unsigned vls_ = 1;
  std::vector<VlSets> held_vls_, wanted_vls_;  // by number of the SL-to-VL entry
  bool may_discard_ = false;                   // any of them
  std::array<std::uint8_t, 16> class_of_{};
  bool by_class_ = true;
  IndexVector<SwitchIdx, std::vector<PortNum>> entrances_;  // of packets from hosts, 0 among them
  VlSets both_{};                                           // see vls_of()
  IndexVector<PortIdx, VlSets> from_hosts_;                 // by egress, as far as known …
  IndexVector<PortIdx, char> is_known_;                     // … in this state

  // Of some LIDs in a row, LID by LID, by switch: tables are read along their rows.
  static constexpr std::size_t kLidsAtOnce = 64;
  std::size_t first_lid_ = ~std::size_t{0};
  std::vector<PortNum> held_entries_, wanted_entries_;
  std::vector<std::uint16_t> advertised_sls_, wanted_sls_;

  // Of the LID under way, by switch:
  std::vector<std::array<NextHop, 2>> next_hops_;  // to other switches
  std::vector<std::array<std::int32_t, 2>> change_at_;
  std::vector<std::uint16_t> sls_;
  std::vector<std::vector<PortIdx>> arrivals_;  // ports by which packets may come in

  // Of the LID that was collected last: one that goes the same way adds nothing.
  std::vector<std::array<NextHop, 2>> last_hops_;
  std::vector<std::uint16_t> offered_, last_offered_;
  bool last_passed_ = false;
  bool has_last_ = false;
  bool skips_ = false;
};

template <class Visit>
void VlTransientGraph::for_each_use(std::size_t lid, Visit&& visit) {
  by_class_ = false;
  find_next_hops(lid);
  spread_sls(lid);
  by_class_ = uses_ == nullptr;
  for (const bool from_hosts : {true, false}) {
    for (const SwitchIdx sw : fabric_.switch_node.indices()) {
      for (const NextHop& hop : next_hops_[sw.value()]) {
        if (hop.out == kNone<PortIdx> || !hop.is_now) continue;
        const PortNum out = fabric_.number_of(hop.out);
        if (from_hosts) {
          const std::uint16_t sls = offered_[sw.value()];
          if (sls == 0) continue;
          for (const PortNum in : entrances_[sw])
            visit(SlUse{.to = hop.out, .turn = {sw, in, out}, .sls = sls});
          continue;
        }
        for (const PortIdx in : arrivals_[sw.value()]) {
          const PortIdx from = fabric_.peer[in];
          const auto& hops = next_hops_[initial_.peer_switch[in].value()];
          const bool is_now = std::ranges::any_of(
              hops, [&](const NextHop& each) { return each.out == from && each.is_now; });
          const std::uint16_t sls = sls_[initial_.peer_switch[in].value()];
          if (in == hop.out || sls == 0 || !is_now) continue;
          const Turn turn{sw, fabric_.number_of(in), out};
          if (std::ranges::binary_search(initial_.kept, turn)) continue;
          visit(SlUse{.from = from, .to = hop.out, .turn = turn, .sls = sls});
        }
      }
    }
  }
}

// Packets of SLs that are advertised no longer have to get to their destinations by the wanted
// entries too, until their hosts ask anew. Where those SLs would close a cycle, or be discarded,
// they may be led over other VLs: by SL-to-VL entries that no wanted route needs.

struct OtherVls {
  std::vector<BlockedSls> sls;  // sorted by turn and VL
  bool discards = false;        // some of them, for want of a VL
};

/// `at_once`: what closes a cycle while all entries change at once is discarded as well. None where
/// wanted routes close a cycle themselves, no entry that is free to be chosen helps, or the budget
/// is spent. What is found is not proved. Requires: as VlTransientGraph.
[[nodiscard]] std::optional<OtherVls> find_other_vls(const TransitionTask& task,
                                                     const InitialState& initial,
                                                     const std::vector<EntryChange>& changes,
                                                     std::uint16_t usable,
                                                     bool at_once,
                                                     PlanBudget& budget);

}  // namespace smd
