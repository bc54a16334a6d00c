#include "smd/discovery/sweep_report.h"

namespace smd {

SilentPort out_of_reach(Guid node, PortNum port) {
  return {.node = node,
          .port = port,
          .why = "what hangs on it is beyond the 63 hops that a directed route may have",
          .out_of_reach = true};
}

HopPath path_to(const SweepReport& report, PortIdx port) {
  const Fabric& fabric = *report.fabric;
  const NodeIdx node = fabric.node_of[port];
  if (fabric.is_switch(node) || port == fabric.sm_port) return report.path[node];
  const PortIdx peer = fabric.peer[port];
  if (peer == kNone<PortIdx>) return report.path[node];
  return report.path[fabric.node_of[peer]].then(fabric.number_of(peer));
}

}  // namespace smd
