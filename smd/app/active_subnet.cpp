#include "smd/app/active_subnet.h"

#include <utility>

namespace smd::app {

bool is_cut_off(const Fabric& fabric) {
  return fabric.node_count() == 1 && !fabric.is_switch(fabric.sm_node);
}

std::shared_ptr<const ActiveSubnet> with_fabric(const ActiveSubnet& now,
                                                std::shared_ptr<const Fabric> fabric) {
  SweepReport sweep = now.sweep;
  sweep.fabric = std::move(fabric);
  return std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = std::move(sweep),
                                                           .lids = now.lids,
                                                           .routing = now.routing,
                                                           .rows = now.rows,
                                                           .partitions = now.partitions,
                                                           .multicast_lane = now.multicast_lane});
}

}  // namespace smd::app
