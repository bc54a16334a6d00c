// How the fabric goes from the tables it holds to the tables it should hold: ordered phases with a
// barrier after each, and with each phase the proof that nothing can deadlock or loop in it.
//
// Within a phase entries arrive in any order and any subset of them may be in force at any moment.
// The phase is safe when its transient dependency graph has no cycle: an edge from channel c to
// channel e stands for every LID whose entries, old or new, can lead a packet over c and then over
// e. A forwarding loop would be such a cycle too, so one proof covers deadlocks and loops. A
// certificate is an order of the channels in which every edge is respected; checking it is a linear
// scan (plan/verify/check_transition.h) that shares no code with whoever found it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/shared.h"
#include "smd/fabric/fabric.h"
#include "smd/plan/confirmed_tables.h"
#include "smd/routing/tables.h"
#include "smd/routing/verify/channel_dependencies.h"

namespace smd {

struct EntryChange {
  SwitchIdx sw;
  Lid lid;
  PortNum egress;  // kNoRoute: the entry is withdrawn

  friend bool operator==(const EntryChange&, const EntryChange&) = default;
  friend auto operator<=>(const EntryChange&, const EntryChange&) = default;
};

/// Packets that enter a switch by `in` and would leave it by `out`. Blocked: every SL of that pair
/// is mapped to VL 15, so the switch discards them.
struct Turn {
  SwitchIdx sw;
  PortNum in;
  PortNum out;

  friend bool operator==(const Turn&, const Turn&) = default;
  friend auto operator<=>(const Turn&, const Turn&) = default;
};

/// Other than the wanted SL-to-VL entries say: these SLs of one turn are discarded, or go on
/// another VL. No wanted route needs them there.
struct BlockedSls {
  Turn turn;
  std::uint16_t sls = 0;  // a bit for each
  Vl vl = kManagementVl;  // discarded

  friend bool operator==(const BlockedSls&, const BlockedSls&) = default;
};

/// By the port a channel leaves from. Every dependency of the phase leads from a smaller to a
/// greater number. Where a plan does not tell VLs apart, every VL of a channel has the same
/// number; else there is one for each, at vl_channel_at().
using ChannelOrder = IndexVector<PortIdx, std::uint32_t>;

[[nodiscard]] constexpr PortIdx vl_channel_at(PortIdx port, unsigned vl, unsigned vls) {
  return PortIdx{port.value() * vls + vl};
}

/// In this order, each list confirmed before the next begins. `sl_to_vl`: the SL-to-VL entries of
/// all switches are as wanted once the list is confirmed, those of blocked turns aside.
struct TransitionPhase {
  std::vector<Turn> block;          // sorted
  std::vector<Turn> restore;        // sorted
  std::vector<PortIdx> deactivate;  // sorted; to Down; up again as Initialize, data discarded
  bool sl_to_vl = false;
  std::vector<EntryChange> entries;  // sorted by (switch, LID), each pair once
  bool to_wanted = false;         // instead of `entries`, which is empty: every entry to `wanted`
  std::vector<PortIdx> activate;  // sorted; Initialize, Armed or deactivated: to Armed, then Active
  bool advertised =
      false;  // once its SL-to-VL entries are in, hosts may use the SLs of the wanted routes
  ChannelOrder certificate;  // empty: this phase is not proved

  friend bool operator==(const TransitionPhase&, const TransitionPhase&) = default;
};

/// What may sit in a channel while a phase is under way, besides what its own entries send.
/// Linger: packets of every entry that was in force since the plan began. Drained: nothing, since
/// the barrier let earlier ones leave the channel that they had entered; whoever runs the plan may
/// wait longer than its round trip. In a plan of one phase they are the same. Between what a
/// phase blocks or discards and its entries whoever runs the plan waits, too.
enum class InFlight : std::uint8_t { Linger, Drained };

enum class TransitionKind : std::uint8_t {
  Nothing,          // no entry differs
  Initial,          // nothing carries data yet: any order will do
  Certified,        // every phase proved, nothing blocked
  CutDependencies,  // proved with turns blocked
  CutPorts,         // ports at cut nodes deactivated
  DeactivateAll,    // no data anywhere while tables change
  NextHopFirst,     // outwards from each destination, level by level
  Held,             // not proved, and nothing is written
  Unordered,        // whole new tables at once, not proved
};

/// "certified", "cut-dependencies", …
[[nodiscard]] std::string_view print_transition_kind(TransitionKind kind);

struct TransitionPlan {
  TransitionKind kind = TransitionKind::Nothing;
  std::vector<TransitionPhase> phases;
  std::string why;            // of a fallback: what could not be done, in one line
  std::vector<Turn> blocked;  // still blocked when the plan is done, sorted
  InFlight in_flight = InFlight::Linger;
  unsigned vls = 1;  // that certificates tell apart
  std::vector<BlockedSls>
      blocked_sls;            // in the SL-to-VL entries that it writes; sorted by turn and VL
  bool whole_tables = false;  // a phase that has entries, or the only one, writes every block

  [[nodiscard]] bool certified() const {
    for (const TransitionPhase& phase : phases) {
      if (phase.certificate.size() == 0) return false;
    }
    return kind != TransitionKind::Held;
  }

  /// Traffic loses nothing to it.
  [[nodiscard]] bool is_free() const {
    for (const TransitionPhase& phase : phases) {
      if (!phase.deactivate.empty()) return false;
    }
    return kind == TransitionKind::Certified || kind == TransitionKind::Nothing;
  }

  [[nodiscard]] bool discards_sls() const {
    for (const BlockedSls& each : blocked_sls) {
      if (each.vl == kManagementVl) return true;
    }
    return false;
  }
};

/// What packets have to do with VLs, where SL-to-VL entries are written turn by turn or routes need
/// several VLs. A turn that is opened gets its wanted SL-to-VL entry.
struct SlToVlTask {
  // SLs that end ports may send with all the time, advertised to them before, and those of the
  // wanted routes: besides, once they are advertised. Where nothing tells VLs apart nobody asks.
  OnFirstUse<SlSets> advertised;
  OnFirstUse<SlSets> wanted_sls;

  SlToVlMaps held;    // SL-to-VL entries of switches, as confirmed
  SlToVlMaps wanted;  // as they shall be
  std::vector<Turn>
      unknown;         // turns whose entries may hold anything, of switches that forward; sorted
  bool fresh = false;  // switches that forward nothing yet do not hold all of theirs
};

/// The state that a plan starts from and the one that it ends in.
struct TransitionTask {
  const Fabric* fabric = nullptr;  // all outlive the planning
  const LidMap* lids = nullptr;
  const ForwardingTables* held = nullptr;  // by the switches, as confirmed; explicit entries only
  const ForwardingTables* wanted = nullptr;
  std::vector<TableBlock> unknown;           // blocks that may hold anything
  std::vector<Turn> blocked;                 // now, sorted
  const Orientation* orientation = nullptr;  // that `wanted` obeys, where the engine has one
  const SlToVlTask* sl_to_vl = nullptr;      // null: no entry changes, and VLs are not told apart

  /// How many of the LIDs that somebody has take each turn of `wanted`; null: nobody has counted.
  const TurnCounts* turns = nullptr;

  /// Places, all different, in which the counted turns lead upwards; null: nobody knows any.
  const ChannelOrder* places = nullptr;
};

/// Any SL-to-VL entry is not known to be as wanted.
[[nodiscard]] bool sl_to_vl_differs(const TransitionTask& task);

/// Of blocked turns those that a packet may need: with a link at both ports, and in accordance with
/// the directions, if there are any.
[[nodiscard]] std::vector<Turn> list_needed(const Fabric& fabric,
                                            const Orientation* orientation,
                                            std::span<const Turn> blocked);

/// SL-to-VL entries that a plan writes.
[[nodiscard]] SlToVlMaps with_blocked_sls(const SlToVlMaps& sl_to_vl,
                                          const std::vector<BlockedSls>& blocked);

/// Where `wanted` differs from the held SL-to-VL entries it discards, so that writing it adds no
/// dependency.
[[nodiscard]] bool sl_to_vl_only_discards(const TransitionTask& task, const SlToVlMaps& wanted);

/// A wanted SL-to-VL entry discards packets of some SL.
[[nodiscard]] bool sl_to_vl_discards(const TransitionTask& task);

/// A link carries data when one of its ports is Active and the other Armed at least: an Armed port
/// becomes Active by itself with the first data packet that comes in.
[[nodiscard]] bool carries_data(const Fabric& fabric, PortIdx port);

/// The port has a link and is in Initialize or Armed.
[[nodiscard]] bool awaits_activation(const Fabric& fabric, PortIdx port);

/// "S4:2>5".
[[nodiscard]] std::string print_turn(const Fabric& fabric, const Turn& turn);

}  // namespace smd
