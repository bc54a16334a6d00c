#include "smd/app/congestion_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "smd/app/admin_view.h"

namespace smd::app {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostListed = 100;

Json hot_json(const CongestionDesk& desk, const ActiveSubnet& now) {
  using Item = std::pair<CcPort, HotPort>;
  std::vector<Item> items(desk.hot().begin(), desk.hot().end());
  std::ranges::stable_sort(
      items, std::ranges::greater{}, [](const Item& item) { return item.second.readings; });
  if (items.size() > kMostListed) items.resize(kMostListed);
  Json out = Json::array();
  for (const auto& [key, hot] : items) {
    const auto node = now.fabric().find_node(key.first);
    if (!node) continue;
    const Duration ago = desk.now() - hot.last;
    out.push_back({{"node", name_of(now.fabric(), *node)},
                   {"guid", fmt::format("{}", key.first)},
                   {"port", key.second.value()},
                   {"readings", hot.readings},
                   {"events", hot.events},
                   {"seconds_ago", std::chrono::duration<double>(ago).count()}});
  }
  return out;
}

Json others_json(const CongestionDesk& desk) {
  Json out = Json::array();
  for (const auto& [key, known] : desk.agents()) {
    if (known.agent.is_as_wished() || out.size() == kMostListed) continue;
    out.push_back({{"node", known.name},
                   {"guid", fmt::format("{}", key.first)},
                   {"port", key.second.value()},
                   {"standing", print_cc_standing(known.agent.standing())},
                   {"trouble", known.agent.trouble()}});
  }
  return out;
}

}  // namespace

Json congestion_json(const CongestionDesk& desk, const ActiveSubnet* now) {
  Json out = {{"enabled", desk.enabled()}};
  if (!desk.enabled()) return out;
  std::size_t confirmed = 0;
  std::size_t disobeying = 0;
  std::size_t refusing = 0;
  for (const auto& [key, known] : desk.agents()) {
    confirmed += known.agent.is_as_wished() ? 1 : 0;
    disobeying += known.agent.disobeys() ? 1 : 0;
    refusing += known.agent.refuses() ? 1 : 0;
  }
  const CcStats& stats = desk.stats();
  out["agents"] = {{"all", desk.agents().size()},
                   {"managed", desk.count(CcStanding::Managed)},
                   {"confirmed", confirmed},
                   {"unsupported", desk.count(CcStanding::Unsupported)},
                   {"silent", desk.count(CcStanding::Silent)},
                   {"foreign_key", desk.count(CcStanding::ForeignKey)},
                   {"disobeying", disobeying},
                   {"refusing", refusing}};
  out["mads"] = {{"gets", stats.gets},
                 {"sets", stats.sets},
                 {"logs", stats.logs},
                 {"sent", desk.mads().sent},
                 {"timeouts", desk.mads().timeouts}};
  out["key_violations"] = stats.violations;
  out["plan"] = cc::print_plan(desk.plan());
  out["refusal"] = desk.plan().refusal;
  out["others"] = others_json(desk);
  out["hot"] = now == nullptr ? Json::array() : hot_json(desk, *now);
  return out;
}

}  // namespace smd::app
