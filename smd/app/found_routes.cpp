#include "smd/app/found_routes.h"

#include <utility>
#include <vector>

namespace smd::app {
namespace {

/// Follows the entries of one LID from every switch at most once.
class Column {
 public:
  Column(const Fabric& fabric, const ForwardingTables& tables, Lid lid)
      : fabric_(fabric), tables_(tables), lid_(lid), leads_(tables.switches(), Mark::Unknown) {}

  /// True when a packet at `sw` leaves for good: to a host, or to port 0.
  bool arrives(SwitchIdx start, PortIdx owner) {
    std::vector<SwitchIdx> way;
    Mark mark = Mark::Unknown;
    for (SwitchIdx sw = start; mark == Mark::Unknown;) {
      if (leads_[sw.value()] != Mark::Unknown) {
        mark = leads_[sw.value()] == Mark::Arrives ? Mark::Arrives : Mark::Lost;
        break;
      }
      leads_[sw.value()] = Mark::OnTheWay;  // met again: a loop
      way.push_back(sw);
      mark = step(sw, owner);
    }
    for (const SwitchIdx sw : way) leads_[sw.value()] = mark;
    return mark == Mark::Arrives;
  }

 private:
  enum class Mark : std::uint8_t { Unknown, OnTheWay, Arrives, Lost };

  /// Moves on to the next switch, or says how it ended.
  Mark step(SwitchIdx& sw, PortIdx owner) const {
    const NodeIdx node = fabric_.switch_node[sw];
    const PortNum exit = tables_.route(sw, lid_);
    if (exit == kNoRoute || exit.value() > fabric_.num_ports(node)) return Mark::Lost;
    const PortIdx port = fabric_.port_of(node, exit);
    if (exit == PortNum{0}) return port == owner ? Mark::Arrives : Mark::Lost;
    const PortIdx peer = fabric_.peer[port];
    if (peer == kNone<PortIdx>) return Mark::Lost;
    if (peer == owner) return Mark::Arrives;
    const SwitchIdx next = fabric_.switch_of[fabric_.node_of[peer]];
    if (next == kNone<SwitchIdx>) return Mark::Lost;
    sw = next;
    return Mark::Unknown;
  }

  const Fabric& fabric_;
  const ForwardingTables& tables_;
  Lid lid_;
  std::vector<Mark> leads_;
};

}  // namespace

std::optional<Routed> keep_found(const RouteJob& job,
                                 const ForwardingTables& found,
                                 const Routed& fresh) {
  const RoutingTables& made = fresh.tables;
  const bool lanes = made.vls > 1 || !made.lanes.empty() || !made.path_sls.empty();
  if (fresh.error || lanes || made.default_port.size() != 0 ||
      found.switches() != made.lft.switches())
    return std::nullopt;
  Routed out = fresh;
  bool kept_any = false;
  for (unsigned value = 1; value <= std::min(made.lft.top(), found.top()).value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const PortIdx owner = job.lids.owner_of(lid);
    if (owner == kNone<PortIdx>) continue;
    Column column{*job.fabric, found, lid};
    bool good = true;
    for (std::uint32_t sw = 0; good && sw < made.lft.switches(); ++sw)
      good = made.lft.route(SwitchIdx{sw}, lid) == kNoRoute || column.arrives(SwitchIdx{sw}, owner);
    if (!good) continue;
    kept_any = true;
    for (std::uint32_t sw = 0; sw < made.lft.switches(); ++sw)
      out.tables.lft.set_route(SwitchIdx{sw}, lid, found.route(SwitchIdx{sw}, lid));
  }
  if (!kept_any) return std::nullopt;
  out.routes = check_routes(*job.fabric, job.lids, out.tables, {.minimality = false});
  if (!out.routes.ok()) return std::nullopt;
  out.tables.recomputed.reset();
  return out;
}

}  // namespace smd::app
