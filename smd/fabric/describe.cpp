#include "smd/fabric/describe.h"

#include <utility>

namespace smd {

std::shared_ptr<const Fabric> with_descriptions(const Fabric& fabric,
                                                const std::map<Guid, std::string>& known) {
  auto copy = std::make_shared<Fabric>(fabric);
  for (NodeIdx node : copy->node_guid.indices()) {
    const auto text = known.find(copy->node_guid[node]);
    if (text != known.end()) copy->description[node] = text->second;
  }
  return copy;
}

std::shared_ptr<const Fabric> with_port_info(const Fabric& fabric,
                                             IndexVector<PortIdx, PortInfo> port_info) {
  auto copy = std::make_shared<Fabric>(fabric);
  copy->port_info = std::move(port_info);
  return copy;
}

std::shared_ptr<const Fabric> with_registers(const Fabric& fabric,
                                             IndexVector<PortIdx, PortInfo> port_info,
                                             IndexVector<SwitchIdx, SwitchInfo> switch_info) {
  auto copy = std::make_shared<Fabric>(fabric);
  copy->port_info = std::move(port_info);
  copy->switch_info = std::move(switch_info);
  return copy;
}

std::shared_ptr<const Fabric> with_fdr10(const Fabric& fabric, std::vector<PortIdx> ports) {
  auto copy = std::make_shared<Fabric>(fabric);
  copy->fdr10 = std::move(ports);
  return copy;
}

}  // namespace smd
