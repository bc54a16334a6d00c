#include "smd/fabric/fabric.h"

#include <algorithm>

#include <fmt/format.h>

#include "smd/base/printable.h"

namespace smd {

std::optional<NodeIdx> Fabric::find_node(Guid guid) const {
  const auto found = node_by_guid.find(guid);
  if (found == node_by_guid.end()) return std::nullopt;
  return found->second;
}

bool Fabric::is_end_port(PortIdx port) const {
  const bool zero = number_of(port) == PortNum{0};
  if (is_switch(node_of[port])) return zero;
  // A cable from a port to itself leads nowhere, so it makes no end of a path.
  return !zero && peer[port] != kNone<PortIdx> && peer[port] != port;
}

std::size_t Fabric::link_count() const {
  std::size_t count = 0;
  for (const PortIdx port : peer.indices()) {
    if (peer[port] != kNone<PortIdx> && port < peer[port]) ++count;
  }
  return count;
}

std::string print_port(const Fabric& fabric, PortIdx port) {
  if (port == kNone<PortIdx>) return "no port";
  const NodeIdx node = fabric.node_of[port];
  const unsigned number = fabric.number_of(port).value();
  const std::string& name = fabric.description[node];
  return name.empty() ? fmt::format("{}:{}", fabric.node_guid[node], number)
                      : fmt::format("{}:{}", printable(name), number);
}

LinkSpeed link_speed(const Fabric& fabric, PortIdx port) {
  if (std::ranges::binary_search(fabric.fdr10, port)) return LinkSpeed::Fdr10;
  return active_speed(fabric.port_info[port]);
}

}  // namespace smd
