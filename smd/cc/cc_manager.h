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
#include <variant>
#include <vector>

#include "smd/cc/cc_agent_table.h"
#include "smd/config/settings.h"
#include "smd/runtime/rate_limiter.h"
#include "smd/smp/gmp_client.h"
#include "smd/state/state_store.h"

namespace smd {

struct CcStats {
  std::uint64_t gets = 0;
  std::uint64_t sets = 0;
  std::uint64_t logs = 0;        // readings
  std::uint64_t violations = 0;  // traps of agents that saw a wrong key
  std::uint64_t plans = 0;       // that differed from the one before
};

class CcManager {
 public:
  /// `store` outlives this: keys that we have protected agents with, this life and before.
  CcManager(Runtime& runtime, Transport& transport, StateStore& store);
  CcManager(const CcManager&) = delete;

  /// What is in force now. `longest_route` in switches, 0 where it was not measured; `came_up`:
  /// ports of the snapshot whose registers may be those of power-on.
  void adopt(std::shared_ptr<const ActiveSubnet> now,
             const Settings& settings,
             unsigned longest_route,
             const std::vector<PortIdx>& came_up);

  /// The same routes on a snapshot that knows more.
  void refresh(std::shared_ptr<const ActiveSubnet> now) {
    if (now_) now_ = std::move(now);
  }

  /// Another manager is master: nothing is known or asked any more. Registers stay as they are.
  void stop();

  [[nodiscard]] bool at_rest() const { return !planning_ && agents_.busy() == 0; }

  [[nodiscard]] bool enabled() const { return options_.enabled; }

  [[nodiscard]] const cc::Plan& plan() const { return plan_; }

  [[nodiscard]] const std::map<CcPort, CcAgentEntry>& agents() const { return agents_.all(); }

  [[nodiscard]] const std::map<CcPort, HotPort>& hot() const { return hot_ports_.ports(); }

  [[nodiscard]] const CcStats& stats() const { return stats_; }

  [[nodiscard]] const GmpStats& mads() const { return client_.stats(); }

  [[nodiscard]] std::size_t count(CcAgentStatus status) const { return agents_.count(status); }

  /// One line each; empty when all is well.
  [[nodiscard]] std::vector<std::string> alarms() const;

  [[nodiscard]] TimePoint now() const { return runtime_.now(); }

 private:
  void on_plan(cc::Plan plan);
  void keep_key();
  void set_targets();
  void probe_lease(CcAgentEntry& entry);
  [[nodiscard]] CcTarget target_of(const CcPort& port) const;
  void advance(const CcPort& port);
  void log_status();
  void arm_round();
  void begin_round();
  void read_log(const CcPort& port);
  void on_trap(const MadPacket& packet);
  template <class Done>
  void ask(const CcPort& port, const MadBytes& mad, Done done);

  Runtime& runtime_;
  StateStore& store_;
  GmpClient client_;
  cc::Options options_;
  std::shared_ptr<const ActiveSubnet> now_;
  cc::Plan plan_;
  CcAgentTable agents_;
  HotPorts hot_ports_;
  CcStats stats_;
  RateLimiter<Lid, std::monostate> trap_rates_;
  std::uint64_t plan_number_ = 0;
  bool planning_ = false;
  TimePoint round_due_;
  std::string last_status_;  // the last line of the log, to say each thing once
  Timer round_;
  OffloadOwner work_;
};

}  // namespace smd
