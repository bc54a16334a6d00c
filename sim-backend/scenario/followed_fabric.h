// Data packets on a managed fabric: a net whose registers follow those of a SimFabric, SMP by SMP,
// in the same virtual time.
//
// SMPs travel at management fidelity, before all data: what they take of a link is not taken from
// data, and they do not wait for the packet that is on it. Against the time of an SMI both are
// little.
#pragma once

#include <vector>

#include "sim-backend/congestion/ib_marking.h"
#include "sim-backend/congestion/ib_reaction.h"
#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/packet/packet_net.h"

namespace smd::sim {

class FollowedFabric {
 public:
  /// Takes the registers as they are now; from then on every change reaches the net when it
  /// happens. The net's clock shows the time since `origin`. Requires: all outlive this; `net` is
  /// of the fabric's spec and at time 0; origin <= now.
  FollowedFabric(Runtime& runtime, SimFabric& fabric, PacketNet& net, TimePoint origin = {});
  ~FollowedFabric();
  FollowedFabric(const FollowedFabric&) = delete;

  /// What MADs of class 0x21 have set, and set from now on, is what these two obey. Requires: they
  /// outlive this and are of the net's nodes and hosts.
  void follow_congestion(IbMarking& marking, IbReaction& reaction);

  /// Faults of both at once. What is inside a node that goes off is lost.
  void set_node(std::uint32_t node, bool up);
  void set_link(std::uint32_t node, PortNum port, bool up);

  /// Lets the packets come as far as the runtime's clock.
  void catch_up();

 private:
  void reload(std::uint32_t node);
  void reload_congestion(std::uint32_t node);

  Runtime& runtime_;
  SimFabric& fabric_;
  PacketNet& net_;
  TimePoint origin_;
  std::vector<bool> off_;
  IbMarking* marking_ = nullptr;
  IbReaction* reaction_ = nullptr;
  ObserverId observer_;
};

}  // namespace smd::sim
