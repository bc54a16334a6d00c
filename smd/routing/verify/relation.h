// Routes that no table holds, where a packet may have several ways and its VL may follow from what
// it has passed: a relation from where a packet is to where it may go. The checker follows every
// choice and says whether packets can wait for each other in a circle.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

/// A packet at a switch. `state` is the relation's own: the destination, and what it keeps of the
/// way.
struct RelationPlace {
  PortIdx in;  // of the switch where it is
  Vl vl;       // on which it came in
  std::uint64_t state = 0;

  friend bool operator==(const RelationPlace&, const RelationPlace&) = default;
};

/// One of its ways to another switch.
struct RelationStep {
  PortIdx out;
  Vl vl;
  std::uint64_t state = 0;
  bool escape = true;
};

struct RelationChannel {
  PortIdx out;
  Vl vl;

  friend bool operator==(const RelationChannel&, const RelationChannel&) = default;
};

class RoutingRelation {
 public:
  virtual ~RoutingRelation() = default;

  /// Where packets begin, each place once or more often.
  virtual void starts(const std::function<void(const RelationPlace&)>& begin) const = 0;

  /// Appends its ways. Ensures: none, and true, where the packet is delivered.
  virtual bool moves(const RelationPlace& place, std::vector<RelationStep>& out) const = 0;

  /// The channel to a host that it needs there (a consumption channel), beside its way on and by
  /// itself, and keeps until all of it is in. Nothing: it needs none, or there is always a free
  /// one. Several of one host that are fewer than the packets that may want them count as one: a
  /// circle is no deadlock yet then.
  [[nodiscard]] virtual std::optional<RelationChannel> consumes(const RelationPlace&) const {
    return std::nullopt;
  }
};

enum class RelationMode : std::uint8_t {
  All,    // no choice whatever closes a circle
  Escape  // Duato (1993): escape channels are always to be had, and close none among themselves
};

struct RelationVerdict {
  bool acyclic = false;
  std::vector<RelationChannel> cycle;  // each waits for the next, the last for the first
  /// Not delivered, and no way on; in mode Escape, no escape on. Deadlocks by themselves.
  std::uint64_t dead_ends = 0;
  std::uint64_t places = 0;
  std::uint64_t edges = 0;
  unsigned vls = 0;  // up to the highest one used

  [[nodiscard]] bool is_safe() const { return acyclic && dead_ends == 0; }
};

/// Ensures: every place that can be reached from a start was looked at.
[[nodiscard]] RelationVerdict check_relation(const Fabric& fabric,
                                             const RoutingRelation& relation,
                                             RelationMode mode);

/// "sw-0:3(VL0) -> sw-1:2(VL0) -> …".
[[nodiscard]] std::string print_circle(const Fabric& fabric,
                                       const std::vector<RelationChannel>& circle);

}  // namespace smd
