#include "tests/unit/program/program_lab.h"

#include <fmt/format.h>

#include <stdexcept>

#include "smd/discovery/discovery.h"
#include "smd/fabric/builder.h"

namespace smd::test {

ProgramLab::ProgramLab(sim::FabricSpec spec, LabOptions options)
    : TimedFabric(std::move(spec), options.timing, options.seed, options.agents),
      port(fabric, fabric.spec().sm_node, fabric.spec().sm_port),
      tap(port),
      client(runtime, tap, options.smp),
      meter(runtime, client, {}),
      dead(fabric.spec().nodes.size(), false) {}

void ProgramLab::discover(const std::string& engine) {
  std::optional<Result<SweepReport>> found;
  Discovery discovery(client, {}, Epoch{1});
  discovery.start([&](Result<SweepReport> report) { found = std::move(report); });
  run_until([&] { return found.has_value(); }, std::chrono::minutes(10));
  if (!found || !*found) throw std::runtime_error("discovery failed");
  sweep = std::move(**found);
  auto assigned = assign_lids(snapshot(), book, {});
  if (!assigned) throw std::runtime_error(assigned.error().context);
  book = std::move(assigned->book);
  lids = std::move(assigned->map);
  client.set_local_lid(lids.base[snapshot().sm_port]);
  policy.master_sm_lid = lids.base[snapshot().sm_port];
  auto routes = find_engine(engine)->compute(snapshot(), lids, {});
  if (!routes) throw std::runtime_error(routes.error().context);
  routing = std::move(*routes);
  meter.lap();
}

void ProgramLab::spread_lids(unsigned step) {
  unsigned next = 1;
  for (const sim::NodeSpec& node : fabric.spec().nodes) {
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const Guid guid = node.type == NodeType::Switch ? node.guid : node.ports[p].guid;
      if ((p == 0) != (node.type == NodeType::Switch)) continue;
      book[guid] = {.base = Lid{static_cast<std::uint16_t>(next)}};
      next += step;
    }
  }
}

ProgramInput ProgramLab::input() const {
  return {.report = &sweep, .lids = &lids, .lft = &routing.lft, .policy = policy, .qos = {}};
}

ProgramReport ProgramLab::program(const ProgramInput& input) {
  std::optional<ProgramReport> report;
  Programmer programmer(runtime, client, state, meter);
  programmer.start(input, [&](ProgramReport done) { report = std::move(done); });
  run_until([&] { return report.has_value(); }, std::chrono::minutes(10));
  if (!report) throw std::runtime_error("the programmer did not finish");
  return std::move(*report);
}

ProgramReport ProgramLab::bring_up() {
  discover();
  ProgramReport report = program(input());
  take_port_info(report);
  return report;
}

void ProgramLab::take_port_info(const ProgramReport& report) {
  Fabric now = snapshot();
  now.port_info = report.port_info;
  now.switch_info = report.switch_info;
  sweep.fabric = std::make_shared<const Fabric>(std::move(now));
}

std::uint32_t ProgramLab::sim_node(Guid guid) const {
  const auto& nodes = fabric.spec().nodes;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].guid == guid) return n;
  }
  throw std::runtime_error("no such node");
}

std::uint32_t ProgramLab::sim_switch(SwitchIdx sw) const {
  return sim_node(snapshot().node_guid[snapshot().switch_node[sw]]);
}

SwitchIdx ProgramLab::switch_named(const std::string& description) const {
  const std::uint32_t n = sim::find_node(fabric.spec(), description);
  if (n == sim::kNoNode) throw std::runtime_error("no node " + description);
  return snapshot().switch_of[snapshot().find_node(fabric.spec().nodes[n].guid).value()];
}

std::string ProgramLab::find_false_claim() const {
  for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
    const sim::NodeState& node = fabric.node_state(n);
    if (!node.is_switch() || dead[n]) continue;
    const Guid guid = fabric.spec().nodes[n].guid;
    for (std::uint32_t number = 0; number < 1024; ++number) {
      const std::optional<LftBlock> held = state.tables.find_block(guid, number);
      for (std::size_t i = 0; held && i < kLftBlockSize; ++i) {
        const std::size_t lid = number * kLftBlockSize + i;
        const PortNum real = lid < node.lft.size() ? node.lft[lid] : kNoRoute;
        if ((*held)[i] != real) {
          return fmt::format("{} lid {}: confirmed {}, holds {}",
                             fabric.spec().nodes[n].description,
                             lid,
                             (*held)[i],
                             real);
        }
      }
      const RftBlock* random = state.random.find_block(guid, number);
      for (std::size_t i = 0; random != nullptr && i < kRftBlockSize; ++i) {
        const std::size_t slot = number * kRftBlockSize + i;
        const RftEntry real = slot < node.rft.size() ? node.rft[slot] : RftEntry{};
        if ((*random)[i] != real) return fmt::format("random block {} entry {}", number, i);
      }
    }
    for (unsigned in = 1; in <= node.num_ports(); ++in) {
      for (unsigned out = 1; out <= node.num_ports(); ++out) {
        const PortNum from{static_cast<std::uint8_t>(in)}, to{static_cast<std::uint8_t>(out)};
        const auto* row = state.turns.find(guid, from, to);
        if (row == nullptr || row->held == TurnMemory::Held::Unknown) continue;
        const bool blocked = node.read_sl_to_vl(from, to)[0] == kManagementVl;
        if (blocked != (row->held == TurnMemory::Held::Blocked)) {
          return fmt::format("{} turn {} -> {} is {}",
                             fabric.spec().nodes[n].description,
                             in,
                             out,
                             blocked ? "blocked" : "open");
        }
      }
    }
  }
  return "";
}

std::string ProgramLab::find_inactive_port() const {
  for (PortIdx each : snapshot().peer.indices()) {
    if (!is_managed(snapshot(), each) || snapshot().number_of(each) == PortNum{0}) continue;
    const std::uint32_t n = sim_node(snapshot().node_guid[snapshot().node_of[each]]);
    const PortState now = fabric.port_info(n, snapshot().number_of(each)).state();
    if (now != PortState::Active) {
      return fmt::format("{}:{} is {}",
                         fabric.spec().nodes[n].description,
                         snapshot().number_of(each),
                         print_port_state(now));
    }
  }
  return "";
}

std::string ProgramLab::find_wrong_entry(const ForwardingTables& lft) const {
  for (SwitchIdx sw : snapshot().switch_node.indices()) {
    const std::uint32_t n = sim_switch(sw);
    if (dead[n]) continue;
    for (std::uint32_t l = 1; l <= lft.top().value(); ++l) {
      const Lid lid{static_cast<std::uint16_t>(l)};
      if (fabric.lft(n, lid) != lft.route(sw, lid)) {
        return fmt::format("{} lid {}: holds {}, wanted {}",
                           fabric.spec().nodes[n].description,
                           lid,
                           fabric.lft(n, lid),
                           lft.route(sw, lid));
      }
    }
  }
  return "";
}

ForwardingTables turned_tables(const Fabric& fabric, const ForwardingTables& lft) {
  ForwardingTables out = lft;
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    std::vector<PortNum> cabled;
    for (PortIdx each : fabric.external_ports(fabric.switch_node[sw])) {
      if (fabric.peer[each] != kNone<PortIdx>) cabled.push_back(fabric.number_of(each));
    }
    for (std::uint32_t l = 1; cabled.size() > 1 && l <= lft.top().value(); ++l) {
      const Lid lid{static_cast<std::uint16_t>(l)};
      const PortNum now = lft.route(sw, lid);
      if (now == kNoRoute || now == PortNum{0}) continue;
      out.set_route(sw, lid, now == cabled[0] ? cabled[1] : cabled[0]);
    }
  }
  return out;
}

TransitionPlan split_by_lid(const ForwardingTables& from,
                            const ForwardingTables& to,
                            std::size_t phases) {
  TransitionPlan plan{.kind = TransitionKind::Certified};
  plan.phases.resize(phases);
  for (std::uint32_t s = 0; s < to.switches(); ++s) {
    for (std::uint32_t l = 1; l <= to.top().value(); ++l) {
      const Lid lid{static_cast<std::uint16_t>(l)};
      const PortNum egress = to.route(SwitchIdx{s}, lid);
      if (from.route(SwitchIdx{s}, lid) == egress) continue;
      plan.phases[l % phases].entries.push_back({SwitchIdx{s}, lid, egress});
    }
  }
  return plan;
}

std::string find_mixed_phases(const ProgramLab& lab, const TransitionPlan& plan) {
  bool complete = true;  // every phase before this one
  for (std::size_t p = 0; p < plan.phases.size(); ++p) {
    bool any = false;
    bool all = true;
    for (const EntryChange& entry : plan.phases[p].entries) {
      const std::uint32_t n = lab.sim_switch(entry.sw);
      if (lab.dead[n]) continue;
      const bool there = lab.fabric.lft(n, entry.lid) == entry.egress;
      any = any || there;
      all = all && there;
    }
    if (any && !complete) return fmt::format("phase {} has begun before the one before it", p + 1);
    complete = complete && all;
  }
  return "";
}

}  // namespace smd::test
