// clos: three stages folded into two, r edge switches with n hosts each under m middle switches.
#include <algorithm>
#include <array>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {
namespace {

Result<FabricSpec> draw_clos(const Arguments& arguments) {
  const std::uint32_t m = arguments.number("m");
  const std::uint32_t n = arguments.number("n");
  const std::uint32_t r = arguments.number("r");
  const Size size{.switches = std::uint64_t{r} + m,
                  .host_ports = product({r, n}),
                  .radix = std::max<std::uint64_t>(std::uint64_t{n} + m, r)};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  Drawing drawing(arguments);
  for (std::uint32_t e = 0; e < r; ++e) drawing.add_switch(switch_name({0, e}), n + m);
  for (std::uint32_t c = 0; c < m; ++c) drawing.add_switch(switch_name({1, c}), r);
  for (std::uint32_t e = 0; e < r; ++e) {
    for (std::uint32_t c = 0; c < m; ++c) drawing.cable(e, n + c + 1, r + c, e + 1);
  }
  for (std::uint32_t e = 0; e < r; ++e) {
    for (unsigned h = 0; h < n; ++h) drawing.hang_host(e, h + 1);
  }
  return std::move(drawing).finish();
}

constexpr std::array kClosKeys{
    number_key("m", "3", 1, 254).means("middle switches"),
    number_key("n", "1", 0, 254).means("hosts per edge switch"),
    kAdaptersKey,
    number_key("r", "4", 1, 254).means("edge switches"),
};

}  // namespace

const Generator kClos{
    .name = "clos",
    .meaning = "folded three-stage Clos network; every edge switch meets every middle switch once",
    .keys = kClosKeys,
    .draw = draw_clos,
    .hosts_key = "n",
};

}  // namespace smd::sim
