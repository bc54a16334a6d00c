// What the subnet administration answers from, out of what the manager holds to be true.
#pragma once

#include <memory>

#include "smd/app/subnet_manager.h"
#include "smd/sa/subnet_view.h"

namespace smd::app {

/// Null until a cycle has routes that were verified. `own_port`: where the manager sits.
[[nodiscard]] std::shared_ptr<const sa::SubnetView> make_view(const SubnetManager& manager,
                                                              const LocalPort& own_port);

}  // namespace smd::app
