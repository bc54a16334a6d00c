// What ranks of a parallel program send each other in one phase: rounds of messages, each round
// when the one before it is through. One pattern, one file; registry.cpp lists them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim-backend/packet/wiring.h"

namespace smd::sim {

struct PhaseMessage {
  HostNum from = 0;
  HostNum to = 0;
  std::uint32_t bytes = 0;

  friend bool operator==(const PhaseMessage&, const PhaseMessage&) = default;
};

struct PhaseInput {
  HostNum ranks = 0;        // 2 or more
  std::uint32_t bytes = 0;  // as the pattern's meaning says
  HostNum root = 0;         // below `ranks`
};

struct PhasePattern {
  std::string_view name;
  std::string_view meaning;
  std::uint32_t (*rounds)(const PhaseInput&);
  /// Appends the messages of a round; none is to its sender.
  void (*list)(const PhaseInput&, std::uint32_t round, std::vector<PhaseMessage>& out);
  bool has_root = false;
};

/// In the order of the listing.
[[nodiscard]] std::span<const PhasePattern* const> phase_patterns();

/// Null when there is none of that name.
[[nodiscard]] const PhasePattern* find_phase_pattern(std::string_view name);

}  // namespace smd::sim
