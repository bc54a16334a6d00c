#include "smd/routing/layers/layered_tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd {

RoutingTables make_layered_tables(std::string_view engine,
                                  const SwitchGraph& graph,
                                  const Targets& targets,
                                  const BalancedTrees& trees,
                                  const Layering& layering,
                                  unsigned vls) {
  const TreeOfLid& tree_of = trees.plan.of_lid;
  const Lid top{static_cast<std::uint16_t>(tree_of.size() - 1)};
  RoutingTables result{.engine = std::string{engine}, .lft = {graph.switches(), top}, .vls = vls};
  result.load.evenness = trees.evenness;
  write_entries(graph, targets, trees.trees, tree_of, result.lft);
  if (vls == 1) return result;
  result.path_sls = PathSls{graph.switches(), top};
  for (std::uint32_t lid = 0; lid < tree_of.size(); ++lid) {
    if (tree_of[lid] == kNoTree) continue;
    for (std::uint32_t sw = 0; sw < graph.switches(); ++sw) {
      const std::uint8_t lane = layering.lane(tree_of[lid], SwitchIdx{sw});
      if (lane != 0)
        result.path_sls.set_sl(SwitchIdx{sw}, Lid{static_cast<std::uint16_t>(lid)}, lane);
    }
  }
  return result;
}

unsigned find_lane_budget(const Fabric& fabric, const RoutingRequest& request) {
  return std::min(kMostLanes, request.max_vls != 0 ? request.max_vls : count_common_lanes(fabric));
}

Error refuse_for_lanes(std::optional<unsigned> needed, unsigned budget) {
  const std::string lanes = budget == 1 ? "1 data VL" : fmt::format("{} data VLs", budget);
  if (!needed)
    return {Errc::Unsupported,
            fmt::format("the routes need more than {} data VLs, more than there can be; {} may be "
                        "used",
                        kMostLanes,
                        lanes)};
  return {
      Errc::Unsupported,
      fmt::format(
          "the routes need {} data VLs to be free of deadlock, {} may be used", *needed, lanes)};
}

}  // namespace smd
