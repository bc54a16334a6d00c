// Agents and hot ports of the subnet.
#include "smd/cc/cc_agent_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace smd {

namespace {

constexpr std::size_t kMostAlarms = 5;

CcPort agent_of(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  return {fabric.node_guid[node], fabric.is_switch(node) ? PortNum{} : fabric.number_of(port)};
}

}  // namespace

std::uint8_t sl_to(const ActiveSubnet& now, Lid lid) {
  const Fabric& fabric = now.fabric();
  return find_path_sl(fabric, now.routing->path_sls, fabric.sm_port, lid).value_or(0);
}

void CcAgentTable::update(const ActiveSubnet& now, const cc::Options& options) {
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
    CcAgentEntry& entry = agents_.try_emplace(key, fabric.is_switch(node)).first->second;
    if (entry.generation == 0) reset_agent(entry);
    entry.name = print_port(fabric, port);
    entry.lid = lid;
    entry.sl = sl_to(now, lid);
  }
  const auto left = [&](const CcPort& port) { return !present.contains(port); };
  for (auto& [port, entry] : agents_) {
    if (left(port)) end(entry);
  }
  std::erase_if(agents_, [&](const auto& item) { return left(item.first); });
}

void CcAgentTable::reset_agent(CcAgentEntry& entry) {
  entry.agent.forget();
  entry.generation = ++generations_;
  end(entry);
}

void CcAgentTable::reset_agent(const Fabric& fabric, PortIdx port) {
  const auto found = agents_.find(agent_of(fabric, port));
  if (found != agents_.end()) reset_agent(found->second);
}

void CcAgentTable::clear() {
  agents_.clear();
  busy_ = 0;
}

std::vector<CcPort> CcAgentTable::ports() const {
  std::vector<CcPort> out;
  for (const auto& [port, entry] : agents_) out.push_back(port);
  return out;
}

CcAgentEntry* CcAgentTable::find(const CcPort& port, std::uint64_t generation) {
  const auto found = agents_.find(port);
  return found == agents_.end() || found->second.generation != generation ? nullptr
                                                                          : &found->second;
}

void CcAgentTable::begin(CcAgentEntry& entry) {
  if (!std::exchange(entry.busy, true)) ++busy_;
}

void CcAgentTable::end(CcAgentEntry& entry) {
  if (std::exchange(entry.busy, false)) --busy_;
}

std::size_t CcAgentTable::count(CcAgentStatus status) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      agents_, [&](const auto& item) { return item.second.agent.status() == status; }));
}

std::size_t CcAgentTable::count_trouble() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      agents_, [](const auto& item) { return !item.second.agent.trouble().empty(); }));
}

bool CcAgentTable::waits_for_lease() const {
  return std::ranges::any_of(agents_,
                             [](const auto& item) { return item.second.agent.waits_for_lease(); });
}

bool CcAgentTable::was_lease_probed(Lid lid) const {
  return std::ranges::any_of(agents_, [lid](const auto& item) {
    return item.second.lid == lid && item.second.agent.lease_probed();
  });
}

bool CcAgentTable::is_under(const Fabric& fabric, PortIdx port, cc::CcKey key) const {
  const auto found = agents_.find(agent_of(fabric, port));
  if (found == agents_.end()) return false;
  const CcAgent& agent = found->second.agent;
  return agent.status() == CcAgentStatus::Managed && agent.key() == key;
}

void CcAgentTable::add_alarms(std::vector<std::string>& lines) const {
  std::size_t more = 0;
  for (const auto& [port, entry] : agents_) {
    const bool foreign = entry.agent.status() == CcAgentStatus::ForeignKey;
    if (entry.agent.trouble().empty() && !foreign) continue;
    if (lines.size() >= kMostAlarms) {
      ++more;
      continue;
    }
    lines.push_back(fmt::format("congestion control: {}: {}",
                                entry.name,
                                foreign ? "another manager's CC_Key" : entry.agent.trouble()));
  }
  if (more > 0) lines.push_back(fmt::format("congestion control: {} more agents", more));
}

void HotPorts::note(const CcPort& port, std::uint16_t events, TimePoint now) {
  HotPort& hot = ports_[port];
  ++hot.readings;
  hot.events += events;
  hot.last = now;
}

void HotPorts::take(const CcPort& agent,
                    bool is_switch,
                    const Fabric& fabric,
                    const MadBytes& answer,
                    TimePoint now) {
  const auto data = std::span(answer).subspan(cc::kLogOffset);
  if (!is_switch) {
    const cc::CaLog log = *cc::decode_ca_log(data);
    if (log.events > 0) note(agent, log.events, now);
    return;
  }
  const cc::SwitchLog log = *cc::decode_switch_log(data);
  if (log.events == 0) return;
  const unsigned ports = fabric.num_ports(*fabric.find_node(agent.first));
  for (unsigned port = 0; port <= ports; ++port) {
    const PortNum number{static_cast<std::uint8_t>(port)};
    if (log.ports.test(number)) note({agent.first, number}, log.events, now);
  }
}

void HotPorts::forget_gone(const Fabric& fabric) {
  std::erase_if(ports_, [&](const auto& item) { return !fabric.find_node(item.first.first); });
}

}  // namespace smd
