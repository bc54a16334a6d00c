// The worm network as a net that carries data: messages are worms, a cycle takes its time, LIDs
// count the hosts.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "sim-backend/packet/data_net.h"
#include "sim-backend/sourceroute/route_choice.h"
#include "sim-backend/worm/multicast_routing.h"
#include "sim-backend/worm/worm_model.h"
#include "sim-backend/worm/worm_routing.h"

namespace smd::sim {

/// Messages to several hosts and to one, and what they took from being made until their tails were
/// in: sums.
struct MulticastSums {
  std::uint64_t multicasts = 0, copies = 0, unicasts = 0;
  Picos last = 0, copy = 0, unicast = 0;  // of a multicast: its last copy, and each
};

/// What only a worm network can tell.
struct WormFigures {
  std::uint64_t transits = 0;             // times that a host took a delivered message in between
  std::size_t most_local = 0;             // messages that wait now, at the host where most do:
  std::size_t most_transit = 0;           // local ones, and those in transit
  double flits_per_cycle_and_switch = 0;  // that hosts got, since the start
  MulticastSums multicast;                // of messages all copies of which have come in
};

class WormNet final : public DataNet, private WormWatcher {
 public:
  /// Requires: check_options(options) is empty; all outlive the net.
  WormNet(const WormGraph& graph,
          const WormOptions& options,
          const WormRouting& routing,
          const RouteChoiceSpec& choice,
          std::uint64_t seed);

  /// Messages to one host or several, whose lists are an algorithm's. A message to n hosts counts
  /// as n made, under way and delivered.
  WormNet(const WormGraph& graph, const WormOptions& options, const MulticastRouting& routing);
  ~WormNet() override;

  void set_workload(Workload* workload) override { workload_ = workload; }

  void set_observer(PacketObserver* observer) override { observer_ = observer; }

  void start() override;
  void run_until(Picos until) override;
  [[nodiscard]] Picos next_event() const override;

  [[nodiscard]] Picos now() const override { return now_; }

  [[nodiscard]] unsigned partitions() const override { return 1; }

  [[nodiscard]] std::uint32_t partition_of(HostNum) const override { return 0; }

  void send(HostNum source, const PacketRequest& sending) override;

  /// To several hosts, each once and none the source. Requires: lists are an algorithm's.
  void send_to(HostNum source, std::span<const HostNum> to, std::uint16_t payload);

  void wake(HostNum host, Picos at) override;
  [[nodiscard]] const NetStats& stats() const override;
  [[nodiscard]] HostNum host_count() const override;
  [[nodiscard]] Lid host_lid(HostNum host) const override;
  [[nodiscard]] std::uint32_t host_byte_time(HostNum host) const override;

  [[nodiscard]] bool has_sent(HostNum host) const override { return asked_[host]; }

  [[nodiscard]] unsigned header_bytes() const override { return 0; }

  [[nodiscard]] Occupancy occupancy() const override;
  [[nodiscard]] std::vector<PortUse> port_use() const override;
  [[nodiscard]] std::vector<WaitingHop> find_deadlock(Picos) const override;
  [[nodiscard]] std::string audit() const override;

  [[nodiscard]] WormFigures figures() const;

  /// Both directions of the cable between two ports go down or come up. Requires: from now on.
  void set_link(
      std::uint32_t node, unsigned port, std::uint32_t peer, unsigned peer_port, bool up, Picos at);

 private:
  struct Message {
    HostNum source, to;
    std::uint32_t tag, route;
    std::uint16_t payload;
    Picos generated;
    std::uint32_t copies = 1, left = 1;  // to how many hosts; which have not got it yet
    Picos latencies = 0;                 // of those that have: their sum
    Cycle taken_up = 0;                  // its sender was free and it chose its route
  };

  /// One list of a message to several hosts.
  struct MessageWorm {
    MulticastWorm way;
    std::uint32_t message = 0, left = 0;
  };

  void on_call(std::uint32_t host) override;
  void on_start(WormAt worm) override;
  void on_left(WormAt worm, Cycle at) override;
  void on_end(const WormEnd& end) override;
  void on_lost(WormAt worm) override;
  std::uint32_t lay_out(WormAt worm, std::uint32_t number) override;
  std::uint32_t add_message(const Message& message);
  Message take_message(WormAt worm);
  Delivery delivery(const Message& message, const WormEnd& end) const;

  // multicast_messages.cpp
  void send_lists(HostNum source,
                  std::span<const HostNum> to,
                  std::uint32_t tag,
                  std::uint16_t payload);
  void start_list(WormAt worm);
  void end_list(const WormEnd& end);
  void discard(const Message& message, std::uint32_t node, Discard cause);
  [[nodiscard]] RouteChooser& chooser(const Message& message);
  void digest(std::uint64_t place, std::uint64_t what);

  [[nodiscard]] Picos time(Cycle at) const { return at * options_.cycle; }

  const WormGraph& graph_;
  const WormOptions& options_;
  const WormRouting* routing_ = nullptr;         // of messages to one host
  const MulticastRouting* multicast_ = nullptr;  // or to several
  const RouteChoiceSpec choice_;
  std::vector<Rng> rng_;  // by host
  mutable WormModel model_;
  Workload* workload_ = nullptr;
  PacketObserver* observer_ = nullptr;
  Picos now_ = 0;
  mutable NetStats stats_;
  std::uint64_t transits_ = 0;
  std::vector<bool> asked_;  // by host: it has had something to send
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_messages_;
  std::unordered_map<std::uint64_t, RouteChooser> choosers_;  // by source and destination
  std::deque<MessageWorm> message_worms_;
  std::vector<std::uint32_t> free_message_worms_;
  MulticastSums sums_;
};

}  // namespace smd::sim
