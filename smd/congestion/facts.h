// What the settings of congestion control depend on, as a snapshot shows it.
//
//                in a fat tree                          elsewhere
//   radix k      most hosts that one switch serves      the same, at least 2
//   stages n     levels of switches                     (h + 1) / 2, rounded up
//   path h       2 n - 1 switches                       the longest route, else the longest of the
//                                                       shortest ways
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/fabric/hosts.h"

namespace smd::cc {

struct Facts {
  std::size_t hosts = 0;  // cabled ports of adapters
  HostCounts systems;     // whose they are
  std::size_t switches = 0;
  bool is_tree = false;
  unsigned radix = 2;
  unsigned stages = 1;
  unsigned path = 1;           // switches
  unsigned mtu = 4096;         // bytes: the largest that a host link carries
  std::vector<unsigned> mbps;  // of host links, each once, ascending
  std::string shape;           // "fat tree of …", or why it is none

  friend bool operator==(const Facts&, const Facts&) = default;
};

struct FactsRequest {
  unsigned mtu_max = 4096;                // bytes: what ports are set to at most
  std::optional<unsigned> longest_route;  // switches, where routes are known
};

[[nodiscard]] Facts read_facts(const Fabric& fabric, const FactsRequest& request);

/// Data rate of the port's link in Mbit/s; 0 where there is none.
[[nodiscard]] unsigned link_mbps(const Fabric& fabric, PortIdx port);

}  // namespace smd::cc
