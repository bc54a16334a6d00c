// Which of several routes to a destination a message takes, decided at its source when it is made.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "smd/base/rng.h"

namespace smd::sim {

enum class RouteChoiceKind : std::uint8_t {
  One,         // always the first
  Random,      // any, each time
  Rotate,      // one after the other
  Contention,  // the one that a message was held back on least, of late
  Size,        // small messages by the first set, others by the second
  Share        // a fixed share by the first set
};

/// "one", "random", "rotate", "contention", "size", "share"; false for other names.
[[nodiscard]] bool find_choice_kind(std::string_view name, RouteChoiceKind& out);

struct RouteChoiceSpec {
  RouteChoiceKind kind = RouteChoiceKind::One;
  std::uint32_t small = 32;  // bytes, of messages that go by the first set
  double share = 0.5;        // of messages that go by the first set
  double margin = 0;     // contention: so much less on the second set's routes, else the first's
  double forgets = 0.1;  // contention: of a route that others were preferred to
};

/// What a source keeps for one destination.
class RouteChooser {
 public:
  /// Routes of the first set and of the second, if there is one; with which of them turns begin is
  /// drawn. Requires: first > 0.
  RouteChooser(const RouteChoiceSpec& spec, std::uint32_t first, std::uint32_t second, Rng& rng);

  [[nodiscard]] std::uint32_t choose(std::uint32_t bytes, Rng& rng);

  /// The last flit of a message has left the source: it took `contention` times as long as it would
  /// have without any.
  void on_left(std::uint32_t route, double contention);

 private:
  [[nodiscard]] std::uint32_t least_contended();

  const RouteChoiceSpec* spec_;
  std::uint32_t first_, count_;
  std::uint32_t next_ = 0;         // rotate, and where ties are decided
  std::vector<float> contention_;  // by route; 1: none
};

}  // namespace smd::sim
