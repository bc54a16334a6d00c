// What outlives the manager, in memory: the one place that knows what is kept. Manager, SA and
// congestion control read and put it; who keeps a copy, on the disk or on another host, is told of
// every change. Without one, as in simulations, it is kept as long as this lives.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/base/publisher.h"
#include "smd/base/result.h"
#include "smd/mad/congestion.h"
#include "smd/policy/lid_assignment.h"
#include "smd/policy/partition_orders.h"
#include "smd/program/agent_memory.h"
#include "smd/routing/topology/lattice_record.h"
#include "smd/smp/m_keys.h"

namespace smd {

class RecordStore;
class StateDisk;
struct ClientRecords;

/// The smaller rank is the upper end of a link, of equal ranks the smaller GUID; by GUID,
/// ascending.
using SwitchRanks = std::vector<std::pair<Guid, std::uint32_t>>;

struct PersistentState {
  LidBook lids;
  std::vector<TurnRef> turns;        // that may be blocked: whoever starts next opens them again
  bool sl_to_vl_mark = false;        // switches may hold SL-to-VL rows that certain routes needed:
                                     // whoever starts next reads all of them
  std::vector<cc::CcKey> cc_keys;    // agents were protected with them, the oldest first: whoever
                                     // starts next with another one opens the agents with them
  PartitionOrders partitions;        // made while the manager runs, beside the partition file
  std::vector<KeyLink> m_key_links;  // where ports answer nobody without an M_Key of their own:
                                     // whoever starts next finds by them whose key to show where
  SwitchRanks directions;  // up*/down* ranks of the routes in force, if they have any: whoever
                           // starts next, and keeps the routes, adds to them in these directions
  LatticeRecord lattice;   // of the latest routes that went by one: whoever starts next has the
                           // same names for its places

  friend bool operator==(const PersistentState&, const PersistentState&) = default;
};

/// Of state: a file of its own, and what a standby is sent.
struct StateKind {
  std::string_view name;
  std::string_view loss;  // where it cannot be written; for the log
  std::string (*print)(const PersistentState& state);

  /// Into `state`, where it has no fault; every fault otherwise. `file` is for the messages.
  Faults (*parse)(std::string_view text, const std::string& file, PersistentState& state);

  static const StateKind kLids, kTurns, kSlToVlMark, kCcKeys, kPartitionOrders, kMKeyLinks;
  static const StateKind kDirections, kLattice;
  static const StateKind kClientRecords;  // no part of PersistentState, and without functions

  friend bool operator==(const StateKind& a, const StateKind& b) { return a.name == b.name; }
};

class StateStore {
 public:
  explicit StateStore(PersistentState kept = {});
  ~StateStore();
  StateStore(const StateStore&) = delete;

  /// What a former life kept, before anybody uses this; nobody is told.
  void load(PersistentState kept, ClientRecords left);

  [[nodiscard]] const PersistentState& get() const { return state_; }

  // Nothing happens where it is so already; else changed() has been told when these return: what is
  // to be on the disk is, and SMPs that rely on it may go out. A disk may take seconds for the LIDs
  // of new hosts, and for orders of partitions: SMPs that rely on LIDs wait for is_kept(), and
  // whoever orders for PartitionControl.

  void put_lids(const LidBook& lids) { put(StateKind::kLids, state_.lids, lids); }

  void put_turns(const std::vector<TurnRef>& turns) { put(StateKind::kTurns, state_.turns, turns); }

  /// It is never taken back.
  void set_sl_to_vl_mark() { put(StateKind::kSlToVlMark, state_.sl_to_vl_mark, true); }

  void put_cc_keys(const std::vector<cc::CcKey>& keys) {
    put(StateKind::kCcKeys, state_.cc_keys, keys);
  }

  void put_partition_orders(const PartitionOrders& orders) {
    put(StateKind::kPartitionOrders, state_.partitions, orders);
  }

  void put_m_key_links(const std::vector<KeyLink>& links) {
    put(StateKind::kMKeyLinks, state_.m_key_links, links);
  }

  void put_directions(const SwitchRanks& ranks) {
    put(StateKind::kDirections, state_.directions, ranks);
  }

  void put_lattice(const LatticeRecord& lattice) {
    put(StateKind::kLattice, state_.lattice, lattice);
  }

  /// As another manager prints it; every fault of it. Requires: a kind of PersistentState.
  [[nodiscard]] Faults put_text(const StateKind& kind,
                                std::string_view text,
                                const std::string& file);

  /// What clients left.
  [[nodiscard]] RecordStore& records() { return *records_; }

  [[nodiscard]] Signal<StateKind>& changed() { return changed_; }

  /// Who keeps the copy on the disk has no LIDs to write: all are there, or the log says why not.
  /// True where nobody keeps one.
  [[nodiscard]] bool is_kept() const { return !is_kept_ || is_kept_(); }

  /// By whoever keeps a copy, as long as it lives; null: nobody does.
  void set_is_kept(std::function<bool()> is_kept) { is_kept_ = std::move(is_kept); }

 private:
  template <class Value>
  void put(const StateKind& kind, Value& held, const Value& value) {
    if (held == value) return;
    held = value;
    changed_.emit(kind);
  }

  PersistentState state_;
  Signal<StateKind> changed_;
  std::function<bool()> is_kept_;
  std::unique_ptr<RecordStore> records_;
};

// Each kind as the text of a file in the state directory (docs/formats/state.md).

/// Kinds whose file does not exist are empty; every fault of every file otherwise. Throws
/// UnreadableState where a file cannot be read (Io), but for `directions` and `lattice`.
[[nodiscard]] Parsed<PersistentState> load_state(StateDisk& disk, const std::string& state_dir);

/// On a RetryDisk.
[[nodiscard]] Parsed<PersistentState> load_state(const std::string& state_dir);

/// Of a kind of PersistentState, as it was printed: only what the next start would take. Creates
/// the directory if needed. After a failure the old file is untouched.
Result<void> save_state_text(const std::string& state_dir,
                             const StateKind& kind,
                             const std::string& text);

/// The same, but that a long text is written unread.
Result<void> save_state(const std::string& state_dir,
                        const PersistentState& state,
                        const StateKind& kind);

/// One per line: GUID of the switch, input, output.
[[nodiscard]] std::string print_turns(const std::vector<TurnRef>& turns);

/// Every line that is no turn is a fault. `file` is for the messages.
[[nodiscard]] Parsed<std::vector<TurnRef>> parse_turns(std::string_view text,
                                                       const std::string& file);

/// One per line; of each end node GUID, port GUID, number, and "switch" or "end".
[[nodiscard]] std::string print_m_key_links(const std::vector<KeyLink>& links);

/// Every line that is no link is a fault. `file` is for the messages.
[[nodiscard]] Parsed<std::vector<KeyLink>> parse_m_key_links(std::string_view text,
                                                             const std::string& file);

/// One per line: GUID of the switch, rank.
[[nodiscard]] std::string print_directions(const SwitchRanks& ranks);

/// Every line that is no rank is a fault, as is a GUID that is not above the one before. `file` is
/// for the messages.
[[nodiscard]] Parsed<SwitchRanks> parse_directions(std::string_view text, const std::string& file);

/// The engine and its dimensions, then one per line: GUID of the switch, coordinates.
[[nodiscard]] std::string print_lattice(const LatticeRecord& lattice);

/// A first line that is no lattice is a fault; else every other line that is no place in it, as is
/// a GUID that is not above the one before. `file` is for the messages.
[[nodiscard]] Parsed<LatticeRecord> parse_lattice(std::string_view text, const std::string& file);

/// One per line.
[[nodiscard]] std::string print_cc_keys(const std::vector<cc::CcKey>& keys);

/// Every line that is no key is a fault, which does not show it. `file` is for the messages.
[[nodiscard]] Parsed<std::vector<cc::CcKey>> parse_cc_keys(std::string_view text,
                                                           const std::string& file);

}  // namespace smd
