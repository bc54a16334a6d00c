// What is known of the SL-to-VL rows that transitions block and restore, by switch, input and
// output. A row that nobody touched is not here: it is open.
//
// A blocked turn lies over the row that the site wants, so that row is kept beside the flag.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "smd/mad/tables.h"
#include "smd/plan/transition.h"

namespace smd {

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
    Unknown,  // a Set was not answered, or somebody else's row is there
  };

  struct Row {
    Held held = Held::Unknown;
    std::optional<SlToVl> open;  // what the switch held before it was blocked
  };

  /// Null when nobody touched it.
  [[nodiscard]] const Row* find(Guid node, PortNum in, PortNum out) const;

  /// Unknown when nobody touched it.
  Row& at(Guid node, PortNum in, PortNum out) { return rows_[node][{in, out}]; }

  /// The switch was reset: all of its rows are those of power-on.
  void forget(Guid node) { rows_.erase(node); }

  /// Turns of the fabric whose rows are held so, sorted.
  [[nodiscard]] std::vector<Turn> collect(const Fabric& fabric, Held held) const;

  /// All that may be blocked, sorted: what a daemon has to write down to find it again, since
  /// reading every row of every switch would cost more than the rest of a start.
  [[nodiscard]] std::vector<TurnRef> maybe_blocked() const;

  /// A former life may have blocked it: the next run opens it.
  void suspect(const TurnRef& turn) { at(turn.node, turn.in, turn.out).held = Held::Unknown; }

 private:
  std::map<Guid, std::map<std::pair<PortNum, PortNum>, Row>> rows_;
};

}  // namespace smd
