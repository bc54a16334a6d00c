// Nodes as a manager leaves them: LIDs, the tables of a routing engine, every cabled port Active.
// For packet-level runs in which nobody manages; registers hold what SMPs would have written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "smd/routing/engine.h"
#include "smd/routing/tables.h"

namespace smd::sim {

struct ProgrammedFabric {
  std::vector<NodeState> nodes;      // in the order of the spec
  std::vector<Lid> host_lids;        // of cabled adapter ports, in node order, then by port
  RoutingTables routing;             // which switch, which SL: path_sls is needed by who sends
  std::vector<SwitchIdx> host_leaf;  // the switch that each of them hangs on
  std::shared_ptr<const Fabric> snapshot{};  // as a manager would have it; null on worm networks
  LidMap lids{};
};

struct ProgramOptions {
  std::string engine = "updn";
  unsigned vls = 1;  // data VLs in use: 1, 2, 4, 8 or 15
  Mtu mtu = Mtu::B4096;
  std::uint8_t lmc = 0;
  NonMinimal non_minimal = NonMinimal::Off;
  bool path_sets = false;
  OrientationSearch search = OrientationSearch::BreadthFirst;  // of updn
  std::uint64_t seed = 1;
  AgentOptions agents;
};

/// Invalid for an engine that nobody knows, or VLs that no code stands for; what the engine says
/// where the fabric does not suit it; Refused where its routes are not sound.
[[nodiscard]] Result<ProgrammedFabric> program_nodes(const FabricSpec& spec,
                                                     const ProgramOptions& options);

/// OperationalVLs for so many data VLs; 0 where there is none.
[[nodiscard]] std::uint8_t vl_code(unsigned vls);

}  // namespace smd::sim
