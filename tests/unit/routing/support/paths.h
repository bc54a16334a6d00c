// Reading routes in tests.
#pragma once

#include <string>
#include <vector>

#include "smd/routing/engine.h"
#include "tests/support/fabric_text.h"

namespace smd::test {

/// Like an engine's own search, but naming what failed.
inline RoutingTables compute(std::string_view engine,
                             const Fabric& fabric,
                             const LidMap& lids,
                             const RoutingRequest& request = {}) {
  auto tables = find_engine(engine)->compute(fabric, lids, request);
  return tables ? std::move(*tables) : RoutingTables{.engine = tables.error().context};
}

/// Switches that a packet to `lid` meets from `from` on; "…" when it does not end.
inline std::vector<std::string> path(const Fabric& fabric,
                                     const ForwardingTables& tables,
                                     std::string_view from,
                                     Lid lid) {
  NodeIdx at = node(fabric, from);
  if (!fabric.is_switch(at)) at = fabric.node_of[fabric.peer[end_port(fabric, from)]];
  std::vector<std::string> names;
  while (fabric.is_switch(at)) {
    names.push_back(fabric.description[at]);
    if (names.size() > fabric.switch_count()) {
      names.push_back("…");
      break;
    }
    const PortNum egress = tables.route(fabric.switch_of[at], lid);
    if (egress == PortNum{0} || egress.value() > fabric.num_ports(at)) break;
    const PortIdx far = fabric.peer[fabric.port_of(at, egress)];
    if (far == kNone<PortIdx>) break;
    at = fabric.node_of[far];
  }
  return names;
}

inline std::vector<std::string> path(const Fabric& fabric,
                                     const LidMap& lids,
                                     const ForwardingTables& tables,
                                     std::string_view from,
                                     std::string_view to) {
  return path(fabric, tables, from, lids.base[end_port(fabric, to)]);
}

/// One entry: the exit port at `sw` towards `to`.
inline unsigned egress_of(const Fabric& fabric,
                          const LidMap& lids,
                          const ForwardingTables& tables,
                          std::string_view sw,
                          std::string_view to) {
  return tables.route(switch_named(fabric, sw), lids.base[end_port(fabric, to)]).value();
}

/// LIDs equal to the numbers in the names: H7 has LID 7.
inline LidMap lids_by_number(const Fabric& fabric) {
  LidMap map = make_lid_map(fabric);
  for (const NodeIdx n : fabric.node_guid.indices()) {
    const auto lid = static_cast<std::uint16_t>(std::stoul(fabric.description[n].substr(1)));
    set_lid(map, end_port(fabric, fabric.description[n]), Lid{lid}, 0);
  }
  return map;
}

/// Eight 4-port switches and seven hosts, numbered in discovery order from switch 1.
inline constexpr std::string_view kFig76 =
    "S1/4 S2/4 S3/4 H4 S5/4 S6/4 H7 S8/4 S9/4 S10/4 "
    "S1:3-H4:1 S1:1-S2:1 S1:2-S3:1 S2:2-S5:2 S2:3-S6:1 S2:4-H7:1 S3:2-S8:1 S3:3-S9:1 S3:4-S6:2 "
    "S5:1-S10:1 S5:3-H11:1 S6:3-S10:2 S6:4-H12:1 S8:2-H13:1 S9:2-H14:1 S10:3-H15:1";

/// A k-ary, three-level fat tree of k-port switches with k/2 hosts per leaf. S1… leaves and
/// aggregation switches pod by pod, then the cores.
inline std::string fat_tree_text(unsigned k) {
  const unsigned half = k / 2;
  std::string text;
  const auto leaf = [&](unsigned pod, unsigned i) { return 1 + pod * k + i; };
  const auto agg = [&](unsigned pod, unsigned i) { return 1 + pod * k + half + i; };
  const auto core = [&](unsigned group, unsigned i) { return 1 + k * k + group * half + i; };
  const auto link = [&](const std::string& a, const std::string& b) { text += a + "-" + b + " "; };
  const auto sw = [](unsigned n) { return "S" + std::to_string(n); };
  for (unsigned pod = 0; pod < k; ++pod) {
    for (unsigned l = 0; l < half; ++l) {
      for (unsigned h = 0; h < half; ++h)
        link(sw(leaf(pod, l)), "H" + std::to_string((pod * half + l) * half + h + 1));
      for (unsigned a = 0; a < half; ++a) link(sw(leaf(pod, l)), sw(agg(pod, a)));
    }
    for (unsigned a = 0; a < half; ++a) {
      for (unsigned c = 0; c < half; ++c) link(sw(agg(pod, a)), sw(core(a, c)));
    }
  }
  return text;
}

}  // namespace smd::test
