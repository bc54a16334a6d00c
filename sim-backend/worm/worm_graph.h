// The channels of a wormhole network: lanes of directed cables, each with the buffer at its far
// end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim-backend/packet/wiring.h"
#include "sim-backend/topology/fabric_spec.h"
#include "smd/base/result.h"

namespace smd::sim {

using ChannelAt = std::uint32_t;

struct WormChannel {
  std::uint32_t from = 0, to = 0;  // nodes
  std::uint32_t cable = 0;         // the lanes of one directed cable are neighbours
  std::uint8_t port = 0;           // of `from`
};

struct WormGraph {
  std::vector<std::uint8_t> is_host;  // by node
  std::vector<WormChannel> channels;
  std::vector<std::uint32_t> host_node;              // by host, in the order of nodes
  std::vector<std::uint32_t> host_of;                // by node; kNowhere for switches
  std::vector<std::vector<ChannelAt>> out_of, into;  // by node

  /// Requires: channels and is_host are set, lanes of a cable beside each other.
  void index();

  /// The channel of lane 0 that leaves by this port.
  [[nodiscard]] ChannelAt channel_of(std::uint32_t node, unsigned port) const;
};

/// Every node that is no switch is a host, with as many channels from it and to it, which are
/// cables of one lane. A fault names what no worm network has: cables of two speeds, hosts with
/// several ports.
[[nodiscard]] Result<WormGraph> build_worm_graph(const FabricSpec& spec,
                                                 unsigned lanes,
                                                 unsigned host_channels = 1);

}  // namespace smd::sim
