#include "sim-backend/management/timed_fabric.h"

#include "smd/base/check.h"

namespace smd::sim {

FabricSpec spec_of(const std::string& fabric) {
  auto spec = load_fabric(fabric);
  SMD_CHECK(spec.has_value(), "a fabric that no generator knows");
  return std::move(*spec);
}

std::uint32_t TimedFabric::node(const std::string& name) const {
  const std::uint32_t found = find_node(fabric.spec(), name);
  SMD_CHECK(found != kNoNode, "no single node has this name");
  return found;
}

}  // namespace smd::sim
