// How a change is taken in: what is asked, which routes are made, and how tables change under
// traffic. Presets and every combination in between, as one word list:
//
//   certified   partial discovery, the configured engine, entries that differ, every phase proved
//   basic       full discovery, FERa, the whole subnet deactivated, whole tables   (thesis)
//   improved    partial discovery, PIRa and then FERa, cut-node dependencies blocked   (thesis)
//
// A text is words joined by '+': "improved+delta", "partial+fera+none+delta". A preset comes first,
// what follows changes it. Words that contradict each other are refused, and so is "certified" with
// a way of changing tables that gives up the proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "smd/plan/make/planner.h"

namespace smd {

struct ReconfigurationMode {
  enum class Discovery : std::uint8_t { Partial, Full };
  enum class Routes : std::uint8_t { Engine, Fera, Pira, PiraThenFera };

  Discovery discovery = Discovery::Partial;
  Routes routes = Routes::Engine;  // Engine: as configured
  Deactivation safety = Deactivation::Certified;
  bool whole_tables = false;           // not only the entries that differ
  bool lid_routed_activation = false;  // ports are activated over the new routes
  bool literal = false;                // the request sets of the thesis, SMP by SMP

  friend bool operator==(const ReconfigurationMode&, const ReconfigurationMode&) = default;
};

/// Nothing when a word is unknown or contradicts another.
[[nodiscard]] std::optional<ReconfigurationMode> parse_reconfiguration_mode(std::string_view text);

/// A preset's name, or all words.
[[nodiscard]] std::string print_reconfiguration_mode(const ReconfigurationMode& mode);

/// "certified, basic, improved, or words of …": what would be right.
[[nodiscard]] std::string_view reconfiguration_mode_grammar();

}  // namespace smd
