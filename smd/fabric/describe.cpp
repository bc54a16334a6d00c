#include "smd/fabric/describe.h"

#include <utility>

namespace smd {

std::shared_ptr<const Fabric> with_descriptions(const Fabric& fabric,
                                                const std::map<Guid, std::string>& known) {
  Fabric copy = fabric;
  for (NodeIdx node : copy.node_guid.indices()) {
    const auto text = known.find(copy.node_guid[node]);
    if (text != known.end()) copy.description[node] = text->second;
  }
  return std::make_shared<const Fabric>(std::move(copy));
}

std::shared_ptr<const Fabric> with_port_info(const Fabric& fabric,
                                             IndexVector<PortIdx, PortInfo> port_info) {
  Fabric copy = fabric;
  copy.port_info = std::move(port_info);
  return std::make_shared<const Fabric>(std::move(copy));
}

std::shared_ptr<const Fabric> with_registers(const Fabric& fabric,
                                             IndexVector<PortIdx, PortInfo> port_info,
                                             IndexVector<SwitchIdx, SwitchInfo> switch_info) {
  Fabric copy = fabric;
  copy.port_info = std::move(port_info);
  copy.switch_info = std::move(switch_info);
  return std::make_shared<const Fabric>(std::move(copy));
}

std::shared_ptr<const Fabric> with_fdr10(const Fabric& fabric, std::vector<PortIdx> ports) {
  Fabric copy = fabric;
  copy.fdr10 = std::move(ports);
  return std::make_shared<const Fabric>(std::move(copy));
}

}  // namespace smd
