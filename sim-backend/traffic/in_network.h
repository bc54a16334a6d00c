// in-network-all-reduce: switches add. Hosts send their data, packet by packet, to their switch; a
// switch that has a packet of all that hang below it sends the sum to the switch above it in the
// group's tree, and the topmost one sends the result to the group.
//
// A model of its own, not SHARP's: no protocol of its aggregation manager, no reservation of
// resources, no streaming of a packet's parts. Each port of a switch has an adder that takes a
// packet at a time, so long after it is in; sums wait in memory without bound. What a switch adds
// at once is bounded: of too many below it the scenario is refused.
#pragma once

#include <vector>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/traffic/collective.h"

namespace smd::sim {

/// A switch that adds.
struct Adder {
  std::uint32_t node = 0;
  std::uint32_t parent = kNowhere;  // its place in the list; none: it sends to the group
  PortNum up;                       // by which the sum leaves
  Lid lid;
};

class InNetworkAllReduce final : public CollectiveWorkload, public SwitchPortHandler {
 public:
  struct Tree {
    std::vector<Adder> adders;
    std::vector<std::uint32_t> entry;  // of each rank: the place of its switch
    Picos adding = 0;                  // of one packet
  };

  InNetworkAllReduce(const CollectiveOptions& options,
                     const CollectiveRanks& ranks,
                     const Tree& tree);

  Picos first(HostNum host) override;
  Picos emit(DataNet& net, HostNum host, Picos now) override;
  void on_delivered(DataNet& net, const Delivery& arrival) override;
  void on_taken_in(PacketNet& net, std::uint32_t node, const Delivery& arrival) override;
  [[nodiscard]] Picos finished() const override;
  [[nodiscard]] Picos done_at(HostNum host) const override;
  [[nodiscard]] std::uint64_t messages() const override;

  [[nodiscard]] SwitchPortHandler* switch_ports() override { return this; }

 private:
  struct SumInput {
    HostNum name = 0;  // in whose name it sends: a rank's own host, or the first below a switch
    Picos free = 0;    // its adder
  };

  struct Sum {
    std::uint32_t parts = 0;
    Picos ready = 0;
  };

  struct State {
    std::vector<SumInput> below;  // ascending by name
    std::vector<Sum> sums;        // by packet
  };

  [[nodiscard]] std::uint32_t packets() const;

  CollectiveOptions options_;
  CollectiveRanks ranks_;
  Tree tree_;
  std::vector<State> states_;            // by place
  std::vector<std::uint32_t> place_of_;  // by node; kNowhere: it adds nothing
  std::vector<std::uint32_t> sent_;      // by rank
  std::vector<std::uint64_t> bytes_;     // of the result, by rank
  std::vector<Picos> done_at_;
};

/// What hangs below each adder, hosts and adders that have any; for the bound.
[[nodiscard]] std::vector<std::uint32_t> count_below(const InNetworkAllReduce::Tree& tree);

}  // namespace smd::sim
