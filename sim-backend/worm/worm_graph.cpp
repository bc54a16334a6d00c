#include "sim-backend/worm/worm_graph.h"

#include <fmt/core.h>

#include "smd/base/check.h"

namespace smd::sim {

void WormGraph::index() {
  host_of.assign(is_host.size(), kNowhere);
  host_node.clear();
  for (std::uint32_t node = 0; node < is_host.size(); ++node) {
    if (is_host[node] == 0) continue;
    host_of[node] = static_cast<std::uint32_t>(host_node.size());
    host_node.push_back(node);
  }
  out_of.assign(is_host.size(), {});
  into.assign(is_host.size(), {});
  for (ChannelAt c = 0; c < channels.size(); ++c) {
    out_of[channels[c].from].push_back(c);
    into[channels[c].to].push_back(c);
  }
}

ChannelAt WormGraph::channel_of(std::uint32_t node, unsigned port) const {
  for (const ChannelAt c : out_of[node]) {
    if (channels[c].port == port) return c;
  }
  SMD_CHECK(false, "no channel leaves by this port");
  return kNowhere;
}

Result<WormGraph> build_worm_graph(const FabricSpec& spec, unsigned lanes, unsigned host_channels) {
  WormGraph out;
  std::uint32_t cable = 0, speed = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const NodeSpec& node = spec.nodes[n];
    const bool is_host = node.type != NodeType::Switch;
    out.is_host.push_back(is_host ? 1 : 0);
    unsigned cabled = 0;
    for (unsigned p = 1; p <= node.num_ports(); ++p) {
      const PortSpec& port = node.ports[p];
      if (port.peer_node == kNoNode) continue;
      ++cabled;
      const std::uint32_t here = byte_time_of(port.width, port.speed);
      if (speed == 0) speed = here;
      if (here != speed) {
        return fail(Errc::Invalid,
                    fmt::format("{}:{} has another speed than the cables before it: a worm network "
                                "has one speed",
                                node.description,
                                p));
      }
      const bool to_host = spec.nodes[port.peer_node].type != NodeType::Switch;
      const bool with_host = is_host || to_host;
      for (unsigned i = 0; i < (with_host ? host_channels : lanes); ++i) {
        out.channels.push_back({.from = n,
                                .to = port.peer_node,
                                .cable = cable,
                                .port = static_cast<std::uint8_t>(p)});
        if (with_host) ++cable;
      }
      if (!with_host) ++cable;
    }
    if (is_host && cabled != 1) {
      return fail(Errc::Invalid,
                  fmt::format("{} has {} cabled ports: a host of a worm network has one",
                              node.description,
                              cabled));
    }
  }
  out.index();
  return out;
}

}  // namespace smd::sim
