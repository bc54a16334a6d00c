#include "smd/program/table_audit.h"

#include <utility>

#include "smd/mad/tables.h"

namespace smd {
namespace {

std::string describe(const Result<SmpReply>& reply) {
  if (!reply) return reply.error().context;
  return fmt::format("refused with status 0x{:04x}", reply->status);
}

}  // namespace

void TableAudit::start(const SweepReport& report, std::vector<TableCheck> checks, Done done) {
  report_ = &report;
  checks_ = std::move(checks);
  pump_.start(
      [this] {
        if (next_ == checks_.size()) return false;
        read_again(checks_[next_++]);
        return true;
      },
      [this, done = std::move(done)] { done(std::move(result_)); });
}

SmpRequest TableAudit::request(const TableCheck& check, Method method) const {
  return {.route = SmpRoute::directed(path_to(*report_, check.port)),
          .method = method,
          .attribute = check.attribute,
          .modifier = check.modifier,
          .m_key = m_key_};
}

void TableAudit::read_again(const TableCheck& check) {
  pump_.send(request(check, Method::Get), [this, &check](const Result<SmpReply>& reply) {
    ++result_.looked_at;
    if (!reply || reply->status != 0) return fault(check, describe(reply));
    if (const auto wanted = check.repair(reply->data)) repair(check, *wanted);
  });
}

void TableAudit::repair(const TableCheck& check, const SmpData& wanted) {
  SmpRequest set = request(check, Method::Set);
  set.data = wanted;
  pump_.send(set, [this, &check](const Result<SmpReply>& reply) {
    if (!reply || reply->status != 0) return fault(check, describe(reply));
    if (check.repair(reply->data)) return fault(check, "the agent kept something else");
    ++result_.repaired;
  });
}

void TableAudit::fault(const TableCheck& check, const std::string& what) {
  const Fabric& fabric = *report_->fabric;
  result_.faults.push_back(
      {fabric.node_guid[fabric.node_of[check.port]],
       fabric.number_of(check.port),
       fmt::format("{} 0x{:x}: {}",
                   print_attribute_id(static_cast<std::uint16_t>(check.attribute)),
                   check.modifier,
                   what)});
}

void QosAudit::start(std::function<void()> done) {
  const QosPolicy& policy = run_.input.qos;
  if (policy.empty()) return done();
  const bool everywhere = !run_.state.audited || *run_.state.audited != policy;
  audit_.emplace(run_.client, run_.input.policy.m_key);
  audit_->start(*run_.input.report,
                build_qos_checks(run_.fabric(),
                                 policy,
                                 [&](PortIdx port, AttributeId attribute, std::uint32_t modifier) {
                                   return is_due(port, attribute, modifier, everywhere);
                                 }),
                [this, everywhere, done = std::move(done)](AuditReport audit) {
                  run_.report.configure += run_.meter.lap();
                  // A port that failed is looked at again, and with it all others.
                  if (!audit.faults.empty()) run_.state.audited.reset();
                  if (audit.faults.empty() && everywhere) run_.state.audited = run_.input.qos;
                  for (ProgramFault& each : audit.faults) {
                    const auto node = run_.fabric().find_node(each.node);
                    if (node) run_.fault(*node, each.port, std::move(each.what));
                  }
                  batch_.later(Duration{0}, done);
                });
}

bool QosAudit::is_due(PortIdx at,
                      AttributeId attribute,
                      std::uint32_t modifier,
                      bool everywhere) const {
  const Fabric& fabric = run_.fabric();
  const NodeIdx node = fabric.node_of[at];
  const auto comes_up = [&](PortIdx port) {
    return fabric.port_info[port].state() == PortState::Initialize;
  };
  if (attribute != AttributeId::SlToVlMappingTable || !fabric.is_switch(node))
    return everywhere || comes_up(at);
  if (run_.input.writes_sl_to_vl()) return false;
  const SlToVlModifier turn = decode_sl_to_vl_modifier(modifier);
  const TurnMemory::Entry* row = run_.state.turns.find(fabric.node_guid[node], turn.in, turn.out);
  if (row != nullptr && row->held == TurnMemory::Held::Blocked) return false;
  return everywhere || comes_up(at) || comes_up(fabric.port_of(node, turn.in));
}

}  // namespace smd
