// A simulated fabric and the virtual time that passes on it.
#pragma once

#include <functional>
#include <string>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/management/sim_fabric.h"

namespace smd::sim {

/// Of a FABRIC argument that is known to be one; ends the program where it is none.
[[nodiscard]] FabricSpec spec_of(const std::string& fabric);

class TimedFabric {
 public:
  /// Requires: as SimFabric does.
  explicit TimedFabric(FabricSpec spec,
                       const Timing& timing = Timing::modern(),
                       std::uint64_t seed = 1,
                       const AgentOptions& agents = {})
      : fabric(runtime, std::move(spec), timing, seed, agents) {}

  void run_for(Duration time) { runtime.run_until(runtime.now() + time); }

  /// Runs until `done`; false when `limit` passed first.
  bool run_until(const std::function<bool()>& done, Duration limit) {
    return runtime.run_while_not(done, runtime.now() + limit);
  }

  /// As find_node(). Requires: there is one.
  [[nodiscard]] std::uint32_t node(const std::string& name) const;

  SimRuntime runtime;
  SimFabric fabric;
};

}  // namespace smd::sim
