// Whatever a client injects, the fabric neither crashes nor hangs, and counts what it lost.
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace {

constexpr AttributeId kAttributes[] = {AttributeId::NodeDescription,
                                       AttributeId::NodeInfo,
                                       AttributeId::SwitchInfo,
                                       AttributeId::GuidInfo,
                                       AttributeId::PortInfo,
                                       AttributeId::PKeyTable,
                                       AttributeId::SlToVlMappingTable,
                                       AttributeId::VlArbitrationTable,
                                       AttributeId::LinearForwardingTable,
                                       AttributeId::RandomForwardingTable,
                                       AttributeId::MulticastForwardingTable,
                                       AttributeId::SmInfo,
                                       AttributeId::Notice,
                                       AttributeId::GeneralInfo,
                                       AttributeId::AdaptiveRoutingInfo,
                                       AttributeId::PrivateLftInfo,
                                       AttributeId::ExtendedPortInfo};

/// A SMP that is nearly right: a real attribute and route, random data, then some bytes damaged.
MadPacket nearly_right(Rng& rng) {
  Smp smp = request(rng.chance(0.7) ? Method::Set : Method::Get,
                    kAttributes[rng.below(std::size(kAttributes))],
                    static_cast<std::uint32_t>(rng.chance(0.8) ? rng.below(6) : rng.next()));
  smp.directed = rng.chance(0.7);
  smp.hop_count = static_cast<std::uint8_t>(rng.below(5));
  for (unsigned i = 1; i < 6; ++i) smp.initial_path[i] = static_cast<std::uint8_t>(rng.below(6));
  if (rng.chance(0.2)) smp.dr_slid = lid_of(static_cast<unsigned>(rng.below(6)));
  if (rng.chance(0.2)) smp.dr_dlid = lid_of(static_cast<unsigned>(rng.below(6)));
  for (std::byte& b : smp.data) b = static_cast<std::byte>(rng.chance(0.5) ? 0 : rng.next());
  MadPacket packet;
  encode_smp(smp, packet.mad);
  for (std::uint64_t n = rng.below(4); n-- > 0;) {
    packet.mad[rng.below(rng.chance(0.5) ? 64 : kMadSize)] = static_cast<std::byte>(rng.next());
  }
  packet.remote_lid = smp.directed && rng.chance(0.8) ? kPermissiveLid
                                                      : lid_of(static_cast<unsigned>(rng.below(6)));
  if (rng.chance(0.1)) packet.local_qp = packet.remote_qp = 1;
  return packet;
}

class Garbage : public ::testing::TestWithParam<bool> {};

TEST_P(Garbage, IsSurvived) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    Rig rig(figure(true),
            GetParam() ? Timing::modern() : Timing::none(),
            seed,
            {.adaptive_routing = true});
    rig.fabric.set_wire_faults({.duplicate = 0.01, .corrupt = 0.05, .corrupt_undetected = true});
    for (int i = 0; i < 1000; ++i) {
      rig.fabric.inject(rig.client, nearly_right(rng));
      if (i % 16 == 0) rig.run(std::chrono::microseconds(100));
      if (i % 200 == 100) rig.fabric.reboot_node(2, std::chrono::microseconds(50));
    }
    rig.run(std::chrono::minutes(2));
    EXPECT_GT(rig.fabric.stats().agent_requests, 0u);
    EXPECT_EQ(rig.fabric.stats().injected, 1000u);
  }
}

INSTANTIATE_TEST_SUITE_P(Timings, Garbage, ::testing::Bool());

}  // namespace
}  // namespace smd::sim::test
