// FABRIC as people name it: a generator's call or a file.
#include <fmt/core.h>

#include <filesystem>

#include "sim-backend/topology/generator.h"
#include "sim-backend/topology/net_lines.h"
#include "sim-backend/topology/network.h"
#include "smd/base/read_file.h"

namespace smd::sim {
namespace {

bool looks_like_path(std::string_view fabric) {
  return fabric.find('/') != std::string_view::npos || fabric.find('.') < fabric.find(':');
}

}  // namespace

Parsed<FabricSpec> load_fabric(const std::string& fabric) {
  Faults notes;
  return load_fabric(fabric, notes);
}

Parsed<FabricSpec> load_fabric(const std::string& fabric, Faults& notes) {
  auto network = load_network(fabric);
  if (!network) return tl::unexpected(std::move(network.error()));
  notes.insert(notes.end(), network->notes.begin(), network->notes.end());
  if (network->is_subnet) return std::move(network->spec);
  return fault(
      fabric,
      0,
      "beyond=1 is no subnet, so nothing manages it or has tables for it: leave it out, or "
      "run it by smsim run with routes.rule");
}

Parsed<Network> load_network(const std::string& fabric) {
  const std::string name = fabric.substr(0, fabric.find(':'));
  if (find_generator(name) != nullptr) return generate(fabric);
  const std::filesystem::path path(fabric);
  const Result<std::string> text = read_file(path, kLargestFabric, Pipes::Accepted);
  if (text) {
    const Includer include = [&path](const std::string& other) {
      return read_file(path.parent_path() / other, kLargestFabric);
    };
    Network network;
    auto spec = build_fabric(read_net_lines(*text, fabric, include), network.notes);
    if (!spec) return tl::unexpected(std::move(spec.error()));
    network.spec = std::move(*spec);
    return network;
  }
  if (text.error().code != Errc::NoDevice || looks_like_path(fabric)) {
    return fault(fabric, 0, text.error().context);
  }
  return fault(
      fabric,
      0,
      fmt::format("neither a file nor a generator: did you mean \"{}\"?", nearest_generator(name)));
}

Parsed<FabricSpec> parse_fabric(std::string_view text, const std::string& file) {
  Faults notes;
  return build_fabric(read_net_lines(text, file, {}), notes);
}

}  // namespace smd::sim
