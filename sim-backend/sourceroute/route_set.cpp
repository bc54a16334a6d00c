#include "sim-backend/sourceroute/route_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace smd::sim {
namespace {

template <class Visit>
void for_each(const RouteNet& net, const RouteSet& set, Visit visit) {
  for (std::uint32_t from = 0; from < net.switches(); ++from) {
    for (std::uint32_t to = 0; to < net.switches(); ++to) {
      for (const SourceRoute& route : set.of(from, to)) visit(from, to, route);
    }
  }
}

}  // namespace

void RouteSet::add(const RouteSet& others) {
  for (std::size_t pair = 0; pair < routes_.size(); ++pair) {
    std::ranges::copy(others.routes_[pair], std::back_inserter(routes_[pair]));
  }
}

RouteFigures measure_routes(const RouteNet& net, const RouteSet& set) {
  RouteFigures out;
  std::vector<double> load(net.channels(), 0);
  std::size_t links = 0, stops = 0, minimal = 0, between = 0;
  for_each(net, set, [&](std::uint32_t from, std::uint32_t to, const SourceRoute& route) {
    ++out.routes;
    links += route.path.size();
    between += route.path.size() - 1;
    stops += route.stops.size();
    minimal += route.path.size() == net.distance(from, to) ? 1 : 0;
    for (const Channel c : route.path) ++load[c];
  });
  const auto routes = static_cast<double>(std::max<std::size_t>(1, out.routes));
  out.minimal_share = static_cast<double>(minimal) / routes;
  out.mean_links = static_cast<double>(links) / routes;
  out.stops_per_route = static_cast<double>(stops) / routes;
  out.stop_share = between == 0 ? 0 : static_cast<double>(stops) / static_cast<double>(between);
  const auto channels = static_cast<double>(std::max<std::size_t>(1, load.size()));
  for (const double l : load) {
    out.mean_load += l / channels;
    out.most_load = std::max(out.most_load, l);
  }
  for (const double l : load) out.deviation += (l - out.mean_load) * (l - out.mean_load) / channels;
  out.deviation = std::sqrt(out.deviation);
  return out;
}

RouteRelation::RouteRelation(const RouteNet& net, const RouteSet& set) : net_(net) {
  for_each(net, set, [&](std::uint32_t, std::uint32_t, const SourceRoute& route) {
    std::size_t stop = 0;
    for (std::size_t i = 0; i < route.path.size(); ++i) {
      if (stop < route.stops.size() && route.stops[stop].before == i) {
        last_.back() = 1;
        ++stop;
      }
      channels_.push_back(route.path[i]);
      last_.push_back(i + 1 == route.path.size() ? 1 : 0);
    }
  });
}

/// Where what a host sends comes in.
PortIdx RouteRelation::entry(std::uint32_t sw) const {
  const Fabric& fabric = net_.fabric();
  const NodeIdx host{net_.hosts(sw).front()};
  for (unsigned p = 1; p <= fabric.num_ports(host); ++p) {
    const PortIdx port = fabric.port_of(host, PortNum{static_cast<std::uint8_t>(p)});
    if (fabric.peer[port] != kNone<PortIdx>) return fabric.peer[port];
  }
  return kNone<PortIdx>;
}

// The state is the channel that it asks for next; behind the last of a stretch it is taken in.
void RouteRelation::starts(const std::function<void(const RelationPlace&)>& begin) const {
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (i > 0 && last_[i - 1] == 0) continue;
    begin({.in = entry(net_.from(channels_[i])), .vl = Vl{0}, .state = 2 * i});
  }
}

bool RouteRelation::moves(const RelationPlace& place, std::vector<RelationStep>& out) const {
  const std::size_t at = place.state / 2;
  if (place.state % 2 == 1) return true;
  const Channel c = channels_[at];
  const NodeIdx node{net_.node(net_.from(c))};
  out.push_back({.out = net_.fabric().port_of(node, net_.port(c)),
                 .vl = Vl{0},
                 .state = last_[at] != 0 ? 2 * at + 1 : 2 * at + 2});
  return false;
}

std::string check_routes(const RouteNet& net, const RouteSet& set) {
  std::string why;
  for_each(net, set, [&](std::uint32_t from, std::uint32_t to, const SourceRoute& route) {
    if (!why.empty()) return;
    const auto say = [&](const std::string& what) {
      why = fmt::format("the route from {} to {} {}", net.name(from), net.name(to), what);
    };
    std::uint32_t at = from;
    std::set<Channel> passed;
    for (const Channel c : route.path) {
      if (net.from(c) != at) return say(fmt::format("does not hang together at {}", net.name(at)));
      if (!passed.insert(c).second) return say(fmt::format("passes {} twice", net.name(at)));
      at = net.to(c);
    }
    if (at != to) return say(fmt::format("ends at {}", net.name(at)));
    for (const RouteItb& stop : route.stops) {
      if (stop.before == 0 || stop.before >= route.path.size()) return say("stops at an end");
      const std::uint32_t sw = net.from(route.path[stop.before]);
      if (std::ranges::find(net.hosts(sw), stop.host) == net.hosts(sw).end()) {
        return say(fmt::format("stops at {}, at no host of it", net.name(sw)));
      }
    }
    // A byte for each switch, and one more and a mark of two for each host between.
    const std::size_t bytes = route.path.size() + 1 + 3 * route.stops.size();
    if (bytes > kMostHopBytes) {
      say(fmt::format("has {} bytes of header, more than {}", bytes, kMostHopBytes));
    }
  });
  return why;
}

}  // namespace smd::sim
