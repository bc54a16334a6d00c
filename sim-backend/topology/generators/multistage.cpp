// bmin and umin: stages of k-by-k switches.
//
// Positions x = switch · k + port number the right side of a stage and the left side of the next.
// The perfect shuffle sends x to (x mod S) · k + x / S, with S switches per stage. The butterfly
// exchanges digit 0 of x, written in base k, with digit i+1 between stages i and i+1. Both reach
// every last-stage switch from every first-stage switch when k^(stages-1) >= S.
#include <fmt/core.h>

#include <array>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {
namespace {

struct Stages {
  std::uint32_t k, stages;
  std::uint64_t per_stage;  // S
  bool butterfly;

  [[nodiscard]] std::uint64_t next_position(std::uint64_t x, std::uint32_t stage) const {
    if (!butterfly) return x % per_stage * k + x / per_stage;
    std::uint64_t weight = k;
    for (std::uint32_t i = 0; i < stage; ++i) weight *= k;
    const std::uint64_t low = x % k;
    const std::uint64_t high = x / weight % k;
    return x - low - high * weight + high + low * weight;
  }

  [[nodiscard]] std::uint64_t full_stage() const {
    std::uint64_t s = 1;
    for (std::uint32_t i = 1; i < stages; ++i) s = product({s, k});
    return s;
  }
};

/// Left ports are 1 … k, right ports k+1 … 2k. Switches are the first nodes, stage by stage.
void draw_stages(Drawing& drawing, const Stages& net) {
  for (std::uint32_t stage = 0; stage < net.stages; ++stage) {
    for (std::uint32_t s = 0; s < net.per_stage; ++s) {
      drawing.add_switch(switch_name({stage, s}), 2 * net.k);
    }
  }
  for (std::uint32_t stage = 0; stage + 1 < net.stages; ++stage) {
    const auto left = static_cast<std::uint32_t>(stage * net.per_stage);
    const auto right = static_cast<std::uint32_t>(left + net.per_stage);
    for (std::uint64_t x = 0; x < net.per_stage * net.k; ++x) {
      const std::uint64_t y = net.next_position(x, stage);
      drawing.cable(left + static_cast<std::uint32_t>(x / net.k),
                    net.k + static_cast<unsigned>(x % net.k) + 1,
                    right + static_cast<std::uint32_t>(y / net.k),
                    static_cast<unsigned>(y % net.k) + 1);
    }
  }
}

Result<Stages> read_stages(const Arguments& arguments, std::uint64_t hosts, unsigned host_ports) {
  Stages net{.k = arguments.number("k"),
             .stages = arguments.number("stages"),
             .butterfly = arguments.word("wiring") == "butterfly"};
  net.per_stage = net.full_stage();
  if (hosts != 0) {
    const std::uint64_t all = product({net.per_stage, net.k});
    if (hosts % net.k != 0 || hosts > all || (net.butterfly && hosts != all)) {
      return fail(Errc::Invalid,
                  fmt::format("hosts={}: a multiple of k={} up to {}, and with the butterfly "
                              "exactly that many",
                              hosts,
                              net.k,
                              all));
    }
    net.per_stage = hosts / net.k;
  }
  const Size size{.switches = product({net.per_stage, net.stages}),
                  .host_ports = product({net.per_stage, net.k, host_ports}),
                  .radix = 2 * std::uint64_t{net.k}};
  if (std::string why = check_size(size); !why.empty()) return fail(Errc::Invalid, std::move(why));
  return net;
}

Result<FabricSpec> draw_bmin(const Arguments& arguments) {
  const Result<Stages> net = read_stages(arguments, arguments.number("hosts"), 1);
  if (!net) return tl::unexpected<Error>(net.error());
  Drawing drawing(arguments);
  draw_stages(drawing, *net);
  for (std::uint32_t x = 0; x < net->per_stage * net->k; ++x) {
    drawing.hang_host(x / net->k, x % net->k + 1);
  }
  return std::move(drawing).finish();
}

Result<FabricSpec> draw_umin(const Arguments& arguments) {
  const Result<Stages> net = read_stages(arguments, 0, 2);
  if (!net) return tl::unexpected<Error>(net.error());
  Drawing drawing(arguments);
  draw_stages(drawing, *net);
  const auto last = static_cast<std::uint32_t>((net->stages - 1) * net->per_stage);
  for (std::uint32_t x = 0; x < net->per_stage * net->k; ++x) {
    const std::uint32_t host = drawing.add_host(2);
    drawing.cable(x / net->k, x % net->k + 1, host, 1);
    drawing.cable(last + x / net->k, net->k + x % net->k + 1, host, 2);
  }
  return std::move(drawing).finish();
}

constexpr Key kRadix = number_key("k", "4", 2, 127).means("ports on each side of a switch");
constexpr Key kStages = number_key("stages", "3", 1, 15).means("stages of k^(stages-1) switches");

constexpr Key wiring_key(std::string_view fallback) {
  return word_key("wiring", fallback, "perfect-shuffle|butterfly")
      .means("permutation between the stages");
}

constexpr std::array kBminKeys{
    kRadix,
    kStages,
    wiring_key("perfect-shuffle"),
    number_key("hosts", "0", 0, 49151)
        .means("narrower stages of hosts/k switches, perfect-shuffle only; 0 is k^stages"),
};

constexpr std::array kUminKeys{kRadix, kStages, wiring_key("butterfly")};

}  // namespace

const Generator kBmin{
    .name = "bmin",
    .meaning = "bidirectional multistage network: hosts on the left side of the first stage",
    .keys = kBminKeys,
    .draw = draw_bmin,
};

const Generator kUmin{
    .name = "umin",
    .meaning =
        "unidirectional multistage network: a host sends from port 1 into the first stage "
        "and receives on port 2 from the last",
    .keys = kUminKeys,
    .draw = draw_umin,
};

}  // namespace smd::sim
