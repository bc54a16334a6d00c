#include "sim-backend/subnet/simulated_subnet.h"

#include "smd/config/config.h"

namespace smd::sim {

Settings default_settings() {
  Settings out = make_settings(Config{.transport = {.kind = TransportKind::Sim}});
  out.engine = "updn";
  out.engine_fallback = false;
  return out;
}

SimulatedManager::SimulatedManager(TimedFabric& on, const SimulatedSubnetOptions& options)
    : transport(on.fabric,
                options.node.value_or(on.fabric.spec().sm_node),
                options.node ? PortNum{1} : on.fabric.spec().sm_port),
      tap(transport),
      split(tap),
      store(options.kept),
      cc_gate(split.congestion(), [this] { return manager.election().may_write(); }),
      cc_manager(on.runtime, cc_gate, store),
      manager(options.runtime == nullptr ? on.runtime : *options.runtime,
              split.subnet(),
              options.settings,
              store,
              observer(options)),
      on_(on) {}

SubnetManager::Observer SimulatedManager::observer(const SimulatedSubnetOptions& options) {
  SubnetManager::Observer out;
  if (options.on_phase) out.on_phase = options.on_phase;
  out.on_cycle = [this, then = options.on_cycle](const CycleReport& cycle) {
    reports.push_back(cycle);
    if (!cycle.error && !cycle.cut_off) {
      const unsigned longest = manager.settings().statistics ? cycle.routes.max_hops + 1 : 0;
      cc_manager.adopt(manager.share_in_force(), manager.settings(), longest, cycle.came_up);
    }
    if (then) then(cycle);
  };
  out.on_plan = options.on_plan;
  out.wall = options.wall;
  return out;
}

bool SimulatedManager::settle(std::uint64_t cycles, Duration limit) {
  const std::uint64_t wanted = manager.cycles() + cycles;
  return on_.run_until([&] { return manager.cycles() >= wanted && at_rest(); }, limit);
}

bool SimulatedManager::settle_up(Duration limit) {
  return on_.run_until([&] { return is_up(); }, limit);
}

SimulatedSubnet::SimulatedSubnet(FabricSpec spec, const SimulatedSubnetOptions& options)
    : TimedFabric(std::move(spec), options.timing, options.seed, options.agents),
      SimulatedManager(*this, options) {
  fabric.set_wire_faults(options.faults);
}

}  // namespace smd::sim
