#include "smd/fabric/describe.h"

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

}  // namespace smd
