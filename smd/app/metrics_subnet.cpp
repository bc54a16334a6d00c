#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "smd/app/metrics.h"

namespace smd::app {
namespace {

using enum MetricType;

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

void add_state(Exposition& out, const SubnetManager& manager) {
  out.family(Gauge, "smd_manager_state", "1 for the state of this manager among the managers.");
  for (const SmState state :
       {SmState::NotActive, SmState::Discovering, SmState::Standby, SmState::Master})
    out.sample(manager.election().state() == state ? 1 : 0, {{"state", print_sm_state(state)}});
  out.family(Gauge, "smd_managers", "Other managers of the subnet.");
  out.sample(static_cast<double>(manager.election().others().size()));
}

void add_cycles(Exposition& out, const SubnetManager& manager, const Tally& tally) {
  if (const auto sweep = manager.last_sweep()) {
    out.family(Gauge, "smd_sweep_age_seconds", "Time since the last sweep of the subnet ended.");
    out.sample(seconds(manager.now() - sweep->ended));
    out.family(Gauge, "smd_sweep_duration_seconds", "How long it took.");
    out.sample(seconds(sweep->took));
  }
  out.family(Counter, "smd_cycles_total", "Cycles by whether all was as wanted at their end.");
  out.sample(static_cast<double>(tally.cycles(true)), {{"result", "up"}});
  out.sample(static_cast<double>(tally.cycles(false)), {{"result", "not_up"}});
  out.family(Histogram,
             "smd_change_seconds",
             "How long changes of the subnet took to be taken in, by direction and transition.");
  for (const auto& [kind, values] : tally.changes())
    out.histogram(values,
                  {{"direction", kind.shrank ? "down" : "up"},
                   {"transition", print_transition_kind(kind.transition)}});
  out.family(Counter, "smd_traps_total", "Traps by number; 0 stands for those of vendors.");
  for (const auto& [number, count] : tally.traps())
    out.sample(static_cast<double>(count), {{"trap", fmt::format("{}", number)}});
  const TrapStats& traps = manager.traps().stats();
  out.family(Counter, "smd_traps_dropped_total", "Traps that nothing came of, by reason.");
  for (const auto& [reason, count] : {std::pair{"malformed", traps.malformed},
                                      {"unknown_issuer", traps.unknown_issuer},
                                      {"wrong_issuer", traps.wrong_issuer},
                                      {"held_back", traps.held_back},
                                      {"no_room", traps.no_room}})
    out.sample(static_cast<double>(count), {{"reason", reason}});
}

void add_smps(Exposition& out, const SmpStats& stats) {
  out.family(Counter, "smd_smps_sent_total", "Subnet management packets sent, repeats included.");
  out.sample(static_cast<double>(stats.sent));
  out.family(Counter, "smd_smps_answered_total", "Requests that were answered.");
  out.sample(static_cast<double>(stats.answered));
  out.family(Counter, "smd_smp_retries_total", "Requests that were sent again.");
  out.sample(static_cast<double>(stats.retries));
  out.family(Counter, "smd_smp_timeouts_total", "Requests that were given up.");
  out.sample(static_cast<double>(stats.timeouts));
  out.family(Counter, "smd_smp_faults_total", "Answers and requests that came to nothing.");
  for (const auto& [what, count] : {std::pair{"late", stats.late},
                                    {"malformed", stats.malformed},
                                    {"refused", stats.refused},
                                    {"not_sent", stats.send_errors}})
    out.sample(static_cast<double>(count), {{"what", what}});
}

void add_ports(Exposition& out, const Fabric& fabric) {
  constexpr std::size_t kStates = 5;
  std::array<std::array<std::uint64_t, kStates>, 2> count{};
  for (const NodeIdx node : fabric.node_guid.indices()) {
    for (const PortIdx port : fabric.external_ports(node)) {
      // Of adapters only the ports with a link are asked.
      if (!fabric.is_switch(node) && fabric.peer[port] == kNone<PortIdx>) continue;
      const auto state = static_cast<std::size_t>(fabric.port_info[port].state());
      if (state < kStates) ++count[fabric.is_switch(node) ? 1 : 0][state];
    }
  }
  out.family(Gauge, "smd_ports", "Ports by their logical state.");
  for (const bool of_switch : {true, false}) {
    for (const PortState state :
         {PortState::Down, PortState::Initialize, PortState::Armed, PortState::Active}) {
      std::string word(print_port_state(state));
      std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
      out.sample(static_cast<double>(count[of_switch ? 1 : 0][static_cast<std::size_t>(state)]),
                 {{"node_type", of_switch ? "switch" : "adapter"}, {"state", word}});
    }
  }
}

void add_multicast(Exposition& out, const MulticastDesk& desk) {
  std::size_t members = 0;
  for (const auto& [mgid, group] : desk.groups().groups()) members += group.members.size();
  out.family(Gauge, "smd_multicast_groups", "Multicast groups.");
  out.sample(static_cast<double>(desk.groups().groups().size()));
  out.family(Gauge, "smd_multicast_members", "Members of all groups.");
  out.sample(static_cast<double>(members));
  out.family(Gauge, "smd_multicast_stranded_members", "Members that no tree reaches.");
  out.sample(static_cast<double>(desk.stats().stranded));
  out.family(Gauge, "smd_multicast_unconfirmed_lids", "MLIDs whose entries are not confirmed.");
  out.sample(static_cast<double>(desk.stats().unmet));
}

}  // namespace

void add_subnet_metrics(Exposition& out, const SubnetManager& manager, const Tally& tally) {
  add_state(out, manager);
  add_cycles(out, manager, tally);
  add_smps(out, manager.smp_stats());
  add_multicast(out, manager.multicast());
  const CycleReport* last = manager.last_cycle();
  if (last == nullptr) return;
  out.family(Gauge, "smd_subnet_up", "1 when all was as wanted at the end of the last cycle.");
  out.sample(last->up() ? 1 : 0);
  out.family(Gauge, "smd_silent_ports", "Ports that are up and whose other end does not answer.");
  out.sample(static_cast<double>(last->silent.size()));
  const ActiveSubnet* now = manager.active().current().get();
  if (now == nullptr) return;
  const Fabric& fabric = now->fabric();
  out.family(Gauge, "smd_nodes", "Nodes of the subnet; routers count as adapters.");
  out.sample(static_cast<double>(fabric.switch_count()), {{"node_type", "switch"}});
  out.sample(static_cast<double>(fabric.node_guid.size() - fabric.switch_count()),
             {{"node_type", "adapter"}});
  out.family(Gauge, "smd_links", "Links between two ports.");
  out.sample(static_cast<double>(fabric.link_count()));
  add_ports(out, fabric);
}

}  // namespace smd::app
