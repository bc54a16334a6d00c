#include "tests/support/managers.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "tests/support/world.h"

namespace smd::test {
namespace {

constexpr Duration kSample = std::chrono::milliseconds(10);

bool is_table(const Smp& smp) { return is_about(smp, AttributeId::LinearForwardingTable); }

PortNum port_num(unsigned p) { return PortNum{static_cast<std::uint8_t>(p)}; }

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

/// What arrives while the process stands still waits in the kernel.
class PausableTap final : public Transport {
 public:
  explicit PausableTap(Member& member, Transport& inner) : member_(member), inner_(inner) {}

  [[nodiscard]] LocalPort local_port() const override { return inner_.local_port(); }

  Result<void> send(const MadPacket& packet) override { return inner_.send(packet); }

  void set_handlers(Receive receive, Lost lost) override {
    member_.receive_ = std::move(receive);
    inner_.set_handlers(
        [this](const MadPacket& packet) {
          if (member_.runtime && member_.runtime->paused()) {
            member_.waiting_.push_back(packet);
          } else {
            member_.receive_(packet);
          }
        },
        std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

 private:
  Member& member_;
  Transport& inner_;
};

Member::~Member() { kill(); }

Member::Member(sim::SimRuntime& clock, sim::SimFabric& fabric, std::uint32_t where, PortNum at)
    : node(where), port(at), clock_(clock), fabric_(fabric) {}

void Member::start(Settings settings) {
  kill();
  runtime = std::make_unique<PausableRuntime>(clock_);
  transport_ = std::make_unique<sim::SimTransport>(fabric_, node, port);
  pausable_ = std::make_unique<PausableTap>(*this, *transport_);
  tap_ = std::make_unique<SmpTap>(*pausable_);
  tap_->on_send = [this](const Smp& smp) {
    if (on_send) on_send(smp);
    if (loses && loses(smp)) return false;
    if (smp.method == Method::Set && !is_about(smp, AttributeId::SmInfo)) {
      ++sets;
      if (is_table(smp)) ++table_sets;
      last_set = clock_.now();
    }
    return true;
  };
  SubnetManager::Observer observer;
  observer.on_cycle = [this](const CycleReport& report) { reports.push_back(report); };
  observer.on_lids = [this](const LidBook& book) { kept.book = book; };
  observer.on_turns = [this](const std::vector<TurnRef>& turns) { kept.turns = turns; };
  manager = std::make_unique<SubnetManager>(
      *runtime, *tap_, std::move(settings), kept, std::move(observer));
  manager->start();
}

void Member::kill() {
  manager.reset();
  tap_.reset();
  pausable_.reset();
  transport_.reset();
  runtime.reset();
  waiting_.clear();
}

void Member::pause() { runtime->pause(); }

void Member::resume() {
  runtime->resume();
  for (const MadPacket& packet : std::exchange(waiting_, {}))
    runtime->post([this, packet] { receive_(packet); });
}

Managers::Managers(const std::string& text,
                   const std::vector<std::string>& names,
                   std::uint64_t seed,
                   sim::WireFaults faults)
    : fabric(runtime, spec_of(text), sim::Timing::modern(), seed) {
  fabric.set_wire_faults(faults);
  for (const std::string& name : names)
    members.push_back(std::make_unique<Member>(runtime, fabric, node(name), PortNum{1}));
}

std::uint32_t Managers::node(const std::string& name) const {
  const std::uint32_t found = sim::find_node(fabric.spec(), name);
  if (found == sim::kNoNode) throw std::runtime_error("no node " + name);
  return found;
}

void Managers::sample() {
  bool rivals = false;
  for (std::size_t a = 0; a < members.size(); ++a) {
    if (!members[a]->writes()) continue;
    const std::vector<bool> part = part_of(members[a]->node);
    for (std::size_t b = a + 1; b < members.size(); ++b)
      rivals = rivals || (members[b]->writes() && part[members[b]->node]);
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

std::vector<bool> Managers::part_of(std::uint32_t start) const {
  const sim::FabricSpec& spec = fabric.spec();
  std::vector<bool> seen(spec.nodes.size(), false);
  std::vector<std::uint32_t> queue{start};
  seen[start] = true;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::uint32_t n = queue[at];
    if (n != start && spec.nodes[n].type != NodeType::Switch) continue;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      if (!fabric.link_up(n, port_num(p))) continue;
      const std::uint32_t peer = spec.nodes[n].ports[p].peer_node;
      if (!seen[peer]) queue.push_back(peer);
      seen[peer] = true;
    }
  }
  return seen;
}

bool Managers::settled() const {
  for (const auto& member : members) {
    if (!member->alive()) continue;
    if (member->runtime->paused() || !member->manager->at_rest()) return false;
    const std::vector<bool> part = part_of(member->node);
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
    const std::vector<bool> part = part_of(member->node);
    std::set<Lid> rulers;
    for (const auto& other : members) {
      if (other->alive() && part[other->node] && other->state() == SmState::Master)
        rulers.insert(fabric.port_info(other->node, other->port).lid);
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
  Settings settings = WorldOptions::default_settings();
  settings.election.priority = static_cast<std::uint8_t>(priority);
  return settings;
}

}  // namespace smd::test
