// rails: two-level trees whose hosts have an adapter for each of several rails: adapter r of every
// host of a unit hangs on leaf r of that unit. multi-plane: hosts with a port in each of several
// trees, which nothing but cores joins; of one adapter, or of several that share the planes evenly.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {
namespace {

Result<FabricSpec> draw_rails(const Arguments& arguments) {
  const std::uint32_t units = arguments.number("units"), hosts = arguments.number("hosts");
  const std::uint32_t rails = arguments.number("rails"), spines = arguments.number("spines");
  const std::uint32_t parallel = arguments.number("parallel");
  const Size size{
      .switches = product({units, rails}) + spines,
      .host_ports = product({units, rails, hosts}),
      .radix = std::max(hosts + product({spines, parallel}), product({units, rails, parallel}))};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  const std::uint32_t leaves = units * rails;
  Drawing drawing(arguments);
  for (std::uint32_t u = 0; u < units; ++u) {
    for (std::uint32_t r = 0; r < rails; ++r) {
      drawing.add_switch(switch_name({0, u, r}), hosts + spines * parallel);
    }
  }
  for (std::uint32_t s = 0; s < spines; ++s) {
    drawing.add_switch(switch_name({1, s}), leaves * parallel);
  }
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    for (std::uint32_t q = 0; q < spines * parallel; ++q) {
      drawing.cable(leaf, hosts + q + 1, leaves + q % spines, q / spines * leaves + leaf + 1);
    }
  }
  for (std::uint32_t u = 0; u < units; ++u) {
    for (std::uint32_t h = 0; h < hosts; ++h) {
      const std::vector<std::uint32_t> adapters = drawing.add_adapters(rails);
      for (std::uint32_t r = 0; r < rails; ++r) {
        drawing.cable(u * rails + r, h + 1, adapters[r], 1);
      }
    }
  }
  return std::move(drawing).finish();
}

Result<FabricSpec> draw_planes(const Arguments& arguments) {
  const std::uint32_t count = arguments.number("planes"), leaves = arguments.number("leaves");
  const std::uint32_t spines = arguments.number("spines"), hosts = arguments.number("hosts");
  const std::uint32_t cores = arguments.number("cores"), adapters = arguments.adapters;
  if (count % adapters != 0) {
    return fail(
        Errc::Invalid,
        fmt::format("adapters={} do not share planes={} evenly: a divisor of it", adapters, count));
  }
  const Size size{.switches = product({count, leaves + spines}) + cores,
                  .host_ports = product({count, leaves, hosts}),
                  .radix = std::max({std::uint64_t{hosts} + spines,
                                     std::uint64_t{leaves} + cores,
                                     product({count, spines})})};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  const std::uint32_t each = leaves + spines;
  Drawing drawing(arguments);
  for (std::uint32_t p = 0; p < count; ++p) {
    for (std::uint32_t l = 0; l < leaves; ++l) {
      drawing.add_switch(switch_name({p, 0, l}), hosts + spines);
    }
    for (std::uint32_t s = 0; s < spines; ++s) {
      drawing.add_switch(switch_name({p, 1, s}), leaves + cores);
    }
  }
  for (std::uint32_t c = 0; c < cores; ++c) {
    drawing.add_switch(switch_name({count, c}), count * spines);
  }
  for (std::uint32_t p = 0; p < count; ++p) {
    for (std::uint32_t s = 0; s < spines; ++s) {
      const std::uint32_t spine = p * each + leaves + s;
      for (std::uint32_t l = 0; l < leaves; ++l) {
        drawing.cable(p * each + l, hosts + s + 1, spine, l + 1);
      }
      for (std::uint32_t c = 0; c < cores; ++c) {
        drawing.cable(spine, leaves + c + 1, count * each + c, p * spines + s + 1);
      }
    }
  }
  for (std::uint32_t l = 0; l < leaves; ++l) {
    for (std::uint32_t h = 0; h < hosts; ++h) {
      const std::uint32_t ports = count / adapters;
      for (std::uint32_t p = 0; p < count; p += ports) {
        const std::uint32_t adapter = drawing.add_host(ports);
        for (std::uint32_t i = 0; i < ports; ++i) {
          drawing.cable((p + i) * each + l, h + 1, adapter, i + 1);
        }
      }
    }
  }
  return std::move(drawing).finish();
}

constexpr std::array kRailKeys{
    number_key("units", "2", 1, 254).means("units of hosts, with a leaf for each rail"),
    number_key("hosts", "4", 0, 253).means("hosts of a unit"),
    number_key("rails", "4", 1, 254).means("adapters of a host, one on each leaf of its unit"),
    number_key("spines", "4", 1, 253).means("spines above all leaves"),
    number_key("parallel", "1", 1, 253).means("cables between a leaf and each spine"),
};

constexpr std::array kPlaneKeys{
    number_key("planes", "2", 1, 254).means("trees; each host has a port in every one"),
    number_key("leaves", "4", 1, 253).means("leaves of a plane"),
    number_key("spines", "2", 1, 253).means("spines of a plane"),
    number_key("hosts", "4", 0, 253).means("hosts per leaf, the same hosts in every plane"),
    number_key("cores", "1", 0, 253)
        .means("switches above the spines of all planes; 0: each plane is a subnet of its own"),
    number_key(kAdaptersKey.name, "1", 1, 254)
        .means("adapters of a host, which share the planes evenly: a port in each of theirs"),
};

}  // namespace

const Generator kRails{
    .name = "rails",
    .meaning = "rail-optimised tree: hosts of several adapters, each on a leaf of its own",
    .keys = kRailKeys,
    .draw = draw_rails,
};

const Generator kMultiPlane{
    .name = "multi-plane",
    .meaning = "several trees side by side; a host has a port in each",
    .keys = kPlaneKeys,
    .draw = draw_planes,
};

}  // namespace smd::sim
