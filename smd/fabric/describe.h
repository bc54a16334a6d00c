// What is learned after the snapshot was taken: node descriptions, and what ports answered when
// they were set.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "smd/fabric/fabric.h"

namespace smd {

/// The same snapshot with the descriptions that `known` has; nodes it does not have keep theirs.
[[nodiscard]] std::shared_ptr<const Fabric> with_descriptions(
    const Fabric& fabric, const std::map<Guid, std::string>& known);

/// The same snapshot with what the ports say now. Requires: one entry per port.
[[nodiscard]] std::shared_ptr<const Fabric> with_port_info(
    const Fabric& fabric, IndexVector<PortIdx, PortInfo> port_info);

/// The same snapshot with what ports and switches say now. Requires: one entry per port and switch.
[[nodiscard]] std::shared_ptr<const Fabric> with_registers(
    const Fabric& fabric,
    IndexVector<PortIdx, PortInfo> port_info,
    IndexVector<SwitchIdx, SwitchInfo> switch_info);

/// The same snapshot with these ports at FDR10. Requires: ascending.
[[nodiscard]] std::shared_ptr<const Fabric> with_fdr10(const Fabric& fabric,
                                                       std::vector<PortIdx> ports);

}  // namespace smd
