#include "tests/support/subnet_oracles.h"

#include <fmt/format.h>

#include <map>

namespace smd::test {
namespace {

struct End {
  std::uint32_t node;
  PortNum port;
};

bool any_link_up(const TimedFabric& on, std::uint32_t node) {
  for (unsigned p = 1; p <= on.fabric.spec().nodes[node].num_ports(); ++p) {
    if (on.fabric.link_up(node, PortNum{static_cast<std::uint8_t>(p)})) return true;
  }
  return false;
}

/// Every LID of living end ports, by their registers. Nodes of `without` may have none, or what is
/// left of one in a port that carries no data.
std::map<Lid, End> collect_lids(const TimedFabric& on,
                                const std::vector<bool>& part,
                                const std::set<std::uint32_t>& without,
                                std::string& problem) {
  std::map<Lid, End> out;
  const sim::FabricSpec& spec = on.fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!part[n]) continue;
    const bool is_switch = spec.nodes[n].type == NodeType::Switch;
    for (unsigned p = is_switch ? 0 : 1; p <= (is_switch ? 0 : spec.nodes[n].num_ports()); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      if (is_switch ? !any_link_up(on, n) : !on.fabric.link_up(n, port)) continue;
      const PortInfo info = on.fabric.port_info(n, port);
      if (without.contains(n) && info.state() < PortState::Armed) continue;
      if (info.lid == kUnassignedLid) {
        if (problem.empty() && !without.contains(n))
          problem = fmt::format("{}:{} has no LID", spec.nodes[n].description, port);
        continue;
      }
      for (unsigned path = 0; path < 1u << info.lmc; ++path) {
        const Lid lid{static_cast<std::uint16_t>(info.lid.value() + path)};
        const auto [it, fresh] = out.emplace(lid, End{n, port});
        if (fresh || !problem.empty()) continue;
        problem = fmt::format("LID {} at {} and {}",
                              lid,
                              spec.nodes[it->second.node].description,
                              spec.nodes[n].description);
      }
    }
  }
  return out;
}

std::string walk(const TimedFabric& on, End from, Lid lid, End to) {
  const sim::FabricSpec& spec = on.fabric.spec();
  End at = from;  // leaving through at.port
  for (std::size_t hop = 0; hop <= spec.nodes.size(); ++hop) {
    if (!on.fabric.link_up(at.node, at.port)) {
      return fmt::format("{} to lid {}: port {} of {} is down",
                         spec.nodes[from.node].description,
                         lid,
                         at.port,
                         spec.nodes[at.node].description);
    }
    const sim::PortSpec& cable = spec.nodes[at.node].ports[at.port.value()];
    const End arrived{cable.peer_node, cable.peer_port};
    if (spec.nodes[arrived.node].type != NodeType::Switch) {
      if (arrived.node == to.node && arrived.port == to.port) return "";
      return fmt::format("{} to lid {}: arrives at {}",
                         spec.nodes[from.node].description,
                         lid,
                         spec.nodes[arrived.node].description);
    }
    const PortNum egress = on.fabric.lft(arrived.node, lid);
    if (egress == PortNum{0} && arrived.node == to.node) return "";
    if (egress == PortNum{0} || egress == kNoRoute ||
        egress.value() > spec.nodes[arrived.node].num_ports()) {
      return fmt::format("{} to lid {}: no route at {}",
                         spec.nodes[from.node].description,
                         lid,
                         spec.nodes[arrived.node].description);
    }
    at = {arrived.node, egress};
  }
  return fmt::format("{} to lid {}: a loop", spec.nodes[from.node].description, lid);
}

}  // namespace

std::string find_inactive_port(const TimedFabric& on) {
  const sim::FabricSpec& spec = on.fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      if (!on.fabric.link_up(n, port)) continue;
      const PortState state = on.fabric.port_info(n, port).state();
      if (state != PortState::Active) {
        return fmt::format("{}:{} is {}", spec.nodes[n].description, p, print_port_state(state));
      }
    }
  }
  return "";
}

std::vector<bool> part_of(const TimedFabric& on, std::uint32_t node) {
  const sim::FabricSpec& spec = on.fabric.spec();
  std::vector<bool> seen(spec.nodes.size(), false);
  std::vector<std::uint32_t> queue{node};
  seen[node] = true;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::uint32_t n = queue[at];
    if (n != node && spec.nodes[n].type != NodeType::Switch) continue;  // adapters forward nothing
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      if (!on.fabric.link_up(n, PortNum{static_cast<std::uint8_t>(p)})) continue;
      const std::uint32_t peer = spec.nodes[n].ports[p].peer_node;
      if (!seen[peer]) queue.push_back(peer);
      seen[peer] = true;
    }
  }
  return seen;
}

std::uint32_t find_destination(const TimedFabric& on, const Smp& smp) {
  if (!smp.directed) return sim::kNoNode;
  const sim::FabricSpec& spec = on.fabric.spec();
  std::uint32_t at = spec.sm_node;
  for (unsigned hop = 1; hop <= smp.hop_count; ++hop) {
    const unsigned port = smp.initial_path[hop];
    if (port > spec.nodes[at].num_ports()) return sim::kNoNode;
    at = spec.nodes[at].ports[port].peer_node;
    if (at == sim::kNoNode) return at;
  }
  return at;
}

std::string find_broken_route(const TimedFabric& on, const std::set<std::uint32_t>& without) {
  return find_broken_route_within(
      on, std::vector<bool>(on.fabric.spec().nodes.size(), true), without);
}

std::string find_broken_route_within(const TimedFabric& on,
                                     const std::vector<bool>& part,
                                     const std::set<std::uint32_t>& without) {
  std::string problem;
  const auto lids = collect_lids(on, part, without, problem);
  if (!problem.empty()) return problem;
  const sim::FabricSpec& spec = on.fabric.spec();
  const End* before = nullptr;  // whose further LIDs are no further sources
  for (const auto& [from_lid, from] : lids) {
    const bool again = before && before->node == from.node && before->port == from.port;
    before = &from;
    if (again || spec.nodes[from.node].type == NodeType::Switch || without.contains(from.node))
      continue;
    for (const auto& [lid, to] : lids) {
      if ((to.node == from.node && to.port == from.port) || without.contains(to.node)) continue;
      if (std::string broken = walk(on, from, lid, to); !broken.empty()) return broken;
    }
  }
  return "";
}

}  // namespace smd::test
