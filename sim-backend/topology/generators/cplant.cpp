// cplant: six groups of eight switches and a seventh of two, an incomplete hypercube of cubes.
#include <array>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {
namespace {

constexpr unsigned kSwitches = 50;
constexpr unsigned kGroup = 8;
// Three cube neighbours and the opposite corner, for switches within a group and for groups alike.
constexpr std::array kSteps{1u, 2u, 4u, 7u};

/// Ports 1-4 lead to the neighbours within the group, 5-8 to the same switch of other groups, and
/// hosts follow. Where the neighbour does not exist the port stays open.
Result<FabricSpec> draw_cplant(const Arguments& arguments) {
  const std::uint32_t hosts = arguments.number("hosts");
  const unsigned ports = std::max(16u, 8 + hosts);
  const Size size{.switches = kSwitches, .host_ports = product({kSwitches, hosts}), .radix = ports};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  Drawing drawing(arguments);
  for (std::uint32_t s = 0; s < kSwitches; ++s) {
    drawing.add_switch(switch_name({s / kGroup, s % kGroup}), ports);
  }
  for (std::uint32_t s = 0; s < kSwitches; ++s) {
    for (unsigned i = 0; i < kSteps.size(); ++i) {
      const std::uint32_t mate = s / kGroup * kGroup + (s % kGroup ^ kSteps[i]);
      const std::uint32_t homologue = (s / kGroup ^ kSteps[i]) * kGroup + s % kGroup;
      if (mate > s && mate < kSwitches) drawing.cable(s, i + 1, mate, i + 1);
      if (homologue > s && homologue < kSwitches) drawing.cable(s, i + 5, homologue, i + 5);
    }
  }
  for (std::uint32_t s = 0; s < kSwitches; ++s) {
    for (unsigned h = 0; h < hosts; ++h) drawing.hang_host(s, 9 + h);
  }
  return std::move(drawing).finish();
}

constexpr std::array kCplantKeys{
    number_key("hosts", "8", 0, 246).means("hosts per switch, on the ports from 9"),
    kAdaptersKey,
};

}  // namespace

const Generator kCplant{
    .name = "cplant",
    .meaning = "the CPLANT machine: 50 switches in 7 groups",
    .keys = kCplantKeys,
    .draw = draw_cplant,
    .hosts_key = "hosts",
};

}  // namespace smd::sim
