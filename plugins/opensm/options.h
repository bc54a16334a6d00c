// What OpenSM's event_plugin_options says to our engines.
//
//   options = [ word *( separator word ) ]      separator: blanks or ';'
//   word    = key "=" value
//
// OpenSM hands the same text to every plugin that event_plugin_name lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/routing/engine.h"

namespace smd::opensm {

struct Options {
  std::vector<Guid> roots;  // roots=GUID,…
  unsigned vls = 0;         // vls=1 … 15; 0: what the links have
  std::uint64_t seed = 1;   // seed=N
  OrientationSearch orientation_search = OrientationSearch::BreadthFirst;  // orientation=bfs|dfs
  VlChangeRule lane_cut = VlChangeRule::UpDown;         // lane_cut=updown|dfs|cycles
  GatewayChoice gateways = GatewayChoice::OwnFirst;     // gateways=own|uniform|least
  TrafficGoal auto_for = TrafficGoal::Both;             // auto_for=uniform|permutations|both
  std::vector<std::pair<Guid, std::uint32_t>> weights;  // weights=GUID:N,…, sorted by GUID
  std::vector<std::string> no_data;                     // no_data=NAME,…: adapters that send none
  bool rebalance = false;                               // relieve=yes|no
  bool shorten_detours = false;                         // shorten_detours=yes|no
  bool keep = true;                                     // keep=yes|no
  bool any_sl = false;                                  // any_sl=yes|no

  friend bool operator==(const Options&, const Options&) = default;
};

/// Every fault at once, each naming the word and what would be right. A text that OpenSM must have
/// cut is refused whole.
[[nodiscard]] Parsed<Options> parse_options(std::string_view text);

/// What differs from the defaults, in the same words; empty when nothing does.
[[nodiscard]] std::string print_options(const Options& options);

}  // namespace smd::opensm
