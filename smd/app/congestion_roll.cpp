#include "smd/app/congestion_roll.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace smd::app {
namespace {

constexpr std::size_t kMostAlarms = 5;

CcPort agent_of(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  return {fabric.node_guid[node], fabric.is_switch(node) ? PortNum{} : fabric.number_of(port)};
}

std::uint8_t sl_to(const ActiveSubnet& now, Lid lid) {
  const Fabric& fabric = now.fabric();
  const PathSls& sls = now.routing->path_sls;
  NodeIdx at = fabric.sm_node;
  if (!fabric.is_switch(at)) {
    const PortIdx far = fabric.peer[fabric.sm_port];
    if (far == kNone<PortIdx>) return 0;
    at = fabric.node_of[far];
  }
  if (!fabric.is_switch(at) || sls.empty() || !sls.covers(fabric.switch_count(), lid)) return 0;
  return sls.sl(fabric.switch_of[at], lid);
}

}  // namespace

void CcRoll::meet(const ActiveSubnet& now, const cc::Options& options) {
  const Fabric& fabric = now.fabric();
  std::set<CcPort> present;
  for (const PortIdx port : fabric.peer.indices()) {
    const NodeIdx node = fabric.node_of[port];
    const Lid lid = now.lids->base[port];
    if (!fabric.is_end_port(port) || lid == kUnassignedLid) continue;
    const cc::NodeOverride* own = options.find(fabric.node_guid[node]);
    if (own != nullptr && own->off) continue;
    const CcPort key = agent_of(fabric, port);
    present.insert(key);
    CcKnown& known = agents_.try_emplace(key, fabric.is_switch(node)).first->second;
    if (known.life == 0) start_anew(known);
    known.name = print_port(fabric, port);
    known.lid = lid;
    known.sl = sl_to(now, lid);
  }
  const auto left = [&](const CcPort& port) { return !present.contains(port); };
  for (auto& [port, known] : agents_) {
    if (left(port)) end(known);
  }
  std::erase_if(agents_, [&](const auto& item) { return left(item.first); });
}

void CcRoll::start_anew(CcKnown& known) {
  known.agent.forget();
  known.life = ++lives_;
  end(known);
}

void CcRoll::start_anew(const Fabric& fabric, PortIdx port) {
  const auto found = agents_.find(agent_of(fabric, port));
  if (found != agents_.end()) start_anew(found->second);
}

void CcRoll::clear() {
  agents_.clear();
  busy_ = 0;
}

std::vector<CcPort> CcRoll::ports() const {
  std::vector<CcPort> out;
  for (const auto& [port, known] : agents_) out.push_back(port);
  return out;
}

CcKnown* CcRoll::find(const CcPort& port, std::uint64_t life) {
  const auto found = agents_.find(port);
  return found == agents_.end() || found->second.life != life ? nullptr : &found->second;
}

void CcRoll::begin(CcKnown& known) {
  if (!std::exchange(known.busy, true)) ++busy_;
}

void CcRoll::end(CcKnown& known) {
  if (std::exchange(known.busy, false)) --busy_;
}

std::size_t CcRoll::count(CcStanding standing) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      agents_, [&](const auto& item) { return item.second.agent.standing() == standing; }));
}

std::size_t CcRoll::count_trouble() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      agents_, [](const auto& item) { return !item.second.agent.trouble().empty(); }));
}

bool CcRoll::waits_for_lease() const {
  return std::ranges::any_of(agents_,
                             [](const auto& item) { return item.second.agent.waits_for_lease(); });
}

bool CcRoll::was_knocked_at(Lid lid) const {
  return std::ranges::any_of(agents_, [lid](const auto& item) {
    return item.second.lid == lid && item.second.agent.knocked();
  });
}

void CcRoll::add_alarms(std::vector<std::string>& lines) const {
  std::size_t more = 0;
  for (const auto& [port, known] : agents_) {
    const bool foreign = known.agent.standing() == CcStanding::ForeignKey;
    if (known.agent.trouble().empty() && !foreign) continue;
    if (lines.size() >= kMostAlarms) {
      ++more;
      continue;
    }
    lines.push_back(fmt::format("congestion control: {}: {}",
                                known.name,
                                foreign ? "another manager's CC_Key" : known.agent.trouble()));
  }
  if (more > 0) lines.push_back(fmt::format("congestion control: {} more agents", more));
}

}  // namespace smd::app
