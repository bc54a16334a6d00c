// Worms with several destinations, as an algorithm of sim-backend/multicast has them: which lists
// a message is sent as, and what becomes of each at a switch, found when its head is on its way
// there.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sim-backend/multicast/algorithm.h"
#include "sim-backend/packet/wiring.h"
#include "sim-backend/worm/worm_route.h"

namespace smd::sim {

/// One list on its way. Its route grows as it is laid out.
struct MulticastWorm {
  struct Place {
    Node at = 0, from = kNoWhere;
    unsigned hops = 0;       // switches before this one
    std::uint32_t next = 0;  // in the order: its next destination
    std::vector<Node> left;  // in place of it where messages fork
  };

  MulticastMessage message;
  WormRoute route;
  std::vector<Place> places;                              // by the numbers of what is to lay out
  std::vector<std::pair<std::uint32_t, unsigned>> hosts;  // reached: node, switches passed
};

class MulticastRouting {
 public:
  /// A fault names what the algorithm does not find: a mesh, labels, one host at each switch.
  /// With `header` a list has a flit of head for each destination. One that does not fork ends
  /// there, and what comes next is known when the next one is in; messages that fork keep theirs.
  static Result<MulticastRouting> build(const FabricSpec& spec,
                                        const WormGraph& graph,
                                        const MulticastAlgorithm& algorithm,
                                        bool header);

  [[nodiscard]] std::vector<MulticastMessage> divide(HostNum source,
                                                     std::span<const HostNum> to) const;

  /// Requires: `worm` has its message, and nothing else of worth.
  void begin(MulticastWorm& worm, HostNum source) const;

  /// As WormWatcher::lay_out().
  std::uint32_t lay_out(MulticastWorm& worm, std::uint32_t number) const;

  [[nodiscard]] std::uint32_t header_flits(const MulticastMessage& message) const {
    return header_ ? static_cast<std::uint32_t>(message.order.size()) : 0;
  }

  [[nodiscard]] const LabelledNet& net() const { return net_; }

  [[nodiscard]] const MulticastAlgorithm& algorithm() const { return *algorithm_; }

  /// The switch of each host.
  [[nodiscard]] const std::vector<Node>& leaves() const { return node_of_; }

 private:
  MulticastRouting(LabelledNet net, const MulticastAlgorithm& algorithm, bool header)
      : net_(std::move(net)), algorithm_(&algorithm), header_(header) {}

  void deliver(MulticastWorm& worm, const MulticastWorm::Place& place) const;
  void visit(MulticastWorm& worm, MulticastWorm::Place place, WormStep& step) const;
  void fork(MulticastWorm& worm, const MulticastWorm::Place& place) const;
  [[nodiscard]] ChannelAt channel(const MulticastStep& way) const;

  LabelledNet net_;
  const MulticastAlgorithm* algorithm_;
  bool header_;
  std::vector<ChannelAt> first_lane_;            // by PortIdx
  std::vector<std::vector<ChannelAt>> to_host_;  // by switch
  std::vector<std::uint32_t> host_node_;         // by switch
  std::vector<Node> node_of_;                    // by host
};

}  // namespace smd::sim
