#include "sim-backend/agents/forwarding.h"

namespace smd::sim {

PortNum find_route(const NodeState& node, Lid dlid) {
  if (node.options.rft_cap > 0) {
    for (const RftEntry& entry : node.rft) {
      if (entry.valid && (entry.lid.value() >> entry.lmc) == (dlid.value() >> entry.lmc)) {
        return entry.port;
      }
    }
    return node.switch_info.default_port;
  }
  if (dlid.value() > node.switch_info.linear_fdb_top || dlid.value() >= node.lft.size()) {
    return kNoRoute;
  }
  return node.lft[dlid.value()];
}

std::uint16_t find_copies(const NodeState& node, Lid mlid, std::size_t position) {
  if (node.has_multicast_top() && mlid.value() > node.switch_info.multicast_fdb_top) return 0;
  const std::vector<std::uint16_t>& column = node.mft[position];
  const std::size_t at = std::size_t{mlid.value()} - kFirstMulticast;
  return at < column.size() ? column[at] : std::uint16_t{0};
}

RelayEgress relay_unicast(const NodeState& node, Lid dlid, PortNum in) {
  const PortNum out = find_route(node, dlid);
  if (out.value() > node.num_ports()) return {kNoRoute, RelayFault::Unroutable};
  // From port 0 to port 0 is the switch talking to itself, not a bounce.
  if (out == in && in.value() != 0) return {out, RelayFault::BackToInput};
  return {out, RelayFault::None};
}

}  // namespace smd::sim
