// irregular: switches joined at random; irregular4: the sparse 4-port networks with the manager in
// switch 0.
#include <fmt/core.h>

#include <array>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"
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
    return fail(
        Errc::Invalid,
        fmt::format(
            "links={} and hosts={}{} need {} ports: ports={} is too few",
            links,
            hosts / arguments.adapters,
            arguments.adapters == 1 ? "" : fmt::format(" of {} adapters", arguments.adapters),
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

constexpr Key kSeed = number_key("seed", "1", 0, UINT32_MAX).means("of the random graph");

constexpr std::array kIrregularKeys{
    number_key("switches", "16", 1, 49151).means("switches"),
    number_key("ports", "8", 1, 254).means("ports per switch"),
    number_key("links", "4", 1, 254).means("links of a switch to other switches, one per pair"),
    number_key("hosts", "4", 0, 254).means("hosts per switch, on its first ports"),
    kAdaptersKey,
    kSeed,
};

constexpr std::array kIrregular4Keys{
    number_key("switches", "8", 1, 4096).means("4-port switches"),
    number_key("nodes", "15", 1, 49151).means("switches and adapters together"),
    kSeed,
};

}  // namespace

const Generator kIrregular{
    .name = "irregular",
    .meaning = "random connected network, at most one link per pair of switches",
    .keys = kIrregularKeys,
    .draw = draw_irregular,
    .hosts_key = "hosts",
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
