// What a network costs by somebody's prices: a TOML file, every key of which but [floor] is needed.
#pragma once

#include <string>
#include <string_view>

#include "sim-backend/cost/network_parts.h"

namespace smd::sim {

/// In whatever money the file is written in.
struct Prices {
  double switch_each = 0, switch_port = 0;  // per port that it has, used or free
  double adapter_port = 0;
  double copper = 0, copper_m = 0;  // a cable, and each metre of it
  double copper_most_m = 0;         // longer ones are optical
  double optical = 0, optical_m = 0;
  Floor floor;
};

/// Every fault of it, each with its line.
[[nodiscard]] Parsed<Prices> parse_prices(std::string_view text, const std::string& file);

struct NetworkCosts {
  double switches = 0, adapters = 0, cables = 0;
  std::uint64_t copper = 0, optical = 0;  // cables

  [[nodiscard]] double total() const { return switches + adapters + cables; }
};

[[nodiscard]] NetworkCosts add_up(const NetworkParts& parts, const Prices& prices);

}  // namespace smd::sim
