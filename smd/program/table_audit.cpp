#include "smd/program/table_audit.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "smd/mad/tables.h"
#include "smd/policy/port_policy.h"
#include "smd/policy/qos.h"

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
  const Guid node = fabric.node_guid[fabric.node_of[check.port]];
  const PortNum port = fabric.number_of(check.port);
  result_.refused.insert({node, port, check.attribute, check.modifier});
  result_.faults.push_back(
      {node,
       port,
       fmt::format("{} 0x{:x}: {}",
                   print_attribute_id(static_cast<std::uint16_t>(check.attribute)),
                   check.modifier,
                   what)});
}

void QosAudit::start(std::function<void()> done) {
  const QosPolicy& policy = run_.input.qos;
  if (policy.empty() && run_.state.audited_ports.empty()) return done();
  everywhere_ = !policy.empty() && (!run_.state.audited || *run_.state.audited != policy);
  find_due();
  if (policy.empty()) {
    forget_unasked();
    return done();
  }
  if (!everywhere_) not_asked_ = run_.state.refused_tables;
  checks_ = build_qos_checks(
      run_.fabric(), policy, [this](PortIdx port, AttributeId attribute, std::uint32_t modifier) {
        return is_due(port, attribute, modifier);
      });
  if (run_.input.writing.optimized_sl_to_vl) take_row_sets();
  if (sets_.empty()) return look(std::move(done));
  pump_.emplace(run_.client);
  pump_->start(
      [this] {
        if (next_ == sets_.size()) return false;
        RowSet& set = sets_[next_++];
        pump_->send(set.request, [this, &set](const Result<SmpReply>& reply) {
          if (reply && reply->status == 0 && reply->data == set.request.data) return;
          std::ranges::move(set.instead, std::back_inserter(checks_));
        });
        return true;
      },
      [this, done = std::move(done)]() mutable { look(std::move(done)); });
}

void QosAudit::find_due() {
  const Fabric& fabric = run_.fabric();
  const std::vector<PortRef>& looked = run_.state.audited_ports;
  due_ = IndexVector<PortIdx, bool>(fabric.port_count(), everywhere_);
  for (const NodeIdx node : fabric.node_guid.indices()) {
    const Guid guid = fabric.node_guid[node];
    auto known = std::ranges::lower_bound(looked, PortRef{guid, PortNum{0}});
    for (const PortIdx port : fabric.ports_of(node)) {
      if (!is_managed(fabric, port)) continue;
      const PortRef ref{guid, fabric.number_of(port)};
      there_.push_back(ref);
      while (known != looked.end() && *known < ref) ++known;
      const bool in_doubt = known == looked.end() || *known != ref ||
                            (!run_.state.doubtful.empty() && run_.state.doubtful.contains(ref));
      if (in_doubt && !everywhere_) grown_.insert(guid);
      if (in_doubt || fabric.port_info[port].state() == PortState::Initialize) due_[port] = true;
    }
  }
  std::ranges::sort(there_);
}

void QosAudit::take_row_sets() {
  const Fabric& fabric = run_.fabric();
  std::map<SwitchIdx, std::vector<TableCheck>> by_switch;
  std::vector<TableCheck> others;
  for (TableCheck& check : checks_) {
    const NodeIdx node = fabric.node_of[check.port];
    const bool is_row =
        check.attribute == AttributeId::SlToVlMappingTable && fabric.is_switch(node);
    const bool offered =
        is_row && (fabric.switch_info[fabric.switch_of[node]].optimized_sl_to_vl & 1) != 0;
    (offered ? by_switch[fabric.switch_of[node]] : others).push_back(std::move(check));
  }
  checks_ = std::move(others);
  for (auto& [sw, rows] : by_switch) take_row_sets(sw, std::move(rows));
}

/// `rows`: those that are due, an output's one after the other.
void QosAudit::take_row_sets(SwitchIdx sw, std::vector<TableCheck> rows) {
  const Fabric& fabric = run_.fabric();
  const NodeIdx node = fabric.switch_node[sw];
  std::size_t inputs = 0, outputs = 0;
  // One Set for the whole switch writes the rows towards port 0 as well.
  const PortIdx own = fabric.port_of(node, PortNum{0});
  const bool spares_port0 = is_data_port(fabric, own) && !wanted_row(fabric, run_.input.qos, own);
  for (const PortIdx port : fabric.ports_of(node)) {
    inputs += is_managed(fabric, port) ? 1 : 0;
    outputs += wanted_row(fabric, run_.input.qos, port) ? 1 : 0;
  }
  // Those that no link leads to as well: they must still be blocked when one does.
  const auto any_blocked = [&](const auto& is_asked) {
    return run_.state.turns.any(fabric.node_guid[node],
                                [&](PortNum, PortNum exit, const TurnMemory::Entry& entry) {
                                  return entry.held == TurnMemory::Held::Blocked && is_asked(exit);
                                });
  };
  std::vector<RowSet> sets;
  for (std::size_t at = 0; at < rows.size();) {
    const PortIdx out = rows[at].port;
    std::vector<TableCheck> here;
    while (at < rows.size() && rows[at].port == out) here.push_back(std::move(rows[at++]));
    const PortNum through = fabric.number_of(out);
    const auto wanted = wanted_row(fabric, run_.input.qos, out);
    if (!wanted || inputs < 2 || here.size() != inputs ||
        any_blocked([through](PortNum exit) { return exit == through; })) {
      std::ranges::move(here, std::back_inserter(checks_));
      continue;
    }
    RowSet set{
        .request = {.route = SmpRoute::directed(path_to(*run_.input.report, out)),
                    .method = Method::Set,
                    .attribute = AttributeId::SlToVlMappingTable,
                    .modifier = encode_modifier(SlToVlModifier{.out = through, .all_in = true}),
                    .data = {},
                    .m_key = run_.input.policy.m_key},
        .instead = std::move(here)};
    encode_sl_to_vl(*wanted, set.request.data);
    sets.push_back(std::move(set));
  }
  const bool alike = !spares_port0 && sets.size() >= 2 && sets.size() == outputs &&
                     !any_blocked([](PortNum) { return true; }) &&
                     std::ranges::all_of(sets, [&](const RowSet& set) {
                       return set.request.data == sets.front().request.data;
                     });
  if (alike) {
    RowSet whole = std::move(sets.front());
    whole.request.modifier = encode_modifier(SlToVlModifier{.all_in = true, .all_out = true});
    for (auto set = sets.begin() + 1; set != sets.end(); ++set)
      std::ranges::move(set->instead, std::back_inserter(whole.instead));
    sets.clear();
    sets.push_back(std::move(whole));
  }
  std::ranges::move(sets, std::back_inserter(sets_));
}

void QosAudit::look(std::function<void()> done) {
  audit_.emplace(run_.client, run_.input.policy.m_key);
  audit_->start(
      *run_.input.report, std::move(checks_), [this, done = std::move(done)](AuditReport audit) {
        run_.report.configure += run_.meter.lap();
        note_looked(std::move(audit.refused));
        for (ProgramFault& each : audit.faults) {
          const auto node = run_.fabric().find_node(each.node);
          if (node) run_.fault(*node, each.port, std::move(each.what));
        }
        batch_.later(Duration{0}, done);
      });
}

/// What failed is looked at in the next cycle again, and nothing else for its sake. What is away
/// keeps what it has; but of two ports of a switch that are never there at the same time nobody
/// looks at the row from one to the other.
void QosAudit::note_looked(std::set<RefusedTable> refused) {
  constexpr std::size_t kMostRefused = 1u << 16;
  ProgramState& state = run_.state;
  if (everywhere_) {
    state.audited = run_.input.qos;
    state.audited_ports = std::move(there_);
  } else {
    refused.merge(not_asked_);
    std::vector<PortRef> both;
    std::erase_if(state.audited_ports,
                  [&](const PortRef& ref) { return grown_.contains(ref.node); });
    std::ranges::set_union(state.audited_ports, there_, std::back_inserter(both));
    state.audited_ports = std::move(both);
  }
  state.refused_tables = std::move(refused);
  if (state.refused_tables.size() <= kMostRefused) return;
  state.audited.reset();
  state.refused_tables.clear();
}

/// Of a site without tables nobody is looked at; who comes up then is, once the site has some.
void QosAudit::forget_unasked() {
  const Fabric& fabric = run_.fabric();
  std::erase_if(run_.state.audited_ports, [&](const PortRef& ref) {
    const auto node = fabric.find_node(ref.node);
    return node && ref.port.value() <= fabric.num_ports(*node) &&
           due_[fabric.port_of(*node, ref.port)];
  });
}

bool QosAudit::is_due(PortIdx at, AttributeId attribute, std::uint32_t modifier) {
  const Fabric& fabric = run_.fabric();
  const NodeIdx node = fabric.node_of[at];
  PortIdx in = at;
  if (attribute == AttributeId::SlToVlMappingTable && fabric.is_switch(node)) {
    if (run_.input.writes_sl_to_vl()) return false;
    const SlToVlModifier turn = decode_sl_to_vl_modifier(modifier);
    const TurnMemory::Entry* row = run_.state.turns.find(fabric.node_guid[node], turn.in, turn.out);
    if (row != nullptr && row->held == TurnMemory::Held::Blocked) return false;
    in = fabric.port_of(node, turn.in);
  }
  const bool failed =
      not_asked_.erase({fabric.node_guid[node], fabric.number_of(at), attribute, modifier}) > 0;
  return failed || due_[at] || due_[in];
}

}  // namespace smd
