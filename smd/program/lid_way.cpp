#include "smd/program/lid_way.h"

namespace smd {
namespace {

bool has_its_lid(const ProgramRun& run, PortIdx port) {
  const Lid lid = run.input.lids->base[port];
  return lid != kUnassignedLid && run.report.port_info[port].lid == lid;
}

/// kNoRoute where nothing is known.
PortNum confirmed_egress(const ProgramRun& run, SwitchIdx sw, Lid lid) {
  const SwitchInfo& info = run.report.switch_info[sw];
  if (has_random_table(info) || lid.value() > info.linear_fdb_top) return kNoRoute;
  const LftBlock* block = run.state.tables.find_block(run.guid_of(sw), lid.value() / kLftBlockSize);
  return block == nullptr ? kNoRoute : (*block)[lid.value() % kLftBlockSize];
}

bool arrives(const ProgramRun& run, PortIdx from, PortIdx to) {
  const Fabric& fabric = run.fabric();
  const Lid lid = run.input.lids->base[to];
  PortIdx at = from;
  for (std::size_t hop = 0; hop <= fabric.switch_node.size(); ++hop) {
    const NodeIdx node = fabric.node_of[at];
    // An adapter sends through the port itself; from port 0 the switch routes first.
    if (fabric.is_switch(node)) {
      const PortNum out = confirmed_egress(run, fabric.switch_of[node], lid);
      if (out.value() > fabric.num_ports(node)) return false;
      at = fabric.port_of(node, out);
      if (out == PortNum{0}) return at == to;
    }
    const PortIdx peer = fabric.peer[at];
    if (peer == kNone<PortIdx> || run.report.port_info[at].state() < PortState::Initialize)
      return false;
    if (!fabric.is_switch(fabric.node_of[peer])) return peer == to;
    at = peer;
  }
  return false;
}

}  // namespace

bool is_reachable_by_lid(const ProgramRun& run, PortIdx agent) {
  const PortIdx own = run.fabric().sm_port;
  return has_its_lid(run, own) && has_its_lid(run, agent) && arrives(run, own, agent) &&
         arrives(run, agent, own);
}

}  // namespace smd
