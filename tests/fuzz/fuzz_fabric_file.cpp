// Any bytes as a fabric file: a fabric that passes its checks and survives being written and read,
// or between one and twenty faults.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim-backend/topology/fabric_spec.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto spec = smd::sim::parse_fabric(text, "fuzz");
  if (!spec) {
    require(!spec.error().empty() && spec.error().size() <= 20);
    return 0;
  }
  require(smd::sim::check_spec(*spec).empty());
  const auto again = smd::sim::parse_fabric(smd::sim::print_fabric(*spec), "again");
  require(again.has_value());
  require(again->nodes.size() == spec->nodes.size());
  require(smd::sim::print_fabric(*again) == smd::sim::print_fabric(*spec));
  return 0;
}
