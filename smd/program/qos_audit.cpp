#include "smd/program/qos_audit.h"

#include <utility>

#include "smd/mad/modifiers.h"

namespace smd {

void QosAudit::start(std::function<void()> done) {
  const QosPolicy& policy = run_.input.qos;
  if (policy.empty()) return done();
  const bool everywhere = !run_.state.audited || *run_.state.audited != policy;
  std::vector<TableCheck> checks = build_qos_checks(run_.fabric(), policy);
  std::erase_if(checks, [&](const TableCheck& check) { return !due(check, everywhere); });
  audit_.emplace(run_.client, run_.input.policy.m_key);
  audit_->start(*run_.input.report,
                std::move(checks),
                [this, everywhere, done = std::move(done)](AuditReport audit) {
                  run_.report.configure += run_.meter.lap();
                  // A port that failed is looked at again, and with it all others.
                  if (!audit.faults.empty()) run_.state.audited.reset();
                  if (audit.faults.empty() && everywhere) run_.state.audited = run_.input.qos;
                  for (ProgramFault& each : audit.faults) {
                    const auto node = run_.fabric().find_node(each.node);
                    if (node) run_.fault(*node, each.port, std::move(each.what));
                  }
                  stage_.later(Duration{0}, done);
                });
}

bool QosAudit::due(const TableCheck& check, bool everywhere) const {
  const Fabric& fabric = run_.fabric();
  const NodeIdx node = fabric.node_of[check.port];
  const auto comes_up = [&](PortIdx port) {
    return fabric.port_info[port].state() == PortState::Initialize;
  };
  if (check.attribute != AttributeId::SlToVlMappingTable || !fabric.is_switch(node))
    return everywhere || comes_up(check.port);
  if (run_.input.sets_rows()) return false;
  const SlToVlModifier turn = decode_sl_to_vl_modifier(check.modifier);
  const TurnMemory::Row* row = run_.state.turns.find(fabric.node_guid[node], turn.in, turn.out);
  if (row != nullptr && row->held == TurnMemory::Held::Blocked) return false;
  return everywhere || comes_up(check.port) || comes_up(fabric.port_of(node, turn.in));
}

}  // namespace smd
