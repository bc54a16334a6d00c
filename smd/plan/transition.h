// How the fabric goes from the tables it holds to the tables it should hold: ordered phases with a
// barrier after each, and with each phase the proof that nothing can deadlock or loop in it.
//
// Within a phase entries arrive in any order and any subset of them may be in force at any moment.
// The phase is safe when its mixture graph has no cycle: an edge from channel c to channel e
// stands for every LID whose entries, old or new, can lead a packet over c and then over e. A
// forwarding loop would be such a cycle too, so one proof covers deadlocks and loops. A certificate
// is an order of the channels in which every edge rises; checking it is a linear scan
// (plan/check_transition.h) that shares no code with whoever found it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/fabric/lid_map.h"
#include "smd/plan/table_diff.h"
#include "smd/routing/tables.h"

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

/// Besides what the wanted rows discard: these SLs of one way through a switch.
struct SlCut {
  Turn way;
  std::uint16_t sls = 0;  // a bit for each

  friend bool operator==(const SlCut&, const SlCut&) = default;
};

/// By the port a channel leaves from. Every dependency of the phase leads from a smaller to a
/// greater number. Where a plan does not tell lanes apart, every lane of a channel has the same
/// number; else there is one for each, at lane_at().
using ChannelOrder = IndexVector<PortIdx, std::uint32_t>;

[[nodiscard]] constexpr PortIdx lane_at(PortIdx port, unsigned vl, unsigned lanes) {
  return PortIdx{port.value() * lanes + vl};
}

/// In this order, each list confirmed before the next begins. Rows: the SL-to-VL rows of all
/// switches are as wanted once the list is confirmed, those of blocked turns aside.
struct TransitionPhase {
  std::vector<Turn> block;          // sorted
  std::vector<Turn> restore;        // sorted
  std::vector<PortIdx> deactivate;  // sorted; to Down; up again as Initialize, data discarded
  bool rows = false;
  std::vector<EntryChange> entries;  // sorted by (switch, LID), each pair once
  bool to_wanted = false;         // instead of `entries`, which is empty: every entry to `wanted`
  std::vector<PortIdx> activate;  // sorted; Initialize, Armed or deactivated: to Armed, then Active
  bool told = false;         // once its rows are in, hosts may use the SLs of the wanted routes
  ChannelOrder certificate;  // empty: this phase is not proved
};

/// What may sit in a channel while a phase is under way, besides what its own entries send.
/// Linger: packets of every entry that was in force since the plan began. Drained: nothing, since
/// the barrier let earlier ones leave the channel that they had entered; whoever runs the plan may
/// wait longer than its round trip. In a plan of one phase they are the same.
enum class InFlight : std::uint8_t { Linger, Drained };

enum class TransitionKind : std::uint8_t {
  Nothing,          // no entry differs
  Initial,          // nothing carries data yet: any order will do
  Certified,        // every phase proved, nothing blocked
  CutDependencies,  // proved with turns blocked
  CutPorts,         // ports at cut nodes deactivated
  DeactivateAll,    // no data anywhere while tables change
  NextHopFirst,     // outwards from each destination, level by level
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
  unsigned lanes = 1;         // that certificates tell apart
  std::vector<SlCut> cut;     // in the rows that it writes; sorted by way, each once
  bool whole_tables = false;  // a phase that has entries, or the only one, writes every block

  [[nodiscard]] bool certified() const {
    for (const TransitionPhase& phase : phases) {
      if (phase.certificate.size() == 0) return false;
    }
    return true;
  }
};

/// What packets have to do with lanes, where rows are written turn by turn or routes need several
/// lanes. A turn that is opened gets its wanted row.
struct LaneTask {
  SlSets told;        // SLs that end ports may send with all the time: they were told so before
  SlSets wanted_sls;  // of the wanted routes: besides, once they are told

  LaneMaps held;              // rows of switches, as confirmed
  LaneMaps wanted;            // as they shall be
  std::vector<Turn> unknown;  // rows that may hold anything, of switches that forward; sorted
  bool fresh = false;         // switches that forward nothing yet do not hold all of theirs
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
  const LaneTask* lanes = nullptr;           // null: no row changes, and lanes are not told apart
};

/// Any row is not known to be as wanted.
[[nodiscard]] bool rows_differ(const TransitionTask& task);

/// Rows that a plan writes.
[[nodiscard]] LaneMaps with_cuts(const LaneMaps& rows, const std::vector<SlCut>& cuts);

/// Where `wanted` differs from the held rows it discards, so that writing it adds no dependency.
[[nodiscard]] bool rows_only_discard(const TransitionTask& task, const LaneMaps& wanted);

/// A wanted row discards packets of some SL.
[[nodiscard]] bool rows_discard(const TransitionTask& task);

/// A link carries data when both of its ports are Active.
[[nodiscard]] bool carries_data(const Fabric& fabric, PortIdx port);

/// The port has a link and is in Initialize or Armed.
[[nodiscard]] bool awaits_activation(const Fabric& fabric, PortIdx port);

/// "S4:2>5".
[[nodiscard]] std::string print_turn(const Fabric& fabric, const Turn& turn);

}  // namespace smd
