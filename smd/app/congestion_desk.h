// Congestion control of the subnet: finds the agents, works out what each shall hold, asks for what
// differs, reads the logs.
//
// Independent of cycles: a cycle that ended brings a new snapshot, and with it perhaps a new plan.
// Nothing here is ever fatal: an agent that is silent, refuses or does not obey is counted and
// said.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "smd/app/congestion_agent.h"
#include "smd/app/cycle_report.h"
#include "smd/app/settings.h"
#include "smd/smp/gmp_client.h"

namespace smd::app {

struct CcStats {
  std::uint64_t gets = 0;
  std::uint64_t sets = 0;
  std::uint64_t logs = 0;        // readings
  std::uint64_t violations = 0;  // traps of agents that saw a wrong key
  std::uint64_t plans = 0;       // that differed from the one before
};

/// A port whose log told of congestion.
struct HotPort {
  std::uint64_t readings = 0;  // of the log in which it stood
  std::uint64_t events = 0;    // of its switch, or its own where it is an adapter's
  TimePoint last;
};

class CongestionDesk {
 public:
  using PortKey = std::pair<Guid, PortNum>;  // a switch's agent has port 0

  struct Known {
    explicit Known(bool is_switch) : agent(is_switch) {}

    CcAgent agent;
    std::string name;
    Lid lid;
    std::uint8_t sl = 0;
    bool busy = false;       // a request is on its way
    std::uint64_t life = 0;  // answers to an earlier one do not count
  };

  CongestionDesk(Runtime& runtime, Transport& transport);
  CongestionDesk(const CongestionDesk&) = delete;

  /// What is in force now. `longest_route` in switches, 0 where it was not measured; `came_up`:
  /// ports of the snapshot whose registers may be those of power-on.
  void adopt(std::shared_ptr<const InForce> now,
             const Settings& settings,
             unsigned longest_route,
             const std::vector<PortIdx>& came_up);

  /// Another manager rules: nothing is known or asked any more. Registers stay as they are.
  void stop();

  [[nodiscard]] bool at_rest() const { return !planning_ && busy_ == 0; }

  [[nodiscard]] bool enabled() const { return options_.enabled; }

  [[nodiscard]] const cc::Plan& plan() const { return plan_; }

  [[nodiscard]] const std::map<PortKey, Known>& agents() const { return agents_; }

  [[nodiscard]] const std::map<PortKey, HotPort>& hot() const { return hot_; }

  [[nodiscard]] const CcStats& stats() const { return stats_; }

  [[nodiscard]] const GmpStats& mads() const { return client_.stats(); }

  [[nodiscard]] std::size_t count(CcStanding standing) const;

  /// One line each; empty when all is well.
  [[nodiscard]] std::vector<std::string> alarms() const;

  [[nodiscard]] TimePoint now() const { return runtime_.now(); }

 private:
  void on_plan(cc::Plan plan);
  void start_anew(Known& known);
  void find_agents();
  void set_goals();
  [[nodiscard]] CcGoal goal_of(const PortKey& key) const;
  [[nodiscard]] std::uint8_t sl_to(Lid lid) const;
  void advance(const PortKey& key);
  void settled();
  void arm_round();
  void begin_round();
  void read_log(const PortKey& key);
  void take_log(const PortKey& key, const MadBytes& answer);
  void on_trap(const MadPacket& packet);
  template <class Done>
  void ask(const PortKey& key, const MadBytes& mad, Done done);

  Runtime& runtime_;
  GmpClient client_;
  cc::Options options_;
  unsigned mtu_max_ = 4096;
  std::shared_ptr<const InForce> now_;
  cc::Plan plan_;
  std::map<PortKey, Known> agents_;
  std::map<PortKey, HotPort> hot_;
  CcStats stats_;
  std::uint64_t lives_ = 0;
  std::uint64_t plan_number_ = 0;
  std::size_t busy_ = 0;
  bool planning_ = false;
  std::string said_;  // the last line of the log, to say each thing once
  Timer round_;
  OffloadOwner work_;
};

}  // namespace smd::app
