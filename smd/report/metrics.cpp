// Families of numbers, part by part.
#include "smd/report/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "smd/report/subnet_json.h"

namespace smd {

namespace {

using enum MetricType;

/// From what a single SMP takes to what nobody waits for.
const std::vector<double> kSeconds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300};

void add_rest(Exposition& out, const RestStats& rest) {
  out.family(Counter, "smd_rest_requests_total", "Requests over HTTP, by how they ended.");
  for (const auto& [result, count] : {std::pair{"answered", rest.answered},
                                      {"refused", rest.refused},
                                      {"unauthorized", rest.unauthorized},
                                      {"malformed", rest.server.malformed},
                                      {"too_long", rest.server.too_long},
                                      {"cut", rest.server.cut},
                                      {"no_handshake", rest.server.no_handshake}})
    out.sample(static_cast<double>(count), {{"result", result}});
}

void add_replica(Exposition& out, const ReplicaView& replica) {
  out.family(Gauge, "smd_replica_readers", "Managers that read a copy of our state.");
  out.sample(static_cast<double>(replica.server.peers().size()));
  out.family(Gauge, "smd_replica_readers_current", "1 when each of them has all of it.");
  out.sample(replica.server.is_current() ? 1 : 0);
  out.family(
      Counter, "smd_replica_refused_total", "Connections refused for want of a good certificate.");
  out.sample(static_cast<double>(replica.refused));
}

void add_receive_queue(Exposition& out, const ReceiveStats& stats) {
  out.family(Counter,
             "smd_mads_dropped_total",
             "Packets that found no room between the receiving thread and the loop, by kind.");
  for (const auto& [kind, word] : {std::pair{MadKind::Answer, "answer"},
                                   {MadKind::Manager, "manager"},
                                   {MadKind::Trap, "trap"},
                                   {MadKind::Request, "request"}})
    out.sample(static_cast<double>(stats.dropped_of(kind)), {{"kind", word}});
}

void add_state(Exposition& out, const SubnetManager& manager) {
  out.family(Gauge, "smd_manager_state", "1 for the state of this manager among the managers.");
  for (const SmState state :
       {SmState::NotActive, SmState::Discovering, SmState::Standby, SmState::Master})
    out.sample(manager.election().state() == state ? 1 : 0, {{"state", print_sm_state(state)}});
  out.family(Gauge, "smd_managers", "Other managers of the subnet.");
  out.sample(static_cast<double>(manager.election().others().size()));
}

void add_cycles(Exposition& out, const SubnetManager& manager, const SessionCounters& counters) {
  if (const auto sweep = manager.last_sweep()) {
    out.family(Gauge, "smd_sweep_age_seconds", "Time since the last sweep of the subnet ended.");
    out.sample(in_seconds(manager.now() - sweep->ended));
    out.family(Gauge, "smd_sweep_duration_seconds", "How long it took.");
    out.sample(in_seconds(sweep->took));
  }
  out.family(Counter, "smd_cycles_total", "Cycles by whether all was as wanted at their end.");
  out.sample(static_cast<double>(counters.cycles(true)), {{"result", "up"}});
  out.sample(static_cast<double>(counters.cycles(false)), {{"result", "not_up"}});
  out.family(Histogram,
             "smd_change_seconds",
             "How long changes of the subnet took to be taken in, by direction and transition.");
  for (const auto& [kind, values] : counters.changes())
    out.histogram(values,
                  {{"direction", kind.shrank ? "down" : "up"},
                   {"transition", print_transition_kind(kind.transition)}});
  out.family(Counter, "smd_traps_total", "Traps by number; 0 stands for those of vendors.");
  for (const auto& [number, count] : counters.traps())
    out.sample(static_cast<double>(count), {{"trap", fmt::format("{}", number)}});
  const TrapStats& traps = manager.traps().stats();
  out.family(Counter,
             "smd_traps_dropped_total",
             "Traps that were not taken for what they say, by reason.");
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
  out.family(Counter,
             "smd_smp_timeouts_total",
             "Requests that were given up, but those to whom was known to be silent.");
  out.sample(static_cast<double>(stats.timeouts));
  out.family(Counter,
             "smd_smp_silent_timeouts_total",
             "Requests that were given up, to whom was known to be silent.");
  out.sample(static_cast<double>(stats.silent_timeouts));
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

void add_multicast(Exposition& out, const MulticastManager& multicast) {
  std::size_t members = 0;
  for (const auto& [mgid, group] : multicast.groups().groups()) members += group.members.size();
  out.family(Gauge, "smd_multicast_groups", "Multicast groups.");
  out.sample(static_cast<double>(multicast.groups().groups().size()));
  out.family(Gauge, "smd_multicast_members", "Members of all groups.");
  out.sample(static_cast<double>(members));
  out.family(Gauge, "smd_multicast_stranded_members", "Members that no tree reaches.");
  out.sample(static_cast<double>(multicast.stats().stranded));
  out.family(Gauge, "smd_multicast_unconfirmed_lids", "MLIDs whose entries are not confirmed.");
  out.sample(static_cast<double>(multicast.stats().unmet));
  if (multicast.realm() == nullptr) return;
  const TreeReport& summary = multicast.summary();
  out.family(Gauge, "smd_multicast_trees", "MLIDs with entries.");
  out.sample(static_cast<double>(summary.trees));
  out.family(Gauge, "smd_multicast_fullest_cable_trees", "Trees over the cable that has most.");
  out.sample(summary.cables.most);
  if (summary.largest.empty()) return;
  const TreeQuality& largest = summary.largest.front().quality;
  out.family(Gauge,
             "smd_multicast_largest_tree_hops",
             "Between switches, from a member of the largest group to another, by the way taken.");
  out.sample(largest.mean_hops(), {{"way", "tree"}, {"of", "mean"}});
  out.sample(largest.depth, {{"way", "tree"}, {"of", "most"}});
  out.sample(largest.mean_shortest_hops(), {{"way", "shortest"}, {"of", "mean"}});
  out.sample(largest.shortest_depth, {{"way", "shortest"}, {"of", "most"}});
  out.family(Gauge,
             "smd_multicast_largest_tree_channels",
             "That a packet to the largest group takes, and what other ways would take.");
  out.sample(largest.mean_channels(), {{"way", "tree"}});
  out.sample(largest.mean_shortest_channels(), {{"way", "shortest"}});
  out.sample(largest.mean_unicast_channels(), {{"way", "unicasts"}});
}

constexpr std::size_t kMostHotPorts = 100;

void add_hot_ports(Exposition& out, const CcManager& cc_manager, const ActiveSubnet* now) {
  out.family(Gauge, "smd_congestion_hot_ports", "Ports that stood in the log of an agent.");
  out.sample(static_cast<double>(cc_manager.hot().size()));
  using Item = std::pair<CcPort, HotPort>;
  std::vector<Item> items(cc_manager.hot().begin(), cc_manager.hot().end());
  std::ranges::stable_sort(
      items, std::ranges::greater{}, [](const Item& item) { return item.second.readings; });
  if (items.size() > kMostHotPorts) items.resize(kMostHotPorts);
  const auto add = [&](std::uint64_t HotPort::*number) {
    for (const auto& [at, hot] : items) {
      const auto node = now == nullptr ? std::nullopt : now->fabric().find_node(at.first);
      out.sample(static_cast<double>(hot.*number),
                 {{"guid", fmt::format("{}", at.first)},
                  {"node", node ? name_of(now->fabric(), *node) : ""},
                  {"port", fmt::format("{}", at.second)}});
    }
  };
  out.family(Counter,
             "smd_congestion_hot_readings_total",
             "Readings of the log in which the port stood; the most often seen ports.");
  add(&HotPort::readings);
  out.family(Counter,
             "smd_congestion_hot_events_total",
             "Events in those logs; a switch counts them over all its ports.");
  add(&HotPort::events);
}

void add_agents(Exposition& out, const CcManager& cc_manager) {
  out.family(Gauge, "smd_congestion_agents", "Agents by how they stand.");
  for (const auto& [word, status] : {std::pair{"managed", CcAgentStatus::Managed},
                                     {"unknown", CcAgentStatus::Unknown},
                                     {"unsupported", CcAgentStatus::Unsupported},
                                     {"silent", CcAgentStatus::Silent},
                                     {"foreign_key", CcAgentStatus::ForeignKey}})
    out.sample(static_cast<double>(cc_manager.count(status)), {{"standing", word}});
  const auto count = [&](auto what) {
    return static_cast<double>(std::ranges::count_if(
        cc_manager.agents(), [&](const auto& item) { return (item.second.agent.*what)(); }));
  };
  out.family(Gauge, "smd_congestion_confirmed_agents", "Agents that hold all they shall hold.");
  out.sample(count(&CcAgent::is_confirmed));
  out.family(Gauge, "smd_congestion_disobeying_agents", "Agents that answer and do not obey.");
  out.sample(count(&CcAgent::disobeys));
  out.family(Gauge, "smd_congestion_refusing_agents", "Agents that refuse what they shall hold.");
  out.sample(count(&CcAgent::refuses));
}

}  // namespace

SessionCounters::SessionCounters() {
  for (const bool shrank : {false, true}) {
    for (const TransitionKind kind : {TransitionKind::Certified,
                                      TransitionKind::CutDependencies,
                                      TransitionKind::CutPorts,
                                      TransitionKind::DeactivateAll,
                                      TransitionKind::NextHopFirst,
                                      TransitionKind::Held,
                                      TransitionKind::Unordered})
      changes_.try_emplace({shrank, kind}, kSeconds);
  }
  for (const std::uint16_t number :
       {trap::kLinkState, trap::kMKey, trap::kPKey, trap::kQKey, trap::kSwitchPKey})
    traps_[number] = 0;
}

void SessionCounters::note(const CycleReport& cycle, bool is_change) {
  ++cycles_[cycle.up() ? 1 : 0];
  if (!is_change || cycle.error) return;
  const ChangeKind kind{cycle.shrank, cycle.transition.kind};
  const auto at = changes_.try_emplace(kind, kSeconds).first;
  at->second.note(in_seconds(cycle.ended - cycle.began));
}

void SessionCounters::note(const Notice& trap) {
  const bool known = trap.is_generic && is_known_trap(trap.trap_or_device);
  ++traps_[known ? trap.trap_or_device : std::uint16_t{0}];
}

void add_administration_metrics(Exposition& out, const SaView& sa) {
  const sa::ServerStats& stats = sa.server.stats();
  out.family(Counter, "smd_sa_answers_total", "Answers of the subnet administration.");
  for (const auto& [as, count] : stats.by_attribute) {
    const std::string_view attribute = sa::print_record_id(as.attribute);
    out.sample(static_cast<double>(count),
               {{"attribute", attribute.empty() ? "other" : attribute},
                {"status", sa::print_status(as.status)}});
  }
  out.family(Counter, "smd_sa_dropped_total", "Requests that got no answer, by reason.");
  for (const auto& [reason, count] : {std::pair{"malformed", stats.malformed},
                                      {"unasked", stats.unasked},
                                      {"wrong_key", stats.wrong_key},
                                      {"flooded", stats.flooded},
                                      {"too_fast", stats.too_fast},
                                      {"repeated", stats.repeated}})
    out.sample(static_cast<double>(count), {{"reason", reason}});
  out.family(Counter, "smd_sa_transfers_failed_total", "Tables that were not taken to their end.");
  out.sample(static_cast<double>(stats.transfers_failed));
  out.family(Gauge, "smd_sa_waiting", "Requests that wait for their turn.");
  out.sample(static_cast<double>(sa.server.waiting()));
  const sa::ReporterStats& reports = sa.inform.reporter().stats();
  out.family(Counter, "smd_sa_reports_total", "Reports to subscribers, by how they ended.");
  for (const auto& [result, count] : {std::pair{"answered", reports.answered},
                                      {"failed", reports.failed},
                                      {"missed", reports.missed}})
    out.sample(static_cast<double>(count), {{"result", result}});
  out.family(Gauge, "smd_sa_subscriptions", "Subscriptions to reports.");
  out.sample(static_cast<double>(sa.inform.table().count()));
  out.family(Gauge, "smd_sa_services", "Services that are registered.");
  out.sample(static_cast<double>(sa.services.table().all().size()));
}

namespace {

void add_path_watch(Exposition& out, const PathWatch& watch) {
  if (!watch.enabled()) return;
  out.family(Counter, "smd_path_watch_rounds_total", "Readings of all switch ports that ended.");
  out.sample(static_cast<double>(watch.stats().rounds));
  out.family(Counter, "smd_path_watch_mads_total", "Requests for counters, retries included.");
  out.sample(static_cast<double>(watch.mads().sent));
  out.family(Counter, "smd_path_watch_busy_total", "Answers of agents that were busy.");
  out.sample(static_cast<double>(watch.stats().busy));
  out.family(Counter,
             "smd_path_watch_given_up_total",
             "Requests that were under way when a cycle began, and were given up.");
  out.sample(static_cast<double>(watch.stats().given_up));
  out.family(
      Counter,
      "smd_path_watch_skipped_total",
      "Ports that could not be read (silent, busy, refused, no counter of waits), each round.");
  out.sample(static_cast<double>(watch.stats().skipped));
  out.family(Gauge, "smd_path_watch_ports", "Switch ports of a round.");
  out.sample(static_cast<double>(watch.ports()));
  out.family(Gauge, "smd_path_watch_contended_links", "Links that packets have to wait for.");
  out.sample(static_cast<double>(watch.order().contended().size()));
}

}  // namespace

std::string print_metrics(const MetricsInput& input) {
  Exposition out;
  out.family(Gauge, "smd_uptime_seconds", "Time since the daemon was started.");
  out.sample(in_seconds(input.uptime));
  out.family(Gauge, "smd_device_open", "1 when there is an adapter to manage the subnet from.");
  out.sample(input.session ? 1 : 0);
  if (input.replica) add_replica(out, *input.replica);
  if (input.rest) add_rest(out, *input.rest);
  std::size_t alarms = input.alarms;
  if (input.session)
    alarms += input.session->manager.alarms().size() + input.session->congestion.alarms().size();
  out.family(Gauge, "smd_alarms", "Lines of `smctl status` that say what is not as it should be.");
  out.sample(static_cast<double>(alarms));
  if (!input.session) return out.take();
  const SubnetManager& manager = input.session->manager;
  const CcManager& congestion = input.session->congestion;
  add_receive_queue(out, input.received);
  add_subnet_metrics(out, manager, input.session->counters);
  add_administration_metrics(out, input.session->sa);
  add_congestion_metrics(out, congestion, manager.active().current().get());
  add_path_watch(out, input.session->watch);
  return out.take();
}

void add_subnet_metrics(Exposition& out,
                        const SubnetManager& manager,
                        const SessionCounters& counters) {
  add_state(out, manager);
  add_cycles(out, manager, counters);
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

void add_congestion_metrics(Exposition& out, const CcManager& cc_manager, const ActiveSubnet* now) {
  out.family(Gauge, "smd_congestion_enabled", "1 when smd manages congestion control.");
  out.sample(cc_manager.enabled() ? 1 : 0);
  if (!cc_manager.enabled()) return;
  out.family(Gauge,
             "smd_congestion_options_refused",
             "1 when nothing is set, as the options would hold a host below its floor.");
  out.sample(cc_manager.plan().refusal.empty() ? 0 : 1);
  add_agents(out, cc_manager);
  const CcStats& stats = cc_manager.stats();
  out.family(Counter, "smd_congestion_requests_total", "Requests to agents, by kind.");
  for (const auto& [kind, number] :
       {std::pair{"get", stats.gets}, {"set", stats.sets}, {"log", stats.logs}})
    out.sample(static_cast<double>(number), {{"kind", kind}});
  out.family(Counter, "smd_congestion_timeouts_total", "Requests to agents that were given up.");
  out.sample(static_cast<double>(cc_manager.mads().timeouts));
  out.family(Counter,
             "smd_congestion_key_violations_total",
             "Traps of agents that somebody spoke to with a wrong CC_Key.");
  out.sample(static_cast<double>(stats.violations));
  add_hot_ports(out, cc_manager, now);
}

}  // namespace smd
