// up*/down*, in the two-phase form that a table without input ports allows.
#include <utility>

#include "smd/routing/engines/engines.h"
#include "smd/routing/up_down.h"

namespace smd {
namespace {

class UpDown final : public Engine {
 public:
  std::string_view name() const override { return "updn"; }

  std::string_view contract() const override {
    return "up*/down* on any fabric, 1 VL, any SL. Every route climbs zero or more links towards "
           "the root, then descends; whoever can descend does. Of several shortest legal routes "
           "the one whose channel carries fewest paths, then the lowest port. Free of deadlock: "
           "number the channels, climbing ones from the leaves up, then descending ones from the "
           "root down; every route follows rising numbers. Complete: the root reaches everybody "
           "downwards. Not always minimal. Source: the deadlock-free routing of Autonet, as FERa.";
  }

  Result<RoutingTables> compute(const Fabric& fabric,
                                const LidMap& lids,
                                const RoutingRequest& request) const override {
    const SwitchGraph graph{fabric};
    const Targets targets = find_targets(fabric, lids);
    IndexVector<SwitchIdx, Guid> guids;
    for (const NodeIdx node : fabric.switch_node) guids.push_back(fabric.node_guid[node]);

    OrientationResult oriented =
        orient(graph, guids, targets, {.roots = request.roots, .previous = request.previous});
    const UpDownGraph up_down{graph, oriented.orientation.rank, guids};
    RoutingTables result{.engine = "updn",
                         .lft = {fabric.switch_count(), lids.top},
                         .orientation = std::move(oriented.orientation),
                         .altered = std::move(oriented.altered),
                         .notes = std::move(oriented.notes)};
    UpDownSearch search{up_down};
    Spread spread{graph, targets};
    NextHops hops;
    for (unsigned offset = 0; offset < 1u << highest_lmc(targets); ++offset) {
      spread.begin_offset();
      for (const SwitchIdx sw : targets.of.indices()) {
        if (targets.of[sw].empty()) continue;
        search.find(sw, hops);
        spread.serve(sw, hops, offset, result.lft);
      }
    }
    return result;
  }
};

}  // namespace

const Engine& updn_engine() {
  static const UpDown engine;
  return engine;
}

}  // namespace smd
