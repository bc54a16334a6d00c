// Several managers on one simulated fabric, each of which can die, stand still and come back; and
// what their fabric says of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/subnet_oracles.h"

namespace smd::test {

/// A process that can be stopped and continued: what came due meanwhile runs then.
class PausableRuntime final : public Runtime {
 public:
  explicit PausableRuntime(sim::SimRuntime& inner) : inner_(inner) {}

  PausableRuntime(const PausableRuntime&) = delete;
  ~PausableRuntime() override;

  [[nodiscard]] TimePoint now() const override { return inner_.now(); }

  [[nodiscard]] TimePoint now_with_suspends() const override { return now() + suspended; }

  TimerId call_at(TimePoint when, Task task) override;
  void cancel(TimerId id) override;

  void post(Task task) override { call_at(now(), std::move(task)); }

  void offload(Task work, Task then) override;

  void pause() { paused_ = true; }

  void resume();

  [[nodiscard]] bool paused() const { return paused_; }

  Duration suspended{0};  // of the machine, which now() does not count

 private:
  void fire(std::uint64_t id);

  struct Entry {
    Task task;
    TimerId inner = TimerId::None;
  };

  sim::SimRuntime& inner_;
  std::map<std::uint64_t, Entry> tasks_;
  std::vector<std::uint64_t> due_;  // while paused, in order
  std::uint64_t next_ = 1;
  bool paused_ = false;
};

/// One manager's machine.
class Member {
 public:
  /// Sits on port 1.
  Member(TimedFabric& on, std::uint32_t where) : node(where), on_(on) {}

  ~Member() { kill(); }

  Member(const Member&) = delete;

  /// A new process, with what the former ones wrote down.
  void start(Settings settings);

  /// With this in its place.
  void start(Settings settings, PersistentState kept);
  void kill();

  void pause() { runtime->pause(); }

  void resume();

  [[nodiscard]] bool alive() const { return manager != nullptr; }

  /// What it has written down.
  [[nodiscard]] const PersistentState& kept() const { return process_ ? process_->kept() : kept_; }

  [[nodiscard]] SmState state() const {
    return manager ? manager->election().state() : SmState::NotActive;
  }

  /// Alive, running, and free to change the fabric.
  [[nodiscard]] bool writes() const {
    return manager && !runtime->paused() && manager->election().may_write();
  }

  const std::uint32_t node;
  std::uint64_t sets = 0;        // of everything but SMInfo, given to the port
  std::uint64_t table_sets = 0;  // of forwarding tables
  std::optional<TimePoint> last_set;
  std::function<void(const Smp&)> on_send;
  std::function<bool(const Smp&)> loses;  // on the way out
  std::vector<CycleReport> reports;
  std::unique_ptr<PausableRuntime> runtime;
  SubnetManager* manager = nullptr;

 private:
  TimedFabric& on_;
  PersistentState kept_;
  std::optional<SimulatedManager> process_;
  std::vector<MadPacket> waiting_;  // in the kernel, while the process stands still
};

class Managers : public TimedFabric {
 public:
  /// `names`: the hosts that a manager sits on, by port 1.
  Managers(const std::string& fabric,
           const std::vector<std::string>& names,
           std::uint64_t seed = 1,
           sim::WireFaults faults = {},
           const sim::AgentOptions& agents = {});

  void run_for(Duration time);

  /// Runs until `done`; false when `limit` passed first.
  bool run_until(const std::function<bool()>& done, Duration limit);

  /// Every member that lives rests, and each part of the fabric with one of them has one master;
  /// who is alone in its part looks on.
  [[nodiscard]] bool settled() const;

  /// Runs until they have settled; false when `limit` passed first.
  bool settle(Duration limit = std::chrono::seconds(60)) {
    return run_until([this] { return settled(); }, limit);
  }

  Member& operator[](std::size_t i) { return *members[i]; }

  /// What the registers say is wrong in parts that have a living manager: a port that is not
  /// Active, a MasterSMLID that is not that of the one master there, a route that does not arrive.
  /// Empty when all is well.
  [[nodiscard]] std::string find_fault() const;

  /// LID registers of all end ports, by GUID.
  [[nodiscard]] std::map<Guid, Lid> lids() const;

  /// Entries of all switches, by node and LID: what the tables themselves hold.
  [[nodiscard]] std::map<std::pair<std::uint32_t, Lid>, PortNum> entries() const;

  /// The longest time that two managers of one part were both free to write, or did write, without
  /// a break; by samples as run_for() and run_until() take them.
  Duration longest_rivalry{0};

  std::vector<std::unique_ptr<Member>> members;

 private:
  void sample();

  std::optional<TimePoint> rivals_since_;
};

[[nodiscard]] Settings manager_settings(unsigned priority);

}  // namespace smd::test
