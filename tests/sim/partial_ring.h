// A ring of four switches, for tests of partial discovery.
//
//   H1-S1---S2-H2      ports: hosts on 4 (H1 on 1), S1:2-S2:1, S2:2-S3:1, S3:2-S4:1, S4:2-S1:3
//      |     |         H1 is the manager's; H9 and S9 wait on the shelf
//   H4-S4---S3-H3
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "smd/fabric/builder.h"
#include "tests/sim/partial_lab.h"

namespace smd::test {

using sim::add_node;
using sim::connect;
using sim::FabricSpec;

enum : std::uint32_t { kH1, kS1, kS2, kS3, kS4, kH2, kH3, kH4, kH9, kS9 };

/// NodeInfo, SwitchInfo, the bit cleared, SwitchPortStateTable, and the ports that changed.
constexpr unsigned read_a_switch(unsigned changed) { return 4 + changed; }

/// Without the table: all eight ports.
inline constexpr unsigned kReadEveryPort = 3 + 8;

inline FabricSpec ring() {
  FabricSpec spec;
  add_node(spec, NodeType::Ca, "H1", Guid{0x1010}, 1);
  for (unsigned s = 1; s <= 4; ++s) {
    add_node(spec, NodeType::Switch, fmt::format("S{}", s), Guid{0x2000 + s}, 8);
  }
  for (unsigned h = 2; h <= 4; ++h) {
    add_node(spec, NodeType::Ca, fmt::format("H{}", h), Guid{0x1000 + 0x10 * h}, 1);
  }
  add_node(spec, NodeType::Ca, "H9", Guid{0x1090}, 1);
  add_node(spec, NodeType::Switch, "S9", Guid{0x2009}, 16);
  connect(spec, kH1, port(1), kS1, port(1));
  connect(spec, kS1, port(2), kS2, port(1));
  connect(spec, kS2, port(2), kS3, port(1));
  connect(spec, kS3, port(2), kS4, port(1));
  connect(spec, kS4, port(2), kS1, port(3));
  for (unsigned h = 2; h <= 4; ++h) connect(spec, kH2 + h - 2, port(1), kS1 + h - 1, port(4));
  return spec;
}

struct Ring : PartialLab {
  explicit Ring(FabricSpec spec = ring(), Options options = {})
      : PartialLab(std::move(spec), options) {
    bring_up();
  }

  /// Looks with these suspects; the result must be what a discovery from nothing finds.
  PartialReport look(std::vector<Guid> suspects) {
    transport.clear();
    const auto before = client.stats();
    auto found = partial(std::move(suspects));
    requests = client.stats().requests() - before.requests();
    retries = client.stats().retries - before.retries;
    if (!found) {
      ADD_FAILURE() << found.error().context;
      return {};
    }
    EXPECT_EQ(found->full_needed, "");
    EXPECT_EQ(find_difference(full(), found->sweep), "");
    return std::move(*found);
  }

  [[nodiscard]] std::vector<Guid> guids(std::initializer_list<std::uint32_t> nodes) const {
    std::vector<Guid> out;
    for (const std::uint32_t n : nodes) out.push_back(fabric.spec().nodes[n].guid);
    return out;
  }

  std::uint64_t requests = 0;
  std::uint64_t retries = 0;
};

inline PortRef at(const PartialLab& lab, std::uint32_t node, unsigned number) {
  return {lab.fabric.spec().nodes[node].guid, port(number)};
}

}  // namespace smd::test
