// slim-fly: graphs of McKay, Miller and Širáň (1998), diameter 2 with next to the most switches
// that a degree allows (Besta and Hoefler, 2014).
//
// Of a prime q = 4w + d with d 1 or -1 there are switches (0, x, y) and (1, m, c) with numbers
// below q. (0, x, y) is joined to (0, x, y') where y - y' is in X, (1, m, c) to (1, m, c') where c
// - c' is in X', and the two sides where y = m x + c; X and X' are sets of powers of a primitive
// element.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {
namespace {

bool is_prime(std::uint32_t q) {
  for (std::uint32_t f = 2; f * f <= q; ++f) {
    if (q % f == 0) return false;
  }
  return q > 1;
}

/// The powers 0 … q - 2 of the least primitive element, in order.
std::vector<std::uint32_t> powers_of_primitive(std::uint32_t q) {
  for (std::uint32_t root = 2;; ++root) {
    std::vector<std::uint32_t> powers{1};
    while (powers.back() * root % q != 1) powers.push_back(powers.back() * root % q);
    if (powers.size() == q - 1) return powers;
  }
}

struct SlimFly {
  std::uint32_t q;
  std::vector<std::uint32_t> within[2];  // X and X'; each has the negatives of its own

  explicit SlimFly(std::uint32_t prime) : q(prime) {
    const std::vector<std::uint32_t> power = powers_of_primitive(q);
    if (q % 4 == 1) {
      for (std::uint32_t e = 0; e < q - 1; ++e) within[e % 2].push_back(power[e]);
      return;
    }
    // q = 4w - 1: even powers below 2w and odd ones from there on, and the same by one more.
    const std::uint32_t w = (q + 1) / 4;
    for (std::uint32_t e = 0; e < w; ++e) {
      for (std::uint32_t side = 0; side < 2; ++side) {
        within[side].push_back(power[2 * e + side]);
        within[side].push_back(power[(2 * w - 1 + 2 * e + side) % (q - 1)]);
      }
    }
  }

  [[nodiscard]] std::uint32_t index(std::uint32_t side, std::uint32_t x, std::uint32_t y) const {
    return (side * q + x) * q + y;
  }
};

Result<FabricSpec> draw_slim_fly(const Arguments& arguments) {
  const std::uint32_t q = arguments.number("q");
  if (q < 5 || !is_prime(q)) {
    return fail(Errc::Invalid,
                fmt::format("q={}: a prime from 5 on is wanted, as 5, 7, 11, 13, 17, 19", q));
  }
  const SlimFly shape(q);
  const auto degree = static_cast<std::uint32_t>(shape.within[0].size()) + q;
  // As many hosts as carry uniform traffic at full rate (Besta and Hoefler): half of the degree.
  const std::uint32_t asked = arguments.number("hosts");
  const std::uint32_t full_rate = (degree + 1) / 2;
  if (asked == 0 && arguments.adapters > full_rate) {
    return fail(Errc::Invalid,
                fmt::format("adapters={} is too many: q={} carries {} of a switch; hosts=1 or more "
                            "for more",
                            arguments.adapters,
                            q,
                            full_rate));
  }
  const std::uint32_t hosts =
      asked == 0 ? full_rate / arguments.adapters * arguments.adapters : asked;
  const std::uint64_t switches = product({2, q, q});
  const Size size{.switches = switches,
                  .host_ports = product({switches, hosts}),
                  .radix = std::uint64_t{hosts} + degree};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  Drawing drawing(arguments);
  for (std::uint32_t side = 0; side < 2; ++side) {
    for (std::uint32_t x = 0; x < q; ++x) {
      for (std::uint32_t y = 0; y < q; ++y) {
        drawing.add_switch(switch_name({side, x, y}), hosts + degree);
      }
    }
  }
  std::vector<unsigned> next(switches, hosts + 1);
  const auto cable = [&](std::uint32_t a, std::uint32_t b) {
    drawing.cable(a, next[a]++, b, next[b]++);
  };
  for (std::uint32_t side = 0; side < 2; ++side) {
    for (std::uint32_t x = 0; x < q; ++x) {
      for (std::uint32_t y = 0; y < q; ++y) {
        for (const std::uint32_t step : shape.within[side]) {
          const std::uint32_t other = (y + step) % q;
          if (y < other) cable(shape.index(side, x, y), shape.index(side, x, other));
        }
      }
    }
  }
  for (std::uint32_t x = 0; x < q; ++x) {
    for (std::uint32_t m = 0; m < q; ++m) {
      for (std::uint32_t c = 0; c < q; ++c) {
        cable(shape.index(0, x, (m * x + c) % q), shape.index(1, m, c));
      }
    }
  }
  for (std::uint32_t sw = 0; sw < switches; ++sw) {
    for (unsigned h = 0; h < hosts; ++h) drawing.hang_host(sw, h + 1);
  }
  return std::move(drawing).finish();
}

constexpr std::array kSlimFlyKeys{
    number_key("q", "5", 5, 251).means("a prime: 2·q² switches of about 1.5·q links"),
    number_key("hosts", "0", 0, 253)
        .means("hosts per switch; 0: adapters for half as many as links"),
    kAdaptersKey,
};

}  // namespace

const Generator kSlimFly{
    .name = "slim-fly",
    .meaning = "slim fly: diameter 2 on graphs of McKay, Miller and Siran",
    .keys = kSlimFlyKeys,
    .draw = draw_slim_fly,
    .hosts_key = "hosts",
};

}  // namespace smd::sim
