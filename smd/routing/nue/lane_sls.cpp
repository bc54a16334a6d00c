#include "smd/routing/nue/lane_sls.h"

namespace smd {

void set_lane_sls(std::size_t switches,
                  Lid top,
                  unsigned lanes,
                  const std::vector<std::uint8_t>& lane_of,
                  RoutingTables& tables) {
  tables.vls = lanes;
  if (lanes == 1) return;
  tables.path_sls = PathSls{switches, top};
  for (std::uint32_t source = 0; source < switches; ++source) {
    for (std::uint32_t lid = 0; lid < lane_of.size(); ++lid)
      tables.path_sls.set_sl(SwitchIdx{source}, Lid{static_cast<std::uint16_t>(lid)}, lane_of[lid]);
  }
}

}  // namespace smd
