#include "sim-backend/sourceroute/route_net.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "sim-backend/topology/snapshot.h"
#include "smd/base/rng.h"
#include "smd/routing/updn/root_choice.h"

namespace smd::sim {

Result<RouteNet> RouteNet::build(const FabricSpec& spec) {
  RouteNet out;
  out.fabric_ = build_snapshot(spec);
  out.graph_ = std::make_shared<const SwitchGraph>(*out.fabric_);
  out.dependencies_ = std::make_shared<const Dependencies>(*out.graph_);
  const auto n = static_cast<std::uint32_t>(out.graph_->switches());
  out.hosts_.resize(n);
  for (std::uint32_t sw = 0; sw < n; ++sw) {
    const std::uint32_t node = out.fabric_->switch_node[SwitchIdx{sw}].value();
    out.nodes_.push_back(node);
    out.names_.push_back(spec.nodes[node].description);
    for (const PortSpec& port : spec.nodes[node].ports) {
      if (port.peer_node == kNoNode || spec.nodes[port.peer_node].type == NodeType::Switch)
        continue;
      out.hosts_[sw].push_back(port.peer_node);
    }
    for (const SwitchEdge& edge : out.graph_->edges(SwitchIdx{sw})) {
      out.from_.push_back(sw);
      out.to_.push_back(edge.to.value());
    }
  }
  const auto with_hosts =
      std::ranges::count_if(out.hosts_, [](const auto& h) { return !h.empty(); });
  if (with_hosts < 2) return fail(Errc::Unsupported, "source routes need two switches with hosts");
  out.distance_.reserve(std::size_t{n} * n);
  for (std::uint32_t sw = 0; sw < n; ++sw) {
    const SwitchIdx from{sw};
    const auto row = compute_distances(*out.graph_, {&from, 1});
    for (std::uint32_t to = 0; to < n; ++to) {
      if (row[SwitchIdx{to}] == kUnreached) {
        return fail(Errc::Unsupported,
                    fmt::format("no cables lead from {} to {}", out.names_[sw], out.names_[to]));
      }
      out.distance_.push_back(row[SwitchIdx{to}]);
    }
  }
  return out;
}

SwitchKeys breadth_first_keys(const RouteNet& net, std::uint32_t root) {
  std::vector<std::uint32_t> order(net.switches());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t sw) { return net.distance(root, sw); });
  SwitchKeys out(net.switches());
  for (std::uint32_t i = 0; i < order.size(); ++i) out[order[i]] = i;
  return out;
}

SwitchKeys depth_first_keys(const RouteNet& net) {
  std::vector<SwitchIdx> all;
  for (std::uint32_t sw = 0; sw < net.switches(); ++sw) all.push_back(SwitchIdx{sw});
  IndexVector<SwitchIdx, std::uint32_t> rank(net.switches());
  rank_depth_first(net.graph(), list_switch_guids(net.fabric()), all, all, rank);
  SwitchKeys out;
  for (const SwitchIdx sw : all) out.push_back(rank[sw]);
  return out;
}

SwitchKeys random_keys(const RouteNet& net, std::uint64_t seed) {
  SwitchKeys out(net.switches());
  std::iota(out.begin(), out.end(), 0);
  Rng rng(seed);
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

}  // namespace smd::sim
