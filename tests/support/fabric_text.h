// A tiny notation for fabrics in tests.
//
//   S1-S2        a link; S… are switches, H… hosts, R… routers; repeat it for parallel links
//   S1:3-S2:4    a link between these ports; a part without a port takes the lowest free one
//   S1~S2        a link that has just come up: both ends in Initialize, all others are Active
//   S1:5-S1:5    a loop-back cable
//   S4 or S4/36  a node, with that many ports
//
// Nodes are numbered in order of appearance; the manager sits on the first one. S7 has GUID 0x1007,
// H7 0x20700 with port p at 0x20700 + p, R7 0x3000700 likewise.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd::test {

/// Aborts with a line on stderr when the text is not in the notation: tests are written by us.
[[nodiscard]] std::shared_ptr<const Fabric> fabric_from_shared(std::string_view text);

[[nodiscard]] Fabric fabric_from(std::string_view text);

/// The node called `name`, and its port "S1:3". Requires: it exists.
[[nodiscard]] NodeIdx node(const Fabric& fabric, std::string_view name);
[[nodiscard]] SwitchIdx switch_named(const Fabric& fabric, std::string_view name);
[[nodiscard]] PortIdx port(const Fabric& fabric, std::string_view name);

/// The port of a node that takes a LID: port 0 of a switch, the lowest connected one of the others.
[[nodiscard]] PortIdx end_port(const Fabric& fabric, std::string_view name);

/// LIDs to every end port, in node order from 1; adapters and routers get 2^lmc each.
[[nodiscard]] LidMap lids_in_order(const Fabric& fabric, std::uint8_t lmc = 0);

}  // namespace smd::test
