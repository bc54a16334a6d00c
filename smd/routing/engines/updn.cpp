// up*/down*, in the two-phase form that a table without input ports allows.
#include "smd/routing/engines/engines.h"
#include "smd/routing/oriented_fabric.h"
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
    OrientedFabric oriented{fabric, lids, request.roots, request.previous};
    RoutingTables result = begin_tables(name(), lids, oriented);
    UpDownSearch search{oriented.up_down};
    Spread spread{oriented.graph, oriented.targets};
    NextHops hops;
    for (unsigned offset = 0; offset < 1u << highest_lmc(oriented.targets); ++offset) {
      spread.begin_offset();
      for (const SwitchIdx sw : oriented.targets.of.indices()) {
        if (oriented.targets.of[sw].empty()) continue;
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
