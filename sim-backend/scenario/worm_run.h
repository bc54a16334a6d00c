// A scenario on the worm network: graph, routes and their verdict, made once; then runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/measure/steady.h"
#include "sim-backend/scenario/fault_plan.h"
#include "sim-backend/sourceroute/systems.h"
#include "sim-backend/worm/worm_net.h"

namespace smd::sim {

inline constexpr unsigned kLargestWorm = 65535;  // bytes of a message

/// What a scenario says of a worm network.
struct WormSpec {
  WormOptions options = WormOptions::myrinet();
  std::string system = "UD";
  std::string second;  // a set beside the first; empty: none
  SystemOptions routes;
  RouteChoiceSpec choice;
  std::string algorithm;    // of messages to several hosts, in place of a system; empty: none
  unsigned channels = 1;    // from a host and to it
  bool header = false;      // its flits are on the cable
  bool per_switch = false;  // loads are flits per nanosecond and switch
};

/// Of the ports between switches.
struct WormPortUse {
  std::string port;  // "sw-0:3"
  // Shares of the time that was measured.
  double active = 0, blocked = 0;
  double blocked_lanes = 0;  // the sum of its lanes', where `blocked` is the longest of them
};

struct WormRunFigures {
  double accepted_per_switch = 0;                // flits per nanosecond
  double stops_per_message = 0;                  // hosts between, of messages delivered
  std::size_t most_local = 0, most_transit = 0;  // messages waiting at one host at the end
  MulticastSums multicast;                       // of messages that were measured
  std::vector<WormPortUse> ports;                // busiest first
};

/// Where a measurement began.
struct WormRunStart {
  Picos at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t delivered = 0;
  std::uint64_t transits = 0;
  std::vector<PortUse> ports;
  MulticastSums multicast;

  static WormRunStart of(const WormNet& net);
};

/// What ports have done since `before`, which has the same ones, or none: since the start.
[[nodiscard]] std::vector<PortUse> use_since(std::vector<PortUse> now,
                                             const std::vector<PortUse>& before);

/// Links that go down and come up. Requires: the net has not started, the plan has links alone.
void set_faults(const FabricSpec& spec, const FaultPlan& plan, WormNet& net);

class WormScenario {
 public:
  /// A fault of the fabric, the system or the options as text.
  static Result<WormScenario> prepare(const FabricSpec& spec, const WormSpec& what);

  [[nodiscard]] std::unique_ptr<WormNet> make_net(std::uint64_t seed) const;

  /// The routes of both sets, as figures and as what may wait for what.
  [[nodiscard]] const RouteFigures& figures() const { return setup_->figures; }

  /// Nothing where it is an algorithm's, and not known: one that chooses adaptively, a network too
  /// large for all sets of two destinations, fewer channels to a host than lanes into its switch.
  [[nodiscard]] std::optional<bool> can_deadlock() const { return setup_->can_deadlock; }

  /// The switch of each host, by number.
  [[nodiscard]] const std::vector<std::uint32_t>& leaves() const { return setup_->leaves; }

  /// A load as a share of the hosts' links.
  [[nodiscard]] double share_of(double load) const;

  /// What has happened since then.
  [[nodiscard]] WormRunFigures measure(const FabricSpec& spec,
                                       const WormNet& net,
                                       const WormRunStart& before) const;

 private:
  struct WormSetup {
    WormSpec what;
    WormGraph graph;
    std::optional<WormRouting> routing;         // of a system
    std::optional<MulticastRouting> multicast;  // of an algorithm
    RouteFigures figures;
    std::optional<bool> can_deadlock;
    std::vector<std::uint32_t> leaves;
  };

  static Result<WormScenario> prepare_multicast(const FabricSpec& spec, const WormSpec& what);

  std::shared_ptr<const WormSetup> setup_;
};

}  // namespace smd::sim
