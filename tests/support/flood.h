// Lets one packet go through multicast entries, copy by copy, and counts what comes out. Brute
// force: knows nothing of trees.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd::test {

/// Whether the switch copies to its port.
using CopiesTo = std::function<bool(SwitchIdx, PortNum)>;

struct Flood {
  std::map<PortIdx, unsigned> copies;  // by end port that got any
  bool endless = false;
};

/// A packet that an end port sends.
inline Flood flood(const Fabric& fabric, const CopiesTo& copies_to, PortIdx sender) {
  Flood out;
  const bool own = fabric.is_switch(fabric.node_of[sender]);
  const PortIdx first = own ? sender : fabric.peer[sender];
  if (first == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[first])) return out;
  std::vector<PortIdx> arriving{first};
  std::size_t moves = 0;
  while (!arriving.empty()) {
    const PortIdx in = arriving.back();
    arriving.pop_back();
    if (++moves > 4 * fabric.port_count()) {
      out.endless = true;
      return out;
    }
    const NodeIdx node = fabric.node_of[in];
    for (unsigned number = 0; number <= fabric.num_ports(node); ++number) {
      const PortNum port{static_cast<std::uint8_t>(number)};
      const PortIdx leaving = fabric.port_of(node, port);
      if (leaving == in || !copies_to(fabric.switch_of[node], port)) continue;
      if (number == 0) {
        ++out.copies[leaving];
        continue;
      }
      const PortIdx far = fabric.peer[leaving];
      if (far == kNone<PortIdx>) continue;
      if (fabric.is_switch(fabric.node_of[far])) {
        arriving.push_back(far);
      } else {
        ++out.copies[far];
      }
    }
  }
  return out;
}

/// What is wrong while entries change: a packet of one of `senders` that goes round or comes twice.
/// Empty: nothing.
inline std::string find_repetition(const Fabric& fabric,
                                   const CopiesTo& copies_to,
                                   const std::vector<PortIdx>& senders) {
  for (const PortIdx sender : senders) {
    const Flood result = flood(fabric, copies_to, sender);
    if (result.endless) return "what " + print_port(fabric, sender) + " sends goes round";
    for (const auto& [port, copies] : result.copies) {
      if (copies > 1)
        return print_port(fabric, port) + " gets twice what " + print_port(fabric, sender) +
               " sends";
    }
  }
  return {};
}

/// What is wrong when all is settled: every receiver but the sender gets one copy, nobody else any.
inline std::string find_misdelivery(const Fabric& fabric,
                                    const CopiesTo& copies_to,
                                    const std::vector<std::pair<PortIdx, bool>>& members) {
  for (const auto& [sender, ignored] : members) {
    std::map<PortIdx, unsigned> wanted;
    for (const auto& [port, receives] : members) {
      if (receives && port != sender) wanted[port] = 1;
    }
    const Flood result = flood(fabric, copies_to, sender);
    if (result.endless || result.copies != wanted)
      return "what " + print_port(fabric, sender) + " sends does not reach just those who should";
  }
  return {};
}

}  // namespace smd::test
