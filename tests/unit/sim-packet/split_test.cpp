// The fabric shared out among partitions, and the queue between two of them.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <set>

#include "sim-backend/packet/partition_link.h"
#include "sim-backend/packet/partition_split.h"
#include "sim-backend/packet/process_link.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

std::size_t cut_cables(const FabricSpec& spec, const std::vector<std::uint32_t>& part) {
  std::size_t ends = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (const PortSpec& port : spec.nodes[n].ports) {
      ends += port.peer_node != kNoNode && part[n] != part[port.peer_node];
    }
  }
  return ends / 2;
}

TEST(PartitionSplit, CutsWhereThereIsOneCable) {
  const FabricSpec spec =
      draw("S1-S2 S2-S3 S3-S1 H1-S1 H2-S2 H3-S3 S3-S4 S4-S5 S5-S6 S6-S4 H4-S4 H5-S5 H6-S6");
  const auto part = split_nodes(spec, 2);
  EXPECT_EQ(cut_cables(spec, part), 1u);
  EXPECT_THAT(part, testing::Contains(0u));
}

// 129 groups, a cable between each two of them: halves of whole groups cut 64 times 65.
TEST(PartitionSplit, KeepsTheGroupsOfALargeDragonflyWhole) {
  const FabricSpec spec = load_fabric("dragonfly:a=16,c=1,h=8").value();
  EXPECT_LE(cut_cables(spec, split_nodes(spec, 2)), 64u * 65u);
}

// Planes of 64 switches; a cut between two planes passes a cable of each switch, twice on a circle.
TEST(PartitionSplit, CutsATorusBetweenPlanes) {
  const FabricSpec spec = load_fabric("torus:dims=8.8.8,hosts=1").value();
  EXPECT_LE(cut_cables(spec, split_nodes(spec, 2)), 2u * 64u);
}

class Split : public testing::TestWithParam<const char*> {};

TEST_P(Split, KeepsAdaptersWithTheirSwitchAndSharesTheWork) {
  const FabricSpec spec = load_fabric(GetParam()).value();
  for (const unsigned parts : {1u, 2u, 3u, 4u, 7u}) {
    const auto part = split_nodes(spec, parts);
    ASSERT_EQ(part.size(), spec.nodes.size());
    EXPECT_EQ(part, split_nodes(spec, parts));
    std::vector<std::size_t> switches(parts), ports(parts);
    std::size_t all = 0;
    for (std::uint32_t n = 0; n < part.size(); ++n) {
      ASSERT_LT(part[n], parts);
      for (const PortSpec& port : spec.nodes[n].ports) {
        if (port.peer_node == kNoNode) continue;
        if (spec.nodes[n].type == NodeType::Ca) {
          EXPECT_EQ(part[n], part[port.peer_node]);
        }
        ++ports[part[n]];
        ++all;
      }
      switches[part[n]] += spec.nodes[n].type == NodeType::Switch;
    }
    for (unsigned i = 0; i < parts; ++i) {
      EXPECT_GT(switches[i], 0u);
      EXPECT_LT(ports[i], 3 * all / (2 * parts) + 24) << i << " of " << parts;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         Split,
                         testing::Values("fat-tree:k=8,levels=3",
                                         "torus:dims=8.8,hosts=2",
                                         "dragonfly:a=4,c=2,h=2",
                                         "irregular:switches=40,seed=3"));

class Neighbours : public testing::TestWithParam<const char*> {};

TEST_P(Neighbours, StayTogetherMoreThanByTurns) {
  const FabricSpec spec = load_fabric(GetParam()).value();
  std::vector<std::uint32_t> striped(spec.nodes.size());
  for (std::uint32_t n = 0; n < striped.size(); ++n) {
    if (spec.nodes[n].type == NodeType::Switch) striped[n] = n % 2;
  }
  for (std::uint32_t n = 0; n < striped.size(); ++n) {
    if (spec.nodes[n].type == NodeType::Switch) continue;
    for (const PortSpec& port : spec.nodes[n].ports) {
      if (port.peer_node != kNoNode) striped[n] = striped[port.peer_node];
    }
  }
  EXPECT_LT(cut_cables(spec, split_nodes(spec, 2)), cut_cables(spec, striped));
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         Neighbours,
                         testing::Values("torus:dims=8.8,hosts=2",
                                         "dragonfly:a=4,c=2,h=2",
                                         "irregular:switches=40,seed=3"));

TEST(PartitionSplit, ATorusIsCutAcross) {
  const FabricSpec spec = load_fabric("torus:dims=8.8,hosts=1").value();
  // Two cuts through eight rings are 16.
  EXPECT_LE(cut_cables(spec, split_nodes(spec, 2)), 24u);
}

TEST(PartitionSplit, RefusesWhatCannotRunSideBySide) {
  const FabricSpec spec = draw("H1-S1 S1-S2 S2-H2");
  PacketOptions options = PacketOptions::modern();
  const auto why = [&](unsigned partitions) {
    options.partitions = partitions;
    return check_partitions(spec, options);
  };
  EXPECT_EQ(why(1), "");
  EXPECT_EQ(why(2), "");
  EXPECT_EQ(why(0), "0 partitions; a fabric of 2 switches has 1 to 2");
  EXPECT_EQ(why(3), "3 partitions; a fabric of 2 switches has 1 to 2");
  options.links.propagation = 0;
  EXPECT_THAT(why(2), testing::HasSubstr("without propagation"));
  EXPECT_EQ(why(1), "") << "one partition has nobody to wait for";
}

TEST(MemoryLink, GivesEachWindowOnce) {
  MemoryLink link;
  const auto taken = [&] {
    std::vector<Picos> out;
    for (const Crossing& crossing : link.take()) out.push_back(crossing.at);
    return out;
  };
  link.post({.at = 1, .packet = {}});
  link.post({.at = 2, .packet = {}});
  link.close();
  EXPECT_THAT(taken(), testing::ElementsAre(1, 2));
  link.close();
  EXPECT_THAT(taken(), testing::ElementsAre());
  link.post({.at = 3, .packet = {}});
  link.close();
  // The sender is a window ahead.
  link.post({.at = 4, .packet = {}});
  EXPECT_THAT(taken(), testing::ElementsAre(3));
  link.close();
  EXPECT_THAT(taken(), testing::ElementsAre(4));
}

/// Everything that a crossing has to bring, as text.
std::string print(const Crossing& c) {
  const DataPacket& p = c.packet;
  return fmt::format("{} {} {} {}: {} {} {} {}, {} {} {} {}\n",
                     c.at,
                     static_cast<int>(c.step),
                     c.index,
                     c.argument,
                     p.ready,
                     p.source,
                     p.via,
                     static_cast<int>(p.phase),
                     c.origin.generated,
                     c.origin.injected,
                     c.origin.tag,
                     c.origin.number);
}

TEST(ProcessLink, BringsOverWhatWasPostedOrSaysThatItIsCutShort) {
  const Picos far = Picos{1} << 50;
  const DataPacket packet{.ready = far, .source = 7, .via = 0x89abcdef, .phase = 3};
  const Origin origin{.generated = 11, .injected = far + 1, .tag = 12, .number = 0xffffffff};
  // A packet comes with its arrival and its delivery, and with nothing else.
  const std::vector<Crossing> posted{
      {.at = 1,
       .step = NetStep::Arrive,
       .index = 2,
       .argument = 65535,
       .packet = packet,
       .origin = origin},
      {.at = far,
       .step = NetStep::CreditArrives,
       .index = 0xffffffff,
       .argument = 0xffffffff,
       .packet = {},
       .origin = {}},
      {.at = 3,
       .step = NetStep::Deliver,
       .index = 4,
       .argument = 5,
       .packet = packet,
       .origin = origin},
      {.at = 6, .step = NetStep::LossKnown, .index = 7, .argument = 8, .packet = {}, .origin = {}}};
  ProcessLink from, to;
  std::string expected;
  for (const Crossing& crossing : posted) {
    from.post(crossing);
    expected += print(crossing);
  }
  Processes::Bytes message(3, std::byte{9});  // of somebody else, before and behind
  from.write(message);
  const std::size_t end = message.size();
  message.push_back(std::byte{9});
  const std::span<const std::byte> all(message);
  std::span<const std::byte> left = all.subspan(3);
  ASSERT_TRUE(to.read(left));
  EXPECT_EQ(left.size(), 1u) << "the rest is somebody else's";
  std::string told;
  for (const Crossing& crossing : to.take()) told += print(crossing);
  EXPECT_EQ(told, expected);

  for (std::size_t length = 0; length < end - 3; ++length) {
    std::span<const std::byte> cut = all.subspan(3, length);
    EXPECT_FALSE(to.read(cut)) << length << " of " << end - 3 << " bytes";
  }
  Processes::Bytes nothing;
  from.write(nothing);
  left = nothing;
  EXPECT_TRUE(to.read(left)) << "what was posted goes once";
  EXPECT_TRUE(to.take().empty());
}

}  // namespace
}  // namespace smd::sim::test
