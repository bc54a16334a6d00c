// Agents that lie: whatever they answer, discovery ends, with a snapshot that holds together.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "sim-backend/management/sim_transport.h"
#include "sim-backend/management/smp_tap.h"
#include "sim-backend/management/timed_fabric.h"
#include "smd/base/rng.h"
#include "smd/discovery/discovery.h"
#include "smd/mad/tables.h"
#include "tests/support/port_num.h"

namespace smd::test {
namespace lies_test {

using sim::add_node;
using sim::connect;
using sim::is_about;

/// Three switches in a ring with two cables between neighbours, two hosts on each, one of them by
/// two ports.
sim::FabricSpec ring() {
  sim::FabricSpec spec;
  const auto manager = add_node(spec, NodeType::Ca, "H0", Guid{0x1000}, 2);
  std::vector<std::uint32_t> switches;
  for (unsigned i = 0; i < 3; ++i)
    switches.push_back(add_node(spec, NodeType::Switch, "S", Guid{0x2000 + i}, 8));
  connect(spec, manager, port_num(1), switches[0], port_num(8));
  for (unsigned i = 0; i < 3; ++i) {
    connect(spec, switches[i], port_num(1), switches[(i + 1) % 3], port_num(3));
    connect(spec, switches[i], port_num(2), switches[(i + 1) % 3], port_num(4));
    const auto both = add_node(spec, NodeType::Ca, "H", Guid{0x1010 + i}, 2);
    const auto one = add_node(spec, NodeType::Ca, "H", Guid{0x1020 + i}, 1);
    connect(spec, both, port_num(1), switches[i], port_num(5));
    connect(spec, both, port_num(2), switches[i], port_num(6));
    connect(spec, one, port_num(1), switches[i], port_num(7));
  }
  return spec;
}

struct Liars : sim::TimedFabric {
  explicit Liars(std::uint64_t seed)
      : TimedFabric(ring(), sim::Timing::modern(), seed),
        transport(fabric, 0, port_num(1)),
        tap(transport),
        client(runtime, tap, SmpClientConfig{}),
        rng(seed) {
    tap.on_receive = [this](Smp& smp) {
      if (smp.hop_count > 0 && rng.below(100) < percent) lie(smp);
      return true;
    };
  }

  /// GUIDs, kinds and numbers that others have, so that each lie meets what was found before.
  void lie(Smp& smp) {
    if (is_about(smp, AttributeId::NodeInfo)) {
      NodeInfo info = decode_node_info(smp.data).value();
      const std::uint64_t first = rng.below(3) == 0 ? 0x2000 : 0x1000 + 16 * rng.below(3);
      if (rng.below(2) == 0) info.node_guid = Guid{first + rng.below(3)};
      if (rng.below(3) == 0) info.port_guid = Guid{first + rng.below(3)};
      if (rng.below(3) == 0) info.node_type = static_cast<std::uint8_t>(rng.below(5));
      if (rng.below(2) == 0) info.num_ports = static_cast<std::uint8_t>(rng.below(10));
      if (rng.below(3) == 0) info.local_port = port_num(static_cast<unsigned>(rng.below(10)));
      encode_node_info(info, smp.data);
    } else {
      for (unsigned times = 0; times < 8; ++times)
        smp.data[rng.below(smp.data.size())] = static_cast<std::byte>(rng.below(256));
    }
  }

  std::optional<Result<SweepReport>> sweep(RequestSet requests) {
    std::optional<Result<SweepReport>> found;
    Discovery discovery(client, {.requests = requests}, Epoch{1});
    discovery.start([&](Result<SweepReport> report) { found = std::move(report); });
    run_until([&] { return found.has_value(); }, std::chrono::minutes(10));
    return found;
  }

  sim::SimTransport transport;
  sim::SmpTap tap;
  SmpClient client;
  Rng rng;
  std::uint64_t percent = 0;
};

TEST(Lies, AFullDiscoveryEndsWithASnapshotThatHoldsTogether) {
  unsigned whole = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Liars lab(seed);
    lab.percent = seed % 2 == 0 ? 15 : 50;
    const auto found = lab.sweep(seed % 3 == 0 ? RequestSet::Thesis : RequestSet::Fewest);
    ASSERT_TRUE(found) << "it does not end, seed " << seed;
    if (!*found) continue;
    ++whole;
    ASSERT_EQ(check_invariants(*(*found)->fabric), "") << "seed " << seed;
  }
  EXPECT_GT(whole, 900u) << "few lies leave nothing to show";
}

TEST(Lies, APartialDiscoveryEndsWithASnapshotThatHoldsTogether) {
  unsigned whole = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Liars lab(seed);
    const auto before = lab.sweep(RequestSet::Fewest);
    ASSERT_TRUE(before && *before);
    const SweepReport& known = **before;
    for (unsigned change = 0; change < 3; ++change)
      lab.fabric.set_link(1 + static_cast<std::uint32_t>(lab.rng.below(3)),
                          port_num(1 + static_cast<unsigned>(lab.rng.below(7))),
                          false);
    lab.run_for(std::chrono::seconds(1));
    for (std::uint32_t node = 1; node <= 3; ++node) {
      for (unsigned p = 1; p <= 7; ++p) {
        if (lab.rng.below(3) == 0) lab.fabric.set_link(node, port_num(p), true);
      }
    }
    lab.percent = seed % 2 == 0 ? 15 : 50;
    PartialDiscovery discovery(lab.client, {}, Epoch{2});
    std::optional<Result<PartialReport>> found;
    discovery.start({.sweep = &known},
                    {Guid{0x2000}, Guid{0x2001}, Guid{0x2002}},
                    [&](Result<PartialReport> report) { found = std::move(report); });
    lab.run_until([&] { return found.has_value(); }, std::chrono::minutes(10));
    ASSERT_TRUE(found) << "it does not end, seed " << seed;
    if (!*found || !(*found)->full_needed.empty()) continue;
    ++whole;
    ASSERT_EQ(check_invariants(*(*found)->sweep.fabric), "") << "seed " << seed;
  }
  EXPECT_GT(whole, 100u) << "most lies do not make a full discovery necessary";
}

}  // namespace lies_test
}  // namespace smd::test
