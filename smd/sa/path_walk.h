// A packet's way from an end port to a LID along the tables in force, and what bounds it.
#pragma once

#include <optional>
#include <vector>

#include "smd/sa/subnet_view.h"

namespace smd::sa {

struct Way {
  std::uint8_t mtu = 0;            // code
  std::uint8_t rate = 0;           // code, see ib/rates.h
  std::optional<std::uint8_t> sl;  // nothing: any
  unsigned links = 0;              // 0: the port itself
};

/// Nothing when the tables lead nowhere, or round in circles. Requires: `source` is an end port.
/// `exits`, if given, receives the ports by which the packet leaves a node.
[[nodiscard]] std::optional<Way> find_way(const SubnetView& view,
                                          PortIdx source,
                                          Lid destination,
                                          std::vector<PortIdx>* exits = nullptr);

}  // namespace smd::sa
