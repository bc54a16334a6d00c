#include "smd/app/administration.h"

namespace smd::app {

std::shared_ptr<const sa::SubnetView> make_view(const SubnetManager& manager,
                                                const LocalPort& own_port) {
  const std::shared_ptr<const InForce> now = manager.share_in_force();
  if (!now) return nullptr;
  const Settings& settings = manager.settings();
  // LIDs and tables live as long as the view; the fabric is the one of this moment.
  return std::make_shared<const sa::SubnetView>(
      sa::ViewParts{.fabric = now->sweep.fabric,
                    .lids = {now, &now->lids},
                    .routing = {now, &now->routing},
                    .sm = {.guid = own_port.port_guid,
                           .sm_key = settings.sm_key,
                           .act_count = static_cast<std::uint32_t>(manager.cycles()),
                           .priority = settings.sm_priority,
                           .sm_state = static_cast<std::uint8_t>(SmState::Master)},
                    .trust_key = settings.sm_key,
                    .subnet_prefix = settings.ports.subnet_prefix,
                    .packet_life_time = settings.ports.subnet_timeout});
}

}  // namespace smd::app
