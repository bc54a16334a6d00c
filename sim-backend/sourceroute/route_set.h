// Source routes of all pairs of switches, with the hosts that take them in between, and what they
// come to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim-backend/sourceroute/candidate_paths.h"
#include "smd/routing/verify/relation.h"

namespace smd::sim {

/// A host takes the message in before channel `before` of the path, at the switch that it leaves.
struct RouteItb {
  std::uint32_t before = 0;
  std::uint32_t host = 0;  // node of the drawing
};

struct SourceRoute {
  ChannelPath path;
  std::vector<RouteItb> stops;  // ascending
};

/// By ordered pair of switches; none from a switch to itself, nor where one has no hosts.
class RouteSet {
 public:
  explicit RouteSet(const RouteNet& net)
      : switches_(net.switches()), routes_(std::size_t{switches_} * switches_) {}

  [[nodiscard]] std::vector<SourceRoute>& of(std::uint32_t from, std::uint32_t to) {
    return routes_[std::size_t{from} * switches_ + to];
  }

  [[nodiscard]] const std::vector<SourceRoute>& of(std::uint32_t from, std::uint32_t to) const {
    return routes_[std::size_t{from} * switches_ + to];
  }

  /// Theirs behind ours, pair by pair.
  void add(const RouteSet& others);

 private:
  std::uint32_t switches_;
  std::vector<std::vector<SourceRoute>> routes_;
};

struct RouteFigures {
  std::size_t routes = 0;
  double minimal_share = 0;  // of routes
  double mean_links = 0;     // between switches
  double stops_per_route = 0;
  double stop_share = 0;                               // of the switches between two ends
  double mean_load = 0, deviation = 0, most_load = 0;  // routes per channel
};

[[nodiscard]] RouteFigures measure_routes(const RouteNet& net, const RouteSet& set);

/// The routes of a set, cut where hosts take them in: what may wait for what.
class RouteRelation final : public RoutingRelation {
 public:
  /// Requires: both outlive this.
  RouteRelation(const RouteNet& net, const RouteSet& set);

  void starts(const std::function<void(const RelationPlace&)>& begin) const override;
  bool moves(const RelationPlace& place, std::vector<RelationStep>& out) const override;

 private:
  [[nodiscard]] PortIdx entry(std::uint32_t sw) const;

  const RouteNet& net_;
  // Stretches between hosts, one after the other: channels, and where each ends.
  std::vector<Channel> channels_;
  std::vector<char> last_;
};

inline constexpr std::size_t kMostHopBytes = 32;  // of a header

/// Why messages cannot go by these routes: one that does not hang together, passes a channel twice,
/// stops where no host is, or is too long for a header. Empty when all is well. Deadlocks are for
/// check_relation.
[[nodiscard]] std::string check_routes(const RouteNet& net, const RouteSet& set);

}  // namespace smd::sim
