#include "tests/support/managers.h"
#include "tests/support/port_num.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace smd::test {
namespace {

constexpr Duration kSample = std::chrono::milliseconds(10);

/// It has nobody to rule.
bool is_alone(const std::vector<bool>& part) { return std::ranges::count(part, true) == 1; }

}  // namespace

PausableRuntime::~PausableRuntime() {
  for (const auto& [id, entry] : tasks_) inner_.cancel(entry.inner);
}

TimerId PausableRuntime::call_at(TimePoint when, Task task) {
  const std::uint64_t id = next_++;
  const TimerId inner = inner_.call_at(when, [this, id] { fire(id); });
  tasks_[id] = {std::move(task), inner};
  return static_cast<TimerId>(id);
}

void PausableRuntime::cancel(TimerId id) {
  const auto found = tasks_.find(static_cast<std::uint64_t>(id));
  if (found == tasks_.end()) return;
  inner_.cancel(found->second.inner);
  tasks_.erase(found);
}

void PausableRuntime::offload(Task work, Task then) {
  post([work = std::move(work), then = std::move(then)] {
    work();
    then();
  });
}

void PausableRuntime::fire(std::uint64_t id) {
  if (paused_) return due_.push_back(id);
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  const Task task = std::move(found->second.task);
  tasks_.erase(found);
  task();
}

void PausableRuntime::resume() {
  paused_ = false;
  for (const std::uint64_t id : std::exchange(due_, {})) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) continue;
    found->second.inner = inner_.call_at(inner_.now(), [this, id] { fire(id); });
  }
}

void Member::start(Settings settings, PersistentState kept) {
  kill();
  kept_ = std::move(kept);
  start(std::move(settings));
}

void Member::start(Settings settings) {
  kill();
  runtime = std::make_unique<PausableRuntime>(on_.runtime);
  process_.emplace(on_,
                   SimulatedSubnetOptions{.settings = std::move(settings),
                                          .kept = kept_,
                                          .node = node,
                                          .runtime = runtime.get(),
                                          .on_cycle = [this](const CycleReport& report) {
                                            reports.push_back(report);
                                          }});
  manager = &process_->manager;
  process_->tap.on_arrival = [this](const MadPacket& packet) {
    if (runtime->paused()) waiting_.push_back(packet);
    return !runtime->paused();
  };
  process_->tap.on_send = [this](const Smp& smp) {
    if (on_send) on_send(smp);
    if (loses && loses(smp)) return false;
    if (smp.method == Method::Set && !is_about(smp, AttributeId::SmInfo)) {
      ++sets;
      if (is_about(smp, AttributeId::LinearForwardingTable)) ++table_sets;
      last_set = on_.runtime.now();
    }
    return true;
  };
  manager->start();
}

void Member::kill() {
  if (process_) kept_ = process_->kept();
  manager = nullptr;
  process_.reset();
  runtime.reset();
  waiting_.clear();
}

void Member::resume() {
  runtime->resume();
  for (const MadPacket& packet : std::exchange(waiting_, {}))
    runtime->post([this, packet] { process_->tap.deliver(packet); });
}

Managers::Managers(const std::string& text,
                   const std::vector<std::string>& names,
                   std::uint64_t seed,
                   sim::WireFaults faults,
                   const sim::AgentOptions& agents)
    : TimedFabric(spec_of(text), sim::Timing::modern(), seed, agents) {
  fabric.set_wire_faults(faults);
  for (const std::string& name : names)
    members.push_back(std::make_unique<Member>(*this, node(name)));
}

void Managers::sample() {
  bool rivals = false;
  for (std::size_t a = 0; a < members.size(); ++a) {
    if (!members[a]->writes()) continue;
    const std::vector<bool> part = part_of(*this, members[a]->node);
    for (std::size_t b = a + 1; b < members.size(); ++b)
      rivals = rivals || (members[b]->writes() && part[members[b]->node]);
  }
  // Who believes to rule may be wrong: what was written counts as well.
  const auto wrote = [this](const Member& each) {
    return each.last_set && runtime.now() - *each.last_set < kSample;
  };
  for (std::size_t a = 0; a < members.size() && !rivals; ++a) {
    if (!wrote(*members[a])) continue;
    const std::vector<bool> part = part_of(*this, members[a]->node);
    for (std::size_t b = a + 1; b < members.size(); ++b)
      rivals = rivals || (wrote(*members[b]) && part[members[b]->node]);
  }
  if (!rivals) return rivals_since_.reset();
  if (!rivals_since_) rivals_since_ = runtime.now();
  longest_rivalry = std::max(longest_rivalry, runtime.now() - *rivals_since_ + kSample);
}

void Managers::run_for(Duration time) {
  (void)run_until([] { return false; }, time);
}

bool Managers::run_until(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = runtime.now() + limit;
  while (!done()) {
    if (runtime.now() >= end) return false;
    runtime.run_until(std::min(end, runtime.now() + kSample));
    sample();
  }
  return true;
}

bool Managers::settled() const {
  for (const auto& member : members) {
    if (!member->alive()) continue;
    if (member->runtime->paused() || !member->manager->at_rest()) return false;
    const std::vector<bool> part = part_of(*this, member->node);
    if (is_alone(part)) {
      if (member->state() != SmState::Discovering) return false;
      continue;
    }
    unsigned masters = 0;
    for (const auto& other : members) {
      if (!other->alive() || !part[other->node]) continue;
      if (other->state() == SmState::Master) {
        ++masters;
        if (other->manager->last_cycle() == nullptr || !other->manager->last_cycle()->up())
          return false;
      } else if (other->state() != SmState::Standby) {
        return false;
      }
    }
    if (masters != 1) return false;
  }
  return find_fault().empty();
}

std::string Managers::find_fault() const {
  const sim::FabricSpec& spec = fabric.spec();
  for (const auto& member : members) {
    if (!member->alive()) continue;
    const std::vector<bool> part = part_of(*this, member->node);
    if (is_alone(part)) continue;
    std::set<Lid> rulers;
    for (const auto& other : members) {
      if (other->alive() && part[other->node] && other->state() == SmState::Master)
        rulers.insert(fabric.port_info(other->node, PortNum{1}).lid);
    }
    if (rulers.size() != 1) return fmt::format("{} masters in one part", rulers.size());
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      if (!part[n]) continue;
      const bool is_switch = spec.nodes[n].type == NodeType::Switch;
      for (unsigned p = is_switch ? 0 : 1; p <= spec.nodes[n].num_ports(); ++p) {
        if (p > 0 && !fabric.link_up(n, port_num(p))) continue;
        const PortInfo info = fabric.port_info(n, port_num(p));
        if (info.state() != PortState::Active)
          return fmt::format(
              "{}:{} is {}", spec.nodes[n].description, p, print_port_state(info.state()));
        if (is_switch && p > 0) continue;
        if (info.master_sm_lid != *rulers.begin())
          return fmt::format("{}:{} believes in master {}, which is {}",
                             spec.nodes[n].description,
                             p,
                             info.master_sm_lid,
                             *rulers.begin());
      }
    }
    if (std::string broken = find_broken_route_within(*this, part); !broken.empty()) return broken;
  }
  return "";
}

std::map<Guid, Lid> Managers::lids() const {
  std::map<Guid, Lid> out;
  const sim::FabricSpec& spec = fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const bool is_switch = spec.nodes[n].type == NodeType::Switch;
    for (unsigned p = is_switch ? 0 : 1; p <= (is_switch ? 0 : spec.nodes[n].num_ports()); ++p) {
      const Guid guid = is_switch ? spec.nodes[n].guid : spec.nodes[n].ports[p].guid;
      const Lid lid = fabric.port_info(n, port_num(p)).lid;
      if (lid != kUnassignedLid) out[guid] = lid;
    }
  }
  return out;
}

std::map<std::pair<std::uint32_t, Lid>, PortNum> Managers::entries() const {
  std::map<std::pair<std::uint32_t, Lid>, PortNum> out;
  const sim::FabricSpec& spec = fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    for (std::uint16_t lid = 1; lid <= fabric.switch_info(n).linear_fdb_top; ++lid)
      out[{n, Lid{lid}}] = fabric.lft(n, Lid{lid});
  }
  return out;
}

Settings manager_settings(unsigned priority) {
  Settings settings = default_settings();
  settings.election.priority = static_cast<std::uint8_t>(priority);
  return settings;
}

}  // namespace smd::test
