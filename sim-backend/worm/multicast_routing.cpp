#include "sim-backend/worm/multicast_routing.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kEnd = 1;  // the step of a host that a list comes to

}  // namespace

Result<MulticastRouting> MulticastRouting::build(const FabricSpec& spec,
                                                 const WormGraph& graph,
                                                 const MulticastAlgorithm& algorithm,
                                                 bool header) {
  auto net = LabelledNet::build(spec);
  if (!net) return tl::unexpected(net.error());
  if (const std::string why = refuse_multicast(*net, algorithm); !why.empty())
    return fail(Errc::Unsupported, why);
  MulticastRouting out(std::move(*net), algorithm, header);
  const Fabric& fabric = out.net_.fabric();
  const Node nodes = out.net_.nodes();
  out.first_lane_.assign(fabric.peer.size(), kNowhere);
  out.to_host_.resize(nodes);
  out.host_node_.resize(nodes);
  out.node_of_.assign(graph.host_node.size(), kNoWhere);
  for (Node node = 0; node < nodes; ++node) {
    const NodeIdx at = fabric.switch_node[SwitchIdx{node}];
    for (const NetHop& hop : out.net_.around(node)) {
      out.first_lane_[hop.out.value()] =
          graph.channel_of(at.value(), fabric.number_of(hop.out).value());
    }
    std::vector<std::uint32_t> hosts;
    for (const ChannelAt c : graph.out_of[at.value()]) {
      const std::uint32_t to = graph.channels[c].to;
      if (graph.is_host[to] == 0) continue;
      out.to_host_[node].push_back(c);
      if (std::ranges::find(hosts, to) == hosts.end()) hosts.push_back(to);
    }
    if (hosts.size() != 1) {
      return fail(Errc::Unsupported,
                  fmt::format("{} has {} hosts: multicast algorithms need one at each switch",
                              out.net_.name(node),
                              hosts.size()));
    }
    out.host_node_[node] = hosts.front();
    out.node_of_[graph.host_of[hosts.front()]] = node;
    // Kept by the net: several runs share it.
    (void)out.net_.distance(0, node);
  }
  return out;
}

std::vector<MulticastMessage> MulticastRouting::divide(HostNum source,
                                                       std::span<const HostNum> to) const {
  std::vector<Node> nodes;
  for (const HostNum host : to) nodes.push_back(node_of_[host]);
  return algorithm_->divide(net_, node_of_[source], nodes);
}

void MulticastRouting::begin(MulticastWorm& worm, HostNum source) const {
  worm.route.steps.assign({{.first = 0, .count = 1}, {}});
  worm.route.branches.assign({{.next = kToLayOut}});
  worm.route.choices.clear();
  worm.places.clear();
  worm.hosts.clear();
  worm.places.push_back({.at = node_of_[source], .left = {}});
  if (algorithm_->forks) worm.places.back().left = worm.message.order;
}

std::uint32_t MulticastRouting::lay_out(MulticastWorm& worm, std::uint32_t number) const {
  const MulticastWorm::Place place = worm.places[number];
  const std::size_t first = worm.route.branches.size();
  WormStep step{.first = static_cast<std::uint32_t>(first)};
  if (algorithm_->forks) {
    fork(worm, place);
  } else {
    visit(worm, place, step);
  }
  step.count = static_cast<std::uint8_t>(worm.route.branches.size() - first);
  worm.route.steps.push_back(step);
  return static_cast<std::uint32_t>(worm.route.steps.size() - 1);
}

/// By any of the channels to the host.
void MulticastRouting::deliver(MulticastWorm& worm, const MulticastWorm::Place& place) const {
  WormRoute& route = worm.route;
  const std::vector<ChannelAt>& channels = to_host_[place.at];
  worm.hosts.emplace_back(host_node_[place.at], place.hops + 1);
  WormBranch branch{.out = channels.front(), .next = kEnd};
  if (channels.size() > 1) {
    branch = {.first = static_cast<std::uint32_t>(route.choices.size()),
              .choices = static_cast<std::uint32_t>(channels.size())};
    for (const ChannelAt c : channels) route.choices.push_back({c, kEnd});
  }
  route.branches.push_back(branch);
}

ChannelAt MulticastRouting::channel(const MulticastStep& way) const {
  return first_lane_[way.hop.out.value()] + way.lane;
}

/// One after the other; where there are several ways on, escapes are liked least.
void MulticastRouting::visit(MulticastWorm& worm,
                             MulticastWorm::Place place,
                             WormStep& step) const {
  const std::vector<Node>& order = worm.message.order;
  if (order[place.next] == place.at) {
    deliver(worm, place);
    ++place.next;
    step.strip = header_ ? 1 : 0;
    step.waits = header_ && place.next < order.size();
  }
  if (place.next == order.size()) return;
  std::vector<MulticastStep> ways;
  algorithm_->ways(net_,
                   {.at = place.at,
                    .from = place.from,
                    .to = order[place.next],
                    .part = worm.message.part,
                    .first = worm.message.first},
                   ways);
  SMD_CHECK(!ways.empty(), "a list that cannot go on");
  std::ranges::stable_sort(ways, {}, &MulticastStep::escape);
  WormRoute& route = worm.route;
  WormBranch branch{.first = static_cast<std::uint32_t>(route.choices.size()),
                    .choices = static_cast<std::uint32_t>(ways.size())};
  for (const MulticastStep& way : ways) {
    const auto next = kToLayOut + static_cast<std::uint32_t>(worm.places.size());
    worm.places.push_back({.at = way.hop.to,
                           .from = place.at,
                           .hops = place.hops + 1,
                           .next = place.next,
                           .left = {}});
    if (ways.size() == 1) {
      branch = {.out = channel(way), .next = next};
    } else {
      route.choices.push_back({channel(way), next});
    }
  }
  route.branches.push_back(branch);
}

void MulticastRouting::fork(MulticastWorm& worm, const MulticastWorm::Place& place) const {
  std::map<ChannelAt, MulticastWorm::Place> onward;
  for (const Node node : place.left) {
    if (node == place.at) {
      deliver(worm, place);
      continue;
    }
    std::vector<MulticastStep> ways;
    algorithm_->ways(
        net_, {.at = place.at, .from = place.from, .to = node, .part = worm.message.part}, ways);
    MulticastWorm::Place& there = onward[channel(ways.front())];
    there.at = ways.front().hop.to;
    there.from = place.at;
    there.hops = place.hops + 1;
    there.left.push_back(node);
  }
  for (auto& [out, there] : onward) {
    const auto next = kToLayOut + static_cast<std::uint32_t>(worm.places.size());
    worm.route.branches.push_back({.out = out, .next = next});
    worm.places.push_back(std::move(there));
  }
}

}  // namespace smd::sim
