// What a worm network's hosts know: for each pair of switches the routes that messages may take, as
// the channels of a graph. Made once for all runs.
#pragma once

#include <vector>

#include "sim-backend/sourceroute/route_set.h"
#include "sim-backend/worm/worm_route.h"

namespace smd::sim {

class WormRouting {
 public:
  /// Of every pair the routes of `first`, then those of `second`, if there is one. With `header`
  /// messages carry a byte for each switch, two for each stop and two for type and CRC.
  WormRouting(const WormGraph& graph,
              const RouteNet& net,
              const RouteSet& first,
              const RouteSet* second,
              bool header);

  struct Choice {
    const WormRoute* routes = nullptr;
    std::uint32_t first = 0, second = 0;  // how many of each set
  };

  /// Requires: different hosts.
  [[nodiscard]] Choice between(std::uint32_t source, std::uint32_t to) const;

  /// Where what is for a host comes to it.
  [[nodiscard]] ChannelAt last(std::uint32_t host) const { return last_[host]; }

  /// Flits of header on this route.
  [[nodiscard]] std::uint32_t header_flits(const WormRoute& route) const;

 private:
  std::vector<std::uint32_t> switch_of_;  // by host
  std::vector<ChannelAt> last_;
  std::uint32_t switches_;
  bool header_;
  std::vector<std::vector<WormRoute>> routes_;  // by pair of switches
  std::vector<std::uint32_t> first_;
};

}  // namespace smd::sim
