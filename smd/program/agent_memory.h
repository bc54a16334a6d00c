// What is known of agents from one cycle to the next: what ports and switches keep or refuse, the
// blocked turns, and the entries of random forwarding tables.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/ib/types.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "smd/plan/transition.h"

namespace smd {

// Agents differ in what they keep of a PortInfo. Remembers what a port answered to which Set, so
// that a port that will not keep a value is not set again in every sweep.

class PortMemory {
 public:
  /// What the port does not keep, as find_not_kept() says it; empty when that is no news.
  std::string remember(Guid node, PortNum port, const PortInfo& wanted, const PortInfo& answered);

  /// True when the port was last asked for `wanted` and still answers as it did then, the state
  /// aside.
  [[nodiscard]] bool settled(Guid node,
                             PortNum port,
                             const PortInfo& wanted,
                             const PortInfo& now) const;

  /// True when the port was asked for so many VLs at least and answered, as now, with fewer.
  [[nodiscard]] bool keeps_fewer_vls(Guid node,
                                     PortNum port,
                                     std::uint8_t operational_vls,
                                     const PortInfo& now) const;

  void forget(Guid node);

 private:
  struct Entry {
    PortInfo wanted;
    PortInfo answered;
  };

  std::unordered_map<Guid, std::unordered_map<PortNum, Entry>> ports_;  // look-ups only
};

// What a switch answered to which SwitchInfo, so that one that will not keep a value is not set
// again in every cycle.

class SwitchMemory {
 public:
  /// True when it is news that the switch does not keep the wanted LifeTimeValue.
  bool remember(Guid node, const SwitchInfo& wanted, const SwitchInfo& answered);

  /// True when the switch was last asked for `wanted`, kept all that routes depend on, and still
  /// answers as it did then. PortStateChange aside.
  [[nodiscard]] bool settled(Guid node, const SwitchInfo& wanted, const SwitchInfo& now) const;

  /// True when somebody else changed what the switch last answered; the power-on of a switch does.
  [[nodiscard]] bool was_reset(Guid node, const SwitchInfo& now) const;

  void forget(Guid node);

 private:
  struct Entry {
    SwitchInfo wanted;
    SwitchInfo answered;
  };

  std::unordered_map<Guid, Entry> switches_;  // look-ups only
};

/// LinearFDBTop and DefaultPort: what packets are routed by.
[[nodiscard]] bool routes_alike(const SwitchInfo& a, const SwitchInfo& b);

// What is known of the SL-to-VL entries that transitions block and restore, by switch, input and
// output. An entry that nobody touched is not here: it is open.
//
// A blocked turn lies over the entry that the site wants, so that entry is kept beside the flag.

/// A turn by GUID, so that it outlives snapshots and the daemon.
struct TurnRef {
  Guid node;
  PortNum in;
  PortNum out;

  friend bool operator==(const TurnRef&, const TurnRef&) = default;
  friend auto operator<=>(const TurnRef&, const TurnRef&) = default;
};

class TurnMemory {
 public:
  enum class Held : std::uint8_t {
    Open,
    Blocked,
    Unknown,  // a Set was not answered, or somebody else's entry is there
  };

  struct Entry {
    Held held = Held::Unknown;
    std::optional<SlToVl> open;  // what the switch held before it was blocked
  };

  /// Null when nobody touched it.
  [[nodiscard]] const Entry* find(Guid node, PortNum in, PortNum out) const;

  /// Whether `matches(in, out, entry)` holds for any that somebody touched.
  template <class Matches>
  [[nodiscard]] bool any(Guid node, Matches&& matches) const {
    const auto rows = rows_.find(node);
    return rows != rows_.end() && std::ranges::any_of(rows->second, [&](const auto& each) {
             return matches(each.first.first, each.first.second, each.second);
           });
  }

  /// Unknown when nobody touched it.
  Entry& at(Guid node, PortNum in, PortNum out) { return rows_[node][{in, out}]; }

  /// The switch was reset: all of its entries are those of power-on.
  void forget(Guid node) { rows_.erase(node); }

  /// Somebody else may have written to it.
  void doubt(Guid node);

  /// Turns of the fabric whose entries are held so, sorted.
  [[nodiscard]] std::vector<Turn> collect(const Fabric& fabric, Held held) const;

  /// All that may be blocked, sorted: what a daemon has to write down to find it again, since
  /// reading every entry of every switch would cost more than the rest of a start.
  [[nodiscard]] std::vector<TurnRef> maybe_blocked() const;

  /// A former life may have blocked it: the next run opens it.
  void suspect(const TurnRef& turn) { at(turn.node, turn.in, turn.out).held = Held::Unknown; }

 private:
  std::map<Guid, std::map<std::pair<PortNum, PortNum>, Entry>> rows_;
};

// Random forwarding tables: what switches with RandomFDBCap are known to hold, and which blocks
// have to be written so that they hold certain entries. An entry keeps its place as long as it is
// there; the places of others are reused, lowest first.

/// Routes by a random table alone.
[[nodiscard]] bool has_random_table(const SwitchInfo& info);

class RandomTables {
 public:
  using Entries = std::map<Lid, PortNum>;
  using Block = std::pair<std::uint32_t, RftBlock>;

  void confirm(Guid node, std::uint32_t number, const RftBlock& block);
  void forget_block(Guid node, std::uint32_t number);

  void forget(Guid node) { tables_.erase(node); }

  [[nodiscard]] bool knows(Guid node) const { return tables_.contains(node); }

  [[nodiscard]] const RftBlock* find_block(Guid node, std::uint32_t number) const;

  /// The valid entries of known blocks.
  [[nodiscard]] Entries entries(Guid node) const;

  /// Blocks that make the switch hold exactly `wanted`, ascending; `all`: also those that need no
  /// change. Fewer entries than wanted where the table is too small.
  [[nodiscard]] std::vector<Block> layout(Guid node,
                                          const Entries& wanted,
                                          std::uint16_t capacity,
                                          bool all) const;

 private:
  std::map<Guid, std::map<std::uint32_t, RftBlock>> tables_;
};

}  // namespace smd
