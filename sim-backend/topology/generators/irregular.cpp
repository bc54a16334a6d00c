// irregular: switches joined at random; irregular4: the sparse 4-port networks with the manager in
// switch 0.
#include <fmt/core.h>

#include <array>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/rows.h"
#include "sim-backend/topology/random_graph.h"

namespace smd::sim {
namespace {

/// Cables the edges, each on the lowest free ports of both ends, and returns the ports used.
std::vector<unsigned> cable_edges(Drawing& drawing,
                                  const std::vector<std::uint32_t>& nodes,
                                  const Edges& edges,
                                  unsigned first_port) {
  std::vector<unsigned> next(nodes.size(), first_port);
  for (const auto& [a, b] : edges) drawing.cable(nodes[a], next[a]++, nodes[b], next[b]++);
  return next;
}

Result<FabricSpec> draw_irregular(const Arguments& arguments) {
  const std::uint32_t n = arguments.number("switches");
  const std::uint32_t ports = arguments.number("ports");
  const std::uint32_t links = n == 1 ? 0 : arguments.number("links");
  const std::uint32_t hosts = arguments.number("hosts");
  if (links + hosts > ports) {
    return fail(Errc::Invalid,
                fmt::format("links={} and hosts={} need {} ports: ports={} is too few",
                            links,
                            hosts,
                            links + hosts,
                            ports));
  }
  if (links >= n && n > 1) {
    return fail(
        Errc::Invalid,
        fmt::format("links={} with one link per pair needs switches={} or more", links, links + 1));
  }
  if (links == 1 && n > 2) {
    return fail(Errc::Invalid, "links=1 cannot join more than 2 switches: links=2 or more");
  }
  const Size size{.switches = n, .host_ports = product({n, hosts}), .radix = ports};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  if (product({n, links}) > 1'000'000) {
    return fail(Errc::Invalid, "switches times links is over a million: fewer links");
  }
  Rng rng(arguments.number("seed"));
  Drawing drawing(arguments);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < n; ++i)
    nodes.push_back(drawing.add_switch(switch_name({i}), ports));
  if (n > 1) cable_edges(drawing, nodes, build_regular_graph(n, links, rng), hosts + 1);
  for (const std::uint32_t node : nodes) {
    for (unsigned h = 0; h < hosts; ++h) drawing.hang_host(node, h + 1);
  }
  return std::move(drawing).finish();
}

/// Links first: a tree and a quarter as many again as there are switches. Then one adapter on every
/// switch that has a port free, a second round when there are more adapters, and so on.
Result<FabricSpec> draw_irregular4(const Arguments& arguments) {
  constexpr unsigned kPorts = 4;
  const std::uint32_t n = arguments.number("switches");
  const std::uint32_t total = arguments.number("nodes");
  const std::uint32_t hosts = total > n ? total - n : 0;
  // A tree uses 2(n-1) ports, so 2n+2 remain for adapters.
  const std::uint32_t most = n == 1 ? kPorts : 2 * n + 2;
  if (total < n || hosts > most) {
    return fail(Errc::Invalid,
                fmt::format("nodes={} counts switches and adapters: {} to {} with switches={}",
                            total,
                            n,
                            n + most,
                            n));
  }
  const Size size{.switches = n, .host_ports = hosts, .radix = kPorts};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  Rng rng(arguments.number("seed"));
  Drawing drawing(arguments);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < n; ++i)
    nodes.push_back(drawing.add_switch(switch_name({i}), kPorts));
  const std::uint32_t extra = std::min(n / 4, (most - hosts) / 2);
  auto next = cable_edges(drawing, nodes, build_sparse_graph(n, kPorts, extra, rng), 1);
  std::uint32_t left = hosts;
  while (left > 0) {
    for (std::uint32_t i = 0; i < n && left > 0; ++i) {
      if (next[i] > kPorts) continue;
      drawing.hang_host(nodes[i], next[i]++);
      --left;
    }
  }
  FabricSpec spec = std::move(drawing).finish();
  for (std::uint32_t i = 0; i < spec.nodes.size(); ++i) {
    if (spec.nodes[i].description != "sw-0") continue;
    move_to_front(spec, i);
    break;
  }
  spec.sm_node = 0;
  spec.sm_port = PortNum{0};
  return spec;
}

constexpr Key kSeed{.name = "seed",
                    .kind = KeyKind::Number,
                    .fallback = "1",
                    .min = 0,
                    .max = UINT32_MAX,
                    .meaning = "of the random graph"};

constexpr std::array kIrregularKeys{
    Key{.name = "switches",
        .kind = KeyKind::Number,
        .fallback = "16",
        .min = 1,
        .max = 49151,
        .meaning = "switches"},
    Key{.name = "ports",
        .kind = KeyKind::Number,
        .fallback = "8",
        .min = 1,
        .max = 254,
        .meaning = "ports per switch"},
    Key{.name = "links",
        .kind = KeyKind::Number,
        .fallback = "4",
        .min = 1,
        .max = 254,
        .meaning = "links of a switch to other switches, one per pair"},
    Key{.name = "hosts",
        .kind = KeyKind::Number,
        .fallback = "4",
        .min = 0,
        .max = 254,
        .meaning = "hosts per switch, on its first ports"},
    kSeed,
};

constexpr std::array kIrregular4Keys{
    Key{.name = "switches",
        .kind = KeyKind::Number,
        .fallback = "8",
        .min = 1,
        .max = 4096,
        .meaning = "4-port switches"},
    Key{.name = "nodes",
        .kind = KeyKind::Number,
        .fallback = "15",
        .min = 1,
        .max = 49151,
        .meaning = "switches and adapters together"},
    kSeed,
};

}  // namespace

const Generator kIrregular{
    .name = "irregular",
    .meaning = "random connected network, at most one link per pair of switches",
    .keys = kIrregularKeys,
    .draw = draw_irregular,
};

const Generator kIrregular4{
    .name = "irregular4",
    .meaning = "random sparse network of 4-port switches, the manager in switch 0",
    .keys = kIrregular4Keys,
    .draw = draw_irregular4,
    .width = "1x",
    .speed = "SDR",
};

}  // namespace smd::sim
