// Data packets on a managed fabric: a net whose registers follow those of a SimFabric, SMP by SMP,
// in the same virtual time, and which carries the SMPs on VL15: ahead of data that waits, behind
// the packet that is on the link, lost where a buffer is full.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "sim-backend/congestion/ib_marking.h"
#include "sim-backend/congestion/ib_reaction.h"
#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/management/smp_carrier.h"
#include "sim-backend/packet/packet_net.h"

namespace smd::sim {

class CoupledFabric final : private SmpCarrier, private ManagementHandler {
 public:
  /// Takes the registers as they are now; from then on every change reaches the net when it
  /// happens, and the net carries SMPs. Its clock shows the time since `origin`. Requires: all
  /// outlive this; `net` is of the fabric's spec and at time 0; origin <= now.
  CoupledFabric(Runtime& runtime, SimFabric& fabric, PacketNet& net, TimePoint origin = {});
  ~CoupledFabric() override;
  CoupledFabric(const CoupledFabric&) = delete;

  /// What MADs of class 0x21 have set, and set from now on, is what these two obey; and what they
  /// do is in the logs that agents answer with. Packets have no QPs: a flow is logged as of two
  /// QPs, each with the other host's number and 2. Requires: they outlive this and are of the net's
  /// nodes and hosts.
  void follow_congestion(IbMarking& marking, IbReaction& reaction);

  /// Faults of both at once. What is inside a node that goes off is lost.
  void set_node(std::uint32_t node, bool up);
  void set_link(std::uint32_t node, PortNum port, bool up);

  /// Lets the packets come as far as the runtime's clock.
  void catch_up();

 private:
  /// A SMP in the net. The runtime looks at the net when it may have come in, not before: between
  /// SMPs the net runs on its own.
  struct Underway {
    std::uint32_t node = 0;
    PortNum port;
    Picos ready = 0;
    std::optional<Picos> head;  // once it is on the link
    Timer timer;
  };

  bool carry(
      std::uint32_t node, PortNum port, TimePoint ready, TimePoint whole, Ticket ticket) override;
  void on_sent(std::uint64_t cookie, Picos head) override;
  void on_head(
      std::uint64_t cookie, std::uint32_t node, PortNum port, Picos head, Picos tail) override;
  void on_lost(std::uint64_t cookie) override;

  void reload(std::uint32_t node);
  void count_data(std::uint32_t node);
  void reload_congestion(std::uint32_t node);
  void log_mark(const MarkPoint& point);
  void log_trigger(const Flow& flow, Picos at);
  void look_again(Ticket ticket);

  [[nodiscard]] Picos to_net(TimePoint time) const { return to_picos(time - origin_); }

  [[nodiscard]] TimePoint to_runtime(Picos time) const;

  Runtime& runtime_;
  SimFabric& fabric_;
  PacketNet& net_;
  TimePoint origin_;

  /// Of one port, what its agent has been told. Bytes of SMPs are the fabric's to count.
  struct PortCount {
    std::uint64_t bytes = 0;
    std::uint64_t smp_bytes = 0;
    std::uint64_t ticks = 0;
  };

  std::map<std::pair<std::uint32_t, std::uint8_t>, PortCount> counted_;
  std::vector<bool> off_;
  IbMarking* marking_ = nullptr;
  IbReaction* reaction_ = nullptr;
  std::map<Ticket, Underway> underway_;
  ObserverId observer_;
};

}  // namespace smd::sim
