// Brute force: what tables and rows, as they are at one moment, do to packets of every SL that a
// host may send. Each is walked alone, from its host on; written from the definition, with none of
// the code that it judges.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "smd/plan/transition.h"
#include "tests/unit/plan/transient_oracle.h"

namespace smd::test {

/// The fabric while a plan is carried out, with its rows and what its hosts were told.
struct LaneMoment {
  Moment at;
  const SlToVlTask* task = nullptr;
  SlToVlMaps rows;
  bool advertised = false;  // of the wanted routes
  bool asked = false;       // of those alone: all links were down

  [[nodiscard]] bool sends(SwitchIdx sw, Lid lid, unsigned sl) const {
    const auto has = [&](const SlSets& sets) {
      return sets.covers(at.fabric->switch_count(), lid) && (sets.of(sw, lid) >> sl & 1) != 0;
    };
    return (!asked && has(*task->advertised)) || ((advertised || asked) && has(*task->wanted_sls));
  }
};

struct LaneFinding {
  std::string cycle;  // empty: none
  std::string lost;   // a packet that a row discards; empty: none
};

inline LaneFinding find_lane_faults(const LaneMoment& moment) {
  using VlChannel = std::pair<PortIdx, unsigned>;
  const Fabric& f = *moment.at.fabric;
  std::map<VlChannel, std::set<VlChannel>> after;
  LaneFinding finding;
  const auto leaves = [&](SwitchIdx sw, Lid lid) {
    const PortNum egress = moment.at.tables.route(sw, lid);
    const NodeIdx node = f.switch_node[sw];
    if (egress == PortNum{0} || egress.value() > f.num_ports(node)) return kNone<PortIdx>;
    const PortIdx port = f.port_of(node, egress);
    return moment.at.flows(port) ? port : kNone<PortIdx>;
  };
  const auto walk = [&](SwitchIdx sw, PortNum in, Lid lid, unsigned sl) {
    std::optional<VlChannel> waits;
    for (std::size_t steps = 0; steps <= 2 * f.switch_count(); ++steps) {
      const PortIdx out = leaves(sw, lid);
      if (out == kNone<PortIdx>) return;
      if (in != PortNum{0} && f.port_of(f.switch_node[sw], in) == out) {
        if (waits)
          finding.lost = "lid " + std::to_string(lid.value()) + " bounces at " + print_port(f, out);
        return;  // to itself, or discarded
      }
      const PortNum number = f.number_of(out);
      if (moment.at.blocked.contains({sw, in, number})) return;
      const Vl vl = moment.rows.row(sw, in, number)[sl];
      if (vl == kManagementVl) {
        finding.lost = "SL " + std::to_string(sl) + " to lid " + std::to_string(lid.value()) +
                       " at " + print_port(f, out);
        return;
      }
      if (!f.is_switch(f.node_of[f.peer[out]])) return;
      const VlChannel channel{out, vl.value()};
      if (waits) after[*waits].insert(channel);
      waits = channel;
      in = f.number_of(f.peer[out]);
      sw = f.switch_at(f.peer[out]);
    }
  };
  for (std::uint16_t l = 1; l <= moment.at.tables.top().value(); ++l) {
    for (const SwitchIdx sw : f.switch_node.indices()) {
      for (unsigned sl = 0; sl < 16; ++sl) {
        if (!moment.sends(sw, Lid{l}, sl)) continue;
        walk(sw, PortNum{0}, Lid{l}, sl);
        for (const PortIdx port : f.external_ports(f.switch_node[sw])) {
          if (moment.at.flows(port) && !f.is_switch(f.node_of[f.peer[port]]))
            walk(sw, f.number_of(port), Lid{l}, sl);
        }
      }
    }
  }
  std::map<VlChannel, int> colour;
  const auto visit = [&](const auto& self, const VlChannel& vl) -> bool {
    colour[vl] = 1;
    for (const VlChannel& next : after[vl]) {
      if (colour[next] == 1 || (colour[next] == 0 && self(self, next))) {
        finding.cycle += print_port(f, next.first) + "(VL" + std::to_string(next.second) + ") ";
        colour[vl] = 2;
        return true;
      }
    }
    colour[vl] = 2;
    return false;
  };
  std::vector<VlChannel> starts;
  for (const auto& [vl, next] : after) starts.push_back(vl);
  for (const VlChannel& start : starts) {
    if (colour[start] == 0 && visit(visit, start)) break;
  }
  return finding;
}

}  // namespace smd::test
