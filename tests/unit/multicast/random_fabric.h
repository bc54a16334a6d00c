// Small fabrics at random, and groups in them.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/base/rng.h"
#include "smd/multicast/forest.h"
#include "smd/multicast/tree.h"
#include "smd/routing/engine.h"
#include "tests/support/fabric_text.h"
#include "tests/support/flood.h"

namespace smd::test {

/// Connected, with circles, parallel links and now and then a loopback link; one to three hosts
/// at every switch.
inline std::string random_text(Rng& rng, unsigned switches) {
  std::string text;
  unsigned host = 0;
  for (unsigned s = 1; s <= switches; ++s) {
    for (std::uint64_t h = rng.below(3) + 1; h > 0; --h) text += fmt::format("H{}-S{} ", ++host, s);
    if (s > 1) text += fmt::format("S{}-S{} ", s, rng.below(s - 1) + 1);
  }
  for (std::uint64_t more = rng.below(switches) + 2; more > 0; --more) {
    const std::uint64_t a = rng.below(switches) + 1;
    const std::uint64_t b = rng.below(switches) + 1;
    if (a != b) text += fmt::format("S{}-S{} ", a, b);
  }
  if (rng.below(4) == 0) text += "S1:30-S1:30 ";
  return text;
}

inline std::shared_ptr<const Fabric> with_tables(Fabric fabric, std::uint16_t room = 1024) {
  for (SwitchInfo& info : fabric.switch_info) info.multicast_fdb_cap = room;
  return std::make_shared<const Fabric>(std::move(fabric));
}

/// One end of the link at this port of the switch did not become Active.
inline Fabric with_refusing_link(Fabric fabric, std::string_view name, unsigned port) {
  const NodeIdx node = fabric.switch_node[switch_named(fabric, std::string(name))];
  fabric.port_info[fabric.port_of(node, PortNum{static_cast<std::uint8_t>(port)})].port_state =
      static_cast<std::uint8_t>(PortState::Initialize);
  return fabric;
}

inline std::vector<PortIdx> end_ports(const Fabric& fabric) {
  std::vector<PortIdx> out;
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.is_end_port(port)) out.push_back(port);
  }
  return out;
}

inline std::vector<TreeMember> random_members(const Fabric& fabric, Rng& rng) {
  std::vector<TreeMember> members;
  const std::uint64_t of_ten = rng.below(9) + 1;
  for (const PortIdx port : end_ports(fabric)) {
    if (rng.below(10) < of_ten) members.push_back({port, rng.below(4) != 0});
  }
  return members;
}

inline CopiesTo entries_of(const std::vector<SwitchMask>& masks) {
  return [&masks](SwitchIdx sw, PortNum port) {
    for (const SwitchMask& mask : masks) {
      if (mask.sw == sw) return mask.ports.test(port);
    }
    return false;
  };
}

inline std::string find_misdelivery(const Fabric& fabric,
                                    const std::vector<SwitchMask>& masks,
                                    const std::vector<TreeMember>& members) {
  std::vector<std::pair<PortIdx, bool>> all;
  for (const TreeMember& member : members) all.emplace_back(member.port, member.receives);
  return find_misdelivery(fabric, entries_of(masks), all);
}

/// Of these ports of ten `of_ten` receive, and one that does not is the only one that sends.
inline std::vector<TreeMember> one_sender(const Fabric& fabric, Rng& rng, std::uint64_t of_ten) {
  const std::vector<PortIdx> ports = end_ports(fabric);
  const PortIdx sender = ports[rng.below(ports.size())];
  std::vector<TreeMember> members;
  for (const PortIdx port : ports) {
    if (port == sender) {
      members.push_back({port, false, true});
    } else if (rng.below(10) < of_ten) {
      members.push_back({port, true, false});
    }
  }
  return members;
}

/// What is wrong where one member alone sends: what it sends comes once to every receiver, what
/// others send to none of them twice, and nothing to anybody else.
inline std::string find_fault_of_one_sender(const Fabric& fabric,
                                            const std::vector<SwitchMask>& masks,
                                            const std::vector<TreeMember>& members) {
  for (const TreeMember& from : members) {
    std::map<PortIdx, unsigned> wanted;
    for (const TreeMember& to : members) {
      if (to.receives && to.port != from.port) wanted[to.port] = 1;
    }
    const Flood got = flood(fabric, entries_of(masks), from.port);
    if (got.endless) return "what " + print_port(fabric, from.port) + " sends goes round";
    for (const auto& [port, copies] : got.copies) {
      if (copies > 1 || !wanted.contains(port))
        return print_port(fabric, port) + " gets too much of what " +
               print_port(fabric, from.port) + " sends";
    }
    if (from.sends && got.copies != wanted) return "what the sender sends does not come to all";
  }
  return {};
}

}  // namespace smd::test
