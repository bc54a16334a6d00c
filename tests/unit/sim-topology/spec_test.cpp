// The value itself: what check_spec refuses, and that every fabric survives being written and read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generator.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/base/rng.h"
#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace {

using ::testing::HasSubstr;

FabricSpec pair_of_nodes() {
  FabricSpec spec;
  add_node(spec, NodeType::Ca, "host", Guid{0x10}, 1);
  add_node(spec, NodeType::Switch, "switch", Guid{0x20}, 2);
  connect(spec, 0, PortNum{1}, 1, PortNum{2}, LinkWidth::X4, LinkSpeed::Xdr);
  return spec;
}

struct Damage {
  const char* name;
  void (*act)(FabricSpec&);
  const char* message;
};

void PrintTo(const Damage& damage, std::ostream* os) { *os << damage.name; }

class Damaged : public ::testing::TestWithParam<Damage> {};

TEST_P(Damaged, IsNoticed) {
  FabricSpec spec = pair_of_nodes();
  ASSERT_EQ(check_spec(spec), "");
  GetParam().act(spec);
  EXPECT_THAT(check_spec(spec), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Spec,
    Damaged,
    ::testing::Values(
        Damage{"empty", [](FabricSpec& s) { s.nodes.clear(); }, "no nodes"},
        Damage{"no ports", [](FabricSpec& s) { s.nodes[1].ports.clear(); }, "0 ports"},
        Damage{"255 ports", [](FabricSpec& s) { s.nodes[1].ports.resize(256); }, "1 to 254"},
        Damage{"one way",
               [](FabricSpec& s) { s.nodes[1].ports[2].peer_node = kNoNode; },
               "does not lead back"},
        Damage{"no such peer", [](FabricSpec& s) { s.nodes[1].ports[1].peer_node = 7; }, "exist"},
        Damage{"peer port 0",
               [](FabricSpec& s) { s.nodes[0].ports[1].peer_port = PortNum{0}; },
               "does not exist"},
        Damage{"itself",
               [](FabricSpec& s) {
                 s.nodes[1].ports[1].peer_node = 1;
                 s.nodes[1].ports[1].peer_port = PortNum{1};
               },
               "cabled to itself"},
        Damage{"port 0", [](FabricSpec& s) { s.nodes[1].ports[0].peer_node = 0; }, "port 0"},
        Damage{"two rates",
               [](FabricSpec& s) { s.nodes[1].ports[2].speed = LinkSpeed::Sdr; },
               "differ in rate"},
        Damage{"same GUID",
               [](FabricSpec& s) { s.nodes[1].guid = s.nodes[0].guid; },
               "two nodes share one GUID"},
        Damage{"same port GUID",
               [](FabricSpec& s) { s.nodes[0].ports[1].guid = s.nodes[1].guid; },
               "two ports share one GUID"},
        Damage{"GUID 0", [](FabricSpec& s) { s.nodes[0].guid = Guid{}; }, "GUID 0"},
        Damage{"same id", [](FabricSpec& s) { s.nodes[1].id = s.nodes[0].id; }, "share one id"},
        Damage{"bad id", [](FabricSpec& s) { s.nodes[1].id = "a\"b"; }, "reserved"},
        Damage{"newline", [](FabricSpec& s) { s.nodes[1].description = "a\nb"; }, "control"},
        Damage{"no SM", [](FabricSpec& s) { s.sm_node = 2; }, "does not exist"},
        Damage{"SM on port 0 of an adapter",
               [](FabricSpec& s) { s.sm_port = PortNum{0}; },
               "cannot sit on port 0"},
        Damage{"SM on port 1 of a switch",
               [](FabricSpec& s) { s.sm_node = 1; },
               "cannot sit on port 1"}));

TEST(SpecDeath, RecablingAPortIsABug) {
  FabricSpec spec = pair_of_nodes();
  EXPECT_DEATH(connect(spec, 0, PortNum{1}, 1, PortNum{1}), "already has a cable");
}

TEST(RoundTrip, EveryGenerator) {
  for (const Generator& generator : generators()) {
    const FabricSpec spec = draw(std::string(generator.name));
    const auto again = parse_fabric(print_fabric(spec), "other name");
    ASSERT_TRUE(again) << generator.name;
    EXPECT_EQ(*again, spec) << generator.name;
  }
}

TEST(RoundTrip, EveryWidthAndSpeed) {
  for (const char* width : {"1x", "2x", "4x", "8x", "12x"}) {
    for (const char* speed : {"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}) {
      const FabricSpec spec = draw(std::string("clos:width=") + width + ",speed=" + speed);
      const auto again = parse_fabric(print_fabric(spec), "f");
      ASSERT_TRUE(again);
      EXPECT_EQ(*again, spec) << width << speed;
    }
  }
}

// Each cable of the snapshot has the speed that the text says, those that PortInfo alone does not
// tell apart included.
TEST(Snapshot, EverySpeed) {
  for (const char* speed : {"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}) {
    const FabricSpec spec = draw(std::string("clos:speed=") + speed);
    const auto fabric = build_snapshot(spec);
    std::size_t cables = 0;
    for (const PortIdx port : fabric->peer.indices()) {
      if (fabric->peer[port] == kNone<PortIdx>) continue;
      ++cables;
      const NodeSpec& node = spec.nodes[fabric->node_of[port].value()];
      EXPECT_EQ(link_speed(*fabric, port), node.ports[fabric->number_of(port).value()].speed)
          << speed;
    }
    EXPECT_GT(cables, 0u);
  }
}

/// A fabric with everything that the value can hold, from a seed.
FabricSpec random_fabric(std::uint64_t seed) {
  Rng rng(seed);
  const std::vector<std::string> names{"plain",
                                       "",
                                       "say \"hi\"",
                                       "a # b",
                                       "\"",
                                       "Größe",
                                       "w=1 s=2",
                                       " lid 5 4xSDR",
                                       "back\\slash",
                                       "日本",
                                       "  spaces  ",
                                       "port 0 lid 3"};
  FabricSpec spec;
  spec.title = names[rng.below(names.size())] + "x";
  const std::size_t count = 1 + rng.below(12);
  for (std::size_t n = 0; n < count; ++n) {
    const auto type = static_cast<NodeType>(1 + rng.below(3));
    const auto ports = static_cast<unsigned>(1 + rng.below(6));
    add_node(spec, type, names[rng.below(names.size())], Guid{0x1000 * (n + 1)}, ports);
    NodeSpec& node = spec.nodes.back();
    if (rng.chance(0.5)) node.id = "id " + std::to_string(n) + "é";
    if (rng.chance(0.5)) node.system_guid = Guid{rng.next()};
    if (node.system_guid == Guid{}) node.system_guid = node.guid;
    node.vendor_id = static_cast<std::uint32_t>(rng.below(1 << 24));
    node.device_id = static_cast<std::uint16_t>(rng.below(1 << 16));
    if (type == NodeType::Switch) {
      node.enhanced_port0 = rng.chance(0.5);
      node.ports[0].lid = Lid{static_cast<std::uint16_t>(rng.below(0xC000))};
      node.ports[0].lmc = static_cast<std::uint8_t>(rng.below(8));
    }
  }
  for (int tries = 0; tries < 40; ++tries) {
    const auto a = static_cast<std::uint32_t>(rng.below(count));
    const auto b = static_cast<std::uint32_t>(rng.below(count));
    const PortNum p{static_cast<std::uint8_t>(1 + rng.below(spec.nodes[a].num_ports()))};
    const PortNum q{static_cast<std::uint8_t>(1 + rng.below(spec.nodes[b].num_ports()))};
    if (a == b && p == q) continue;
    if (spec.nodes[a].ports[p.value()].peer_node != kNoNode) continue;
    if (spec.nodes[b].ports[q.value()].peer_node != kNoNode) continue;
    connect(spec,
            a,
            p,
            b,
            q,
            static_cast<LinkWidth>(1u << rng.below(5)),
            static_cast<LinkSpeed>(1 + rng.below(9)));
  }
  for (NodeSpec& node : spec.nodes) {
    for (std::size_t p = 1; p < node.ports.size() && node.type != NodeType::Switch; ++p) {
      if (node.ports[p].peer_node == kNoNode) continue;
      node.ports[p].lid = Lid{static_cast<std::uint16_t>(rng.below(0xC000))};
      node.ports[p].lmc = static_cast<std::uint8_t>(rng.below(8));
      if (rng.chance(0.3)) node.ports[p].guid = Guid{node.guid.value() + 0x100 + p};
    }
  }
  spec.sm_node = static_cast<std::uint32_t>(rng.below(count));
  const NodeSpec& sm = spec.nodes[spec.sm_node];
  spec.sm_port = PortNum{
      static_cast<std::uint8_t>(sm.type == NodeType::Switch ? 0 : 1 + rng.below(sm.num_ports()))};
  return spec;
}

TEST(RoundTrip, AnyFabric) {
  EXPECT_TRUE(rc::check([] {
    const FabricSpec spec = random_fabric(*rc::gen::arbitrary<std::uint64_t>());
    RC_ASSERT(check_spec(spec).empty());
    const auto again = parse_fabric(print_fabric(spec), "f");
    if (!again) RC_FAIL(print_fault(again.error().front()) + "\n" + print_fabric(spec));
    RC_ASSERT(*again == spec);
  }));
}

TEST(Reading, AnyDamageGivesAFabricOrFaults) {
  const std::string text = print_fabric(draw("example:name=fig68"));
  EXPECT_TRUE(rc::check([&text] {
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    std::string damaged = text;
    for (std::uint64_t i = 1 + rng.below(8); i > 0 && !damaged.empty(); --i) {
      const std::size_t at = rng.below(damaged.size());
      switch (rng.below(3)) {
        case 0:
          damaged[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          damaged.erase(at, rng.below(20));
          break;
        default:
          damaged.insert(at, damaged.substr(rng.below(damaged.size()), rng.below(40)));
      }
    }
    const auto spec = parse_fabric(damaged, "f");
    if (spec) {
      RC_ASSERT(check_spec(*spec).empty());
      return;
    }
    RC_ASSERT(!spec.error().empty() && spec.error().size() <= 20);
    for (const Fault& fault : spec.error()) RC_ASSERT(!fault.message.empty());
  }));
}

}  // namespace
}  // namespace smd::sim::testing
