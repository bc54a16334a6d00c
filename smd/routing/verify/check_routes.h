// Verifies any tables on any fabric, whoever made them. Shares no code with the engines.
//
// Reachability: every end port reaches every LID that the map knows, by walking the tables switch
// by switch. Loops: no walk meets a switch twice. Credit loops: the graph of dependencies between
// (channel, VL) that the walks create is acyclic.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "smd/routing/tables.h"
#include "smd/routing/verify/channel_dependencies.h"

namespace smd {

struct RouteReport {
  std::uint64_t pairs =
      0;  // ordered (end-port, LID) pairs looked at, source different from destination
  std::uint64_t disconnected =
      0;  // pairs without any path of links: not looked at, except for loops
  std::uint64_t unreachable = 0;  // pairs whose walk ends nowhere or at the wrong node
  std::uint64_t loops = 0;        // pairs whose walk meets a switch twice
  std::uint64_t minimal = 0;      // pairs that use as few switch hops as the graph allows
  bool minimality = true;         // that was looked at
  std::uint64_t hops = 0;         // switch-to-switch links, summed over pairs that arrive
  unsigned max_hops = 0;
  bool acyclic = true;
  unsigned vls = 1;                       // VLs on which packets go from switch to switch
  std::vector<ChannelStep> cycle;         // one shortest found cycle, when not acyclic
  std::vector<std::string> first_faults;  // up to 10: "host-3 to lid 17: no route at sw-0-1"

  [[nodiscard]] bool ok() const { return unreachable == 0 && loops == 0 && acyclic; }

  friend bool operator==(const RouteReport&, const RouteReport&) = default;
};

struct CheckOptions {
  /// Also measure hops against the shortest: a search per destination switch, which takes longer
  /// than all the rest. Turn it off for changes; RouteReport says so then.
  bool minimality = true;

  /// Any end port may send to any LID with any SL, whatever its path was given.
  bool any_sl = false;

  /// What end ports are offered, in place of the SLs of paths; of an SL that is discarded all end
  /// ports at the switch count as unreachable.
  const SlSets* offered = nullptr;

  /// That share the LIDs, where routes need one VL. The report is the same for any number.
  unsigned threads = 1;

  /// Once it is stopped, the rest is not looked at, and the report says nothing.
  std::stop_token stop{};
};

[[nodiscard]] RouteReport check_routes(const Fabric& fabric,
                                       const LidMap& lids,
                                       const ForwardingTables& tables,
                                       const CheckOptions& options = {});

/// With VLs: credit loops are looked for per (channel, VL), over the SL of each path, or all 16
/// where none is given. A turn whose VL is 15 discards its packets: its pairs are unreachable.
[[nodiscard]] RouteReport check_routes(const Fabric& fabric,
                                       const LidMap& lids,
                                       const RoutingTables& routing,
                                       const CheckOptions& options = {});

/// "sw-0-3:5(VL0) -> sw-1-0:7(VL0) -> …".
[[nodiscard]] std::string print_cycle(const Fabric& fabric, const std::vector<ChannelStep>& cycle);

}  // namespace smd
