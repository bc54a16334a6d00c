#include "sim-backend/worm/worm_routing.h"

namespace smd::sim {
namespace {

WormRoute lay_out(const WormGraph& graph,
                  const RouteNet& net,
                  const SourceRoute& route,
                  bool header) {
  const std::uint8_t at_switch = header ? 1 : 0, at_host = header ? 2 : 0;
  WormRoute out;
  out.add(kNowhere);
  std::size_t stop = 0;
  for (std::uint32_t i = 0; i < route.path.size(); ++i) {
    const std::uint32_t node = net.node(net.from(route.path[i]));
    if (stop < route.stops.size() && route.stops[stop].before == i) {
      const std::uint32_t host = route.stops[stop++].host;
      for (const ChannelAt c : graph.out_of[node]) {
        if (graph.channels[c].to == host) out.add(c, at_switch);
      }
      out.add(kNowhere, at_host);
    }
    out.add(graph.channel_of(node, net.port(route.path[i]).value()), at_switch);
  }
  out.add(kToDestination, at_switch);
  out.end();
  return out;
}

}  // namespace

WormRouting::WormRouting(const WormGraph& graph,
                         const RouteNet& net,
                         const RouteSet& first,
                         const RouteSet* second,
                         bool header)
    : switches_(net.switches()), header_(header) {
  switch_of_.resize(graph.host_node.size());
  last_.resize(graph.host_node.size());
  for (std::uint32_t sw = 0; sw < switches_; ++sw) {
    for (const std::uint32_t node : net.hosts(sw)) switch_of_[graph.host_of[node]] = sw;
  }
  for (std::uint32_t host = 0; host < graph.host_node.size(); ++host) {
    last_[host] = graph.into[graph.host_node[host]].front();
  }
  const std::size_t pairs = std::size_t{switches_} * switches_;
  routes_.resize(pairs);
  first_.assign(pairs, 0);
  for (std::uint32_t from = 0; from < switches_; ++from) {
    for (std::uint32_t to = 0; to < switches_; ++to) {
      std::vector<WormRoute>& here = routes_[std::size_t{from} * switches_ + to];
      const auto add = [&](const std::vector<SourceRoute>& routes) {
        for (const SourceRoute& route : routes) here.push_back(lay_out(graph, net, route, header));
      };
      if (from == to) {
        add({SourceRoute{}});
      } else {
        add(first.of(from, to));
      }
      first_[std::size_t{from} * switches_ + to] = static_cast<std::uint32_t>(here.size());
      if (from != to && second != nullptr) add(second->of(from, to));
    }
  }
}

WormRouting::Choice WormRouting::between(std::uint32_t source, std::uint32_t to) const {
  const std::size_t pair = std::size_t{switch_of_[source]} * switches_ + switch_of_[to];
  const auto all = static_cast<std::uint32_t>(routes_[pair].size());
  return {.routes = routes_[pair].data(), .first = first_[pair], .second = all - first_[pair]};
}

std::uint32_t WormRouting::header_flits(const WormRoute& route) const {
  std::uint32_t out = header_ ? 2 : 0;
  for (const WormStep& step : route.steps) out += step.strip;
  return out;
}

}  // namespace smd::sim
