#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/app/admin_view.h"
#include "smd/app/metrics.h"

namespace smd::app {
namespace {

using enum MetricType;

constexpr std::size_t kMostHotPorts = 100;

void add_hot_ports(Exposition& out, const CongestionDesk& desk, const ActiveSubnet* now) {
  out.family(Gauge, "smd_congestion_hot_ports", "Ports that stood in the log of an agent.");
  out.sample(static_cast<double>(desk.hot().size()));
  using Item = std::pair<CcPort, HotPort>;
  std::vector<Item> items(desk.hot().begin(), desk.hot().end());
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

void add_agents(Exposition& out, const CongestionDesk& desk) {
  out.family(Gauge, "smd_congestion_agents", "Agents by how they stand.");
  for (const auto& [word, standing] : {std::pair{"managed", CcStanding::Managed},
                                       {"unknown", CcStanding::Unknown},
                                       {"unsupported", CcStanding::Unsupported},
                                       {"silent", CcStanding::Silent},
                                       {"foreign_key", CcStanding::ForeignKey}})
    out.sample(static_cast<double>(desk.count(standing)), {{"standing", word}});
  const auto count = [&](auto what) {
    return static_cast<double>(std::ranges::count_if(
        desk.agents(), [&](const auto& item) { return (item.second.agent.*what)(); }));
  };
  out.family(Gauge, "smd_congestion_confirmed_agents", "Agents that hold all they shall hold.");
  out.sample(count(&CcAgent::is_as_wished));
  out.family(Gauge, "smd_congestion_disobeying_agents", "Agents that answer and do not obey.");
  out.sample(count(&CcAgent::disobeys));
  out.family(Gauge, "smd_congestion_refusing_agents", "Agents that refuse what they shall hold.");
  out.sample(count(&CcAgent::refuses));
}

}  // namespace

void add_congestion_metrics(Exposition& out, const CongestionDesk& desk, const ActiveSubnet* now) {
  out.family(Gauge, "smd_congestion_enabled", "1 when smd manages congestion control.");
  out.sample(desk.enabled() ? 1 : 0);
  if (!desk.enabled()) return;
  out.family(Gauge,
             "smd_congestion_options_refused",
             "1 when nothing is set, as the options would hold a host below its floor.");
  out.sample(desk.plan().refusal.empty() ? 0 : 1);
  add_agents(out, desk);
  const CcStats& stats = desk.stats();
  out.family(Counter, "smd_congestion_requests_total", "Requests to agents, by kind.");
  for (const auto& [kind, number] :
       {std::pair{"get", stats.gets}, {"set", stats.sets}, {"log", stats.logs}})
    out.sample(static_cast<double>(number), {{"kind", kind}});
  out.family(Counter, "smd_congestion_timeouts_total", "Requests to agents that were given up.");
  out.sample(static_cast<double>(desk.mads().timeouts));
  out.family(Counter,
             "smd_congestion_key_violations_total",
             "Traps of agents that somebody spoke to with a wrong CC_Key.");
  out.sample(static_cast<double>(stats.violations));
  add_hot_ports(out, desk, now);
}

}  // namespace smd::app
