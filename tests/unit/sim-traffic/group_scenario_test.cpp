// [[group]] of scenarios: who is in it, the tables that switches get, and what packets make of
// them, judged by deliveries and by bytes on cables: nothing here knows the trees.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "sim-backend/kernel/thread_team.h"
#include "sim-backend/scenario/result_text.h"
#include "sim-backend/scenario/run.h"
#include "tests/support/scenario_text.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace group_scenario_test {

using testing::HasSubstr;

constexpr const char* kLeaves = "[fabric]\nname = \"fat-tree:k=4,levels=2\"\n";

TEST(GroupScenario, FaultsHaveTheirLineAndSayWhatWouldBeRight) {
  const auto with = [](const std::string& rest) { return fault_of_text(kLeaves + rest); };
  EXPECT_EQ(with("group = 3\n"),
            "s.toml:3: unknown key fabric.group; the nearest known one is "
            "fabric.mtu");
  EXPECT_EQ(fault_of_text("group = 3\n"), "s.toml:1: group is a list of tables; write [[group]]");
  EXPECT_EQ(with("[[group]]\nmembers = [\"host-00000\", \"host-00009\"]\n"),
            "s.toml:4: group.members: no host is called host-00009; did you mean host-00000?");
  EXPECT_EQ(with("[[group]]\nmembers = []\n"),
            "s.toml:4: group.members must be \"all\", a host, or a list of hosts");
  EXPECT_EQ(with("[[group]]\nmembers = \"host-00000\"\n"),
            "s.toml:4: a group of one member has nobody to send to: at least two");
  EXPECT_EQ(with("[[group]]\nleaf = \"sw-9-9\"\n"),
            "s.toml:4: group.leaf: no switch is called sw-9-9; did you mean sw-0-0?");
  EXPECT_EQ(with("[[group]]\nleaf = \"sw-1-0\"\n"),
            "s.toml:4: group.leaf: sw-1-0 is a switch without hosts");
  EXPECT_EQ(with("[[group]]\ncount = 1\n"), "s.toml:4: group.count must be 2 to 49151");
  EXPECT_EQ(with("[[group]]\nrandom = 9\n"), "s.toml:4: group.random is 9: the fabric has 8 hosts");
  EXPECT_EQ(with("[[group]]\ncount = 2\nleaf = \"sw-0-0\"\n"),
            "s.toml:5: a group's members are one of members, leaf, count and random");
  EXPECT_EQ(with("[[group]]\nseed = 2\n"), "s.toml:3: group.seed is of group.random; leave it out");
  EXPECT_EQ(with("[[group]]\nmlid = 0xbfff\n"), "s.toml:4: group.mlid must be 0xc000 to 0xfffe");
  EXPECT_EQ(with("[[group]]\nmlid = 0xfffe\n"),
            "s.toml:4: group.mlid is 0xfffe: switches have room for 0xc000 to 0xc3ff");
  EXPECT_EQ(with("[[group]]\nmlid = 0xc001\n[[group]]\nmlid = 0xc001\n"),
            "s.toml:6: group.mlid 0xc001 is that of the group in line 4; leave it out, or take "
            "another");
  EXPECT_EQ(
      with("[[group]]\nmember = \"all\"\n"),
      "s.toml:4: unknown key group.member; known are members, leaf, count, random, seed, sender, "
      "mlid");
  EXPECT_EQ(with("[[group]]\nsender = \"host-00009\"\n"),
            "s.toml:4: group.sender: no host is called host-00009; did you mean host-00000?");
  EXPECT_EQ(with("[[group]]\nsender = 3\n"), "s.toml:4: group.sender must be a host");
  EXPECT_EQ(with("[traffic]\ncollective = \"in-network-all-reduce\"\n[[group]]\nsender = "
                 "\"host-00001\"\n"),
            "s.toml:6: in-network-all-reduce: every member of its group receives; leave "
            "group.sender out");
  EXPECT_EQ(with("[[group]]\ncount = 4\n[[fault]]\nat_us = 90\nwhat = \"link-down\"\n"
                 "where = \"sw-0-0:1\"\n"),
            "s.toml:4: a [[group]] is of a network that does not change; leave it or the [[fault]] "
            "out");
  EXPECT_EQ(with("model = \"worms\"\n[[group]]\n"),
            "s.toml:4: a [[group]] is of fabric.model = \"packets\"; messages of worms go to "
            "several hosts by traffic.destinations");
  EXPECT_EQ(with("[traffic]\nmulticast_share = 0.1\n"),
            "s.toml:4: traffic.multicast_share needs a [[group]]");
  EXPECT_EQ(with("[traffic]\ncollective = \"multicast-broadcast\"\n"),
            "s.toml:4: this traffic.collective needs a [[group]]: the members of the first one "
            "take part");
  EXPECT_EQ(with("[traffic]\ncollective = \"multicast-broadcasts\"\n"),
            "s.toml:4: traffic.collective must be \"all-to-all-exchange\", \"ring-all-reduce\", "
            "\"tree-all-reduce\", \"binomial-broadcast\", \"multicast-broadcast\", "
            "\"multicast-all-reduce\" or \"in-network-all-reduce\"");
  EXPECT_EQ(with("[traffic]\ncollective = \"ring-all-reduce\"\nsegment = 9\n"),
            "s.toml:5: traffic.segment is of binomial-broadcast and multicast-all-reduce; leave it "
            "out");
  EXPECT_EQ(with("[traffic]\ncollective = \"ring-all-reduce\"\ncombine_ns = 9\n"),
            "s.toml:5: traffic.combine_ns is of in-network-all-reduce; leave it out");
  EXPECT_EQ(
      with("[traffic]\ncollective = \"in-network-all-reduce\"\ncombine_radix = 2\n[[group]]\n"),
      "s.toml:4: in-network-all-reduce: sw-0-0 has 3 hosts and switches of the group below "
      "it; traffic.combine_radix = 3 or more, or a group that is spread more");
  EXPECT_EQ(fault_of_text("[fabric]\nname = \"hamming:dims=3.3\"\nvls = 2\n[routes]\nrule = "
                          "\"valiant\"\n[[group]]\n"),
            "s.toml:6: packets to a [[group]] go by the tables; leave it or routes.rule out");
  EXPECT_THAT(with("[switch]\noutput_buffers = false\ncopies = \"together\"\n[[group]]\n"),
              HasSubstr("switch.output_buffers = true"));
}

std::vector<HostNum> members_of(const std::string& group) {
  const auto made = prepare_text(kLeaves + ("[[group]]\n" + group));
  if (!made) ADD_FAILURE() << print_fault(made.error().at(0));
  return made ? made->groups().groups.at(0).members : std::vector<HostNum>{};
}

TEST(GroupScenario, MembersAreNamedCountedDrawnOrOfALeaf) {
  using testing::ElementsAre;
  EXPECT_THAT(members_of(""), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(members_of("members = \"all\"\n"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(members_of("members = [\"host-00005\", \"host-00001\", \"host-00005\"]\n"),
              ElementsAre(1, 5));
  EXPECT_THAT(members_of("count = 3\n"), ElementsAre(0, 1, 2));
  EXPECT_THAT(members_of("leaf = [\"sw-0-1\", \"sw-0-3\"]\n"), ElementsAre(2, 3, 6, 7));
  EXPECT_EQ(members_of("random = 4\n").size(), 4u);
  EXPECT_EQ(members_of("random = 4\nseed = 5\n"), members_of("random = 4\nseed = 5\n"));
  std::set<std::vector<HostNum>> drawn;
  for (int seed = 0; seed < 10; ++seed) {
    drawn.insert(members_of(fmt::format("random = 4\nseed = {}\n", seed)));
  }
  EXPECT_GT(drawn.size(), 4u);
}

TEST(GroupScenario, MlidsAreTheLowestThatAreFree) {
  const auto made = prepare_text(std::string(kLeaves) +
                                 "[[group]]\n[[group]]\nmlid = 0xC000\n[[group]]\ncount = 3\n");
  ASSERT_TRUE(made);
  const auto& groups = made->groups().groups;
  EXPECT_EQ(groups[0].mlid, Lid{0xC001});
  EXPECT_EQ(groups[1].mlid, Lid{0xC000});
  EXPECT_EQ(groups[2].mlid, Lid{0xC002});
}

/// One packet of every member; who got what of whom.
std::map<std::pair<HostNum, HostNum>, int> send_from_all(const PreparedScenario& made,
                                                         const std::vector<NodeState>& nodes,
                                                         const PacketOptions& options,
                                                         Picos apart) {
  PacketNet net(made.spec(), options);
  for (std::uint32_t n = 0; n < nodes.size(); ++n) net.load(n, nodes[n]);
  const ProgrammedGroup& group = made.groups().groups.at(0);
  std::vector<Script::Line> lines;
  for (const HostNum host : group.members) {
    lines.push_back({.at = static_cast<Picos>(lines.size()) * apart,
                     .source = host,
                     .what = {.dlid = group.mlid, .sl = group.sl, .payload = 300}});
  }
  Script script(lines);
  net.set_workload(&script);
  net.set_observer(&script);
  net.start();
  net.run_until(50 * kMilli);
  EXPECT_EQ(net.audit(), "");
  std::map<std::pair<HostNum, HostNum>, int> got;
  for (const Delivery& each : script.arrivals) ++got[{each.source, each.destination}];
  return got;
}

/// What is not as it should be of these deliveries; empty when all is well.
std::string judge(const std::map<std::pair<HostNum, HostNum>, int>& got,
                  const std::vector<HostNum>& members) {
  std::size_t expected = 0;
  for (const HostNum from : members) {
    for (const HostNum to : members) {
      if (from == to) continue;
      ++expected;
      const auto at = got.find({from, to});
      const int times = at == got.end() ? 0 : at->second;
      if (times != 1) return fmt::format("{} got {} copies of {}'s packet", to, times, from);
    }
  }
  return got.size() == expected ? "" : "somebody got a packet who is no member, or his own";
}

class Trees : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         Trees,
                         testing::Values("fat-tree:k=4,levels=3",
                                         "torus:dims=4.4,hosts=2",
                                         "dragonfly:a=4,c=2,h=2",
                                         "irregular:switches=24,seed=3"));

std::string scenario(const char* fabric, const char* shape, const char* copies, const char* who) {
  return fmt::format(
      "[fabric]\nname = \"{}\"\nmulticast_trees = \"{}\"\n[switch]\ncopies = \"{}\"\n[[group]]\n{}",
      fabric,
      shape,
      copies,
      who);
}

TEST_P(Trees, EveryMemberGetsEveryPacketOnceAndNobodyElseAny) {
  for (const char* shape : {"up-down", "path-shared", "dual-path"}) {
    for (const char* copies : {"in-turn", "together"}) {
      for (const char* who : {"", "random = 5\nseed = 3\n", "random = 9\n"}) {
        const auto made = prepare_text(scenario(GetParam(), shape, copies, who));
        ASSERT_TRUE(made) << print_fault(made.error().at(0));
        const PacketOptions& options = made->scenario().packet;
        for (const Picos apart : {Picos{0}, 100 * kMicro}) {
          EXPECT_EQ(judge(send_from_all(*made, made->fabric().nodes, options, apart),
                          made->groups().groups[0].members),
                    "")
              << shape << ' ' << copies << ' ' << who;
        }
      }
    }
  }
}

// A sender that is no receiver; it need not be among those who are named. Trees made for it alone
// are no longer than those for all.
TEST_P(Trees, OfOneSenderBringItsPacketsToAllOthers) {
  double hops = 0;
  for (const char* shape : {"up-down", "by-sender", "multi-path"}) {
    const auto made = prepare_text(
        scenario(GetParam(), shape, "in-turn", "random = 9\nsender = \"host-00003\"\n"));
    ASSERT_TRUE(made) << print_fault(made.error().at(0));
    const ProgrammedGroup& group = made->groups().groups[0];
    const std::uint32_t sender = group.sender.value();
    EXPECT_TRUE(std::ranges::binary_search(group.members, sender));
    const auto got =
        send_from_all(*made, made->fabric().nodes, made->scenario().packet, 100 * kMicro);
    for (const HostNum to : group.members) {
      const auto at = got.find({sender, to});
      EXPECT_EQ(at == got.end() ? 0 : at->second, to == sender ? 0 : 1) << shape << ' ' << to;
    }
    for (const auto& [ends, times] : got) {
      EXPECT_TRUE(std::ranges::binary_search(group.members, ends.second)) << "no member";
      EXPECT_NE(ends.second, sender) << "it receives nothing";
      EXPECT_EQ(times, 1) << shape;
    }
    if (std::string_view(shape) == "up-down") hops = group.quality.mean_hops();
    if (std::string_view(shape) == "by-sender") {
      EXPECT_LE(group.quality.mean_hops(), hops);
    }
  }
}

/// The judge is no rubber stamp: rows with a port too few or too many.
TEST_P(Trees, ARowThatIsWrongIsSeen) {
  const auto made = prepare_text(scenario(GetParam(), "up-down", "in-turn", "random = 6\n"));
  ASSERT_TRUE(made);
  const ProgrammedGroup& group = made->groups().groups[0];
  const std::size_t at = group.mlid.value() - 0xC000;
  const auto with = [&](auto change) {
    auto nodes = std::vector<NodeState>();
    for (std::uint32_t n = 0; n < made->spec().nodes.size(); ++n) {
      NodeState node = power_on(made->spec().nodes[n], {}, 0);
      const NodeState& from = made->fabric().nodes[n];
      node.switch_info = from.switch_info;
      for (std::size_t p = 0; p < node.ports.size(); ++p) node.ports[p].info = from.ports[p].info;
      node.lft = from.lft;
      node.mft = from.mft;
      node.sl_to_vl = from.sl_to_vl;
      nodes.push_back(std::move(node));
    }
    change(nodes);
    return judge(send_from_all(*made, nodes, made->scenario().packet, 100 * kMicro), group.members);
  };
  EXPECT_EQ(with([](auto&) {}), "");
  for (const TreeNode& each : group.tree) {
    EXPECT_NE(with([&](std::vector<NodeState>& nodes) {
                std::uint16_t& row = nodes[each.node].mft[0].at(at);
                row = static_cast<std::uint16_t>(row & (row - 1));
              }),
              "")
        << "a copy too few at " << made->spec().nodes[each.node].description;
  }
  bool more = false;
  EXPECT_NE(with([&](std::vector<NodeState>& nodes) {
              // To a host who is in no group, at the first switch that has one.
              for (HostNum host = 0; host < made->fabric().host_lids.size() && !more; ++host) {
                if (std::ranges::binary_search(group.members, host)) continue;
                for (const TreeNode& each : group.tree) {
                  const auto& ports = made->spec().nodes[each.node].ports;
                  for (std::size_t p = 1; p < ports.size() && p < 16 && !more; ++p) {
                    const std::uint32_t far = ports[p].peer_node;
                    if (far == kNoNode || made->spec().nodes[far].type == NodeType::Switch)
                      continue;
                    std::uint16_t& row = nodes[each.node].mft[0].at(at);
                    if ((row >> p & 1) != 0) continue;
                    row = static_cast<std::uint16_t>(row | 1u << p);
                    more = true;
                  }
                }
              }
            }),
            more ? "" : "none");
}

/// Switches joined by cables that carried the packet.
struct Used {
  explicit Used(std::size_t nodes) : root(nodes) { std::iota(root.begin(), root.end(), 0u); }

  std::uint32_t find(std::uint32_t at) {
    while (root[at] != at) at = root[at] = root[root[at]];
    return at;
  }

  /// False where they were joined already.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    root[a] = b;
    return a != b;
  }

  std::vector<std::uint32_t> root;
};

TEST_P(Trees, EveryCableOfTheTreeCarriesOneCopyAndTheyAreATree) {
  for (const char* copies : {"in-turn", "together"}) {
    const auto made = prepare_text(scenario(GetParam(), "up-down", copies, "random = 7\n"));
    ASSERT_TRUE(made);
    const ProgrammedGroup& group = made->groups().groups[0];
    const FabricSpec& spec = made->spec();
    for (const HostNum sender : group.members) {
      PacketNet net(spec, made->scenario().packet);
      for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) net.load(n, made->fabric().nodes[n]);
      net.send(sender, {.dlid = group.mlid, .sl = group.sl, .payload = 100});
      net.run_until(kMilli);
      Used used(spec.nodes.size());
      unsigned cables = 0, hosts = 0;
      for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
        if (spec.nodes[n].type != NodeType::Switch) continue;
        for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
          const std::uint64_t bytes = net.sent_bytes(n, PortNum{static_cast<std::uint8_t>(p)});
          if (bytes == 0) continue;
          EXPECT_EQ(bytes, 126u) << "one copy";
          const std::uint32_t far = spec.nodes[n].ports[p].peer_node;
          if (spec.nodes[far].type != NodeType::Switch) {
            ++hosts;
            continue;
          }
          ++cables;
          EXPECT_TRUE(used.join(n, far)) << "a circle";
        }
      }
      EXPECT_EQ(hosts, group.members.size() - 1);
      // As many cables as joins, and all switches of members in one piece: a tree.
      const SwitchIdx own = made->fabric().host_leaf[sender];
      const auto node_of = [&](SwitchIdx sw) {
        return made->fabric().snapshot->switch_node[sw].value();
      };
      for (const HostNum to : group.members) {
        EXPECT_EQ(used.find(node_of(made->fabric().host_leaf[to])), used.find(node_of(own)));
      }
      EXPECT_EQ(cables, group.quality.cables);
      EXPECT_EQ(net.stats().hops, cables + hosts);
      EXPECT_EQ(net.stats().replicated, hosts - 1);
    }
  }
}

TEST_P(Trees, PartitionsChangeNothing) {
  for (const char* copies : {"in-turn", "together"}) {
    for (const char* traffic :
         {"pattern = \"uniform\"\nmulticast_share = 0.2\nsize = 700\n",
          "collective = \"multicast-broadcast\"\nbytes = 50000\n",
          "collective = \"multicast-all-reduce\"\nbytes = 50000\nsegment = 8192\n",
          "collective = \"in-network-all-reduce\"\nbytes = 50000\n"}) {
      const bool is_open = std::string_view(traffic).starts_with("pattern");
      const std::string times =
          is_open ? "warm_up_us = 5\nleast_intervals = 4\nmost_intervals = 4\n" : "";
      std::set<std::uint64_t> hashes;
      std::set<Picos> ends;
      for (const unsigned partitions : {1u, 2u, 4u}) {
        const auto made =
            prepare_text(scenario(GetParam(), "up-down", copies, "random = 11\n") + "[traffic]\n" +
                             traffic + "[measure]\ninterval_us = 5\n" + times,
                         partitions);
        ASSERT_TRUE(made) << print_fault(made.error().at(0));
        const PointResult result = made->run(0.4, 3);
        EXPECT_EQ(result.audit, "");
        hashes.insert(result.stats.digest);
        ends.insert(result.completed_at);
      }
      EXPECT_EQ(hashes.size(), 1u) << copies << ' ' << traffic;
      EXPECT_EQ(ends.size(), 1u);
    }
  }
}

// Routes of minhop close a circle on a torus: groups get the last of two lanes, as from the
// manager, and with one lane it is said that there is none.
TEST(GroupScenario, GroupsThatNeedALaneHaveIt) {
  const auto text = [](unsigned vls, const char* engine) {
    return fmt::format(
        "[fabric]\nname = \"torus:dims=4.4,hosts=1\"\nengine = \"{}\"\nvls = {}\n"
        "[[group]]\n[traffic]\nmulticast_share = 0.3\nload = 0.3\n"
        "[measure]\nmost_intervals = 10\n",
        engine,
        vls);
  };
  const auto apart = prepare_text(text(2, "minhop"));
  ASSERT_TRUE(apart) << print_fault(apart.error().at(0));
  const GroupTables& tables = apart->groups();
  ASSERT_TRUE(tables.lane);
  EXPECT_EQ(tables.lane->vl, Vl{1});
  EXPECT_EQ(tables.groups[0].sl, tables.lane->sl);
  EXPECT_EQ(tables.acyclic, true);
  for (const NodeState& node : apart->fabric().nodes) {
    for (std::uint8_t sl = 0; sl < 16; ++sl) {
      const Vl vl = node.map_sl(
          PortNum{1}, PortNum{static_cast<std::uint8_t>(node.is_switch() ? 2 : 0)}, Sl{sl});
      EXPECT_EQ(vl, sl == tables.lane->sl ? Vl{1} : Vl{0});
    }
  }
  const PointResult result = apart->run(0.3, 1);
  EXPECT_EQ(result.audit, "");
  EXPECT_EQ(result.stats.discards(), 0u);
  EXPECT_GT(result.stats.replicated, 0u);

  const auto refused = prepare_text(text(1, "minhop"));
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->groups().lane);
  EXPECT_EQ(refused->groups().acyclic, false);
  EXPECT_THAT(refused->groups().lane_refused, HasSubstr("links have 1 VLs"));
  EXPECT_THAT(refused->groups().cycle, HasSubstr("sw-"));

  const auto along = prepare_text(text(2, "updn"));
  ASSERT_TRUE(along);
  EXPECT_FALSE(along->groups().lane) << "trees go along the directions of updn";
  EXPECT_EQ(along->groups().acyclic, true);
}

/// Loads count each copy: what all hosts get is the load, if the fabric carries it.
TEST(GroupScenario, LoadsCountEachCopy) {
  const auto made = prepare_text(
      "[fabric]\nname = \"fat-tree:k=4,levels=2\"\n[switch]\ncopies = \"together\"\n[[group]]\n"
      "[traffic]\nmulticast_share = 1\nsize = 1024\narrivals = "
      "\"constant\"\n[measure]\nmost_intervals = 40\n");
  ASSERT_TRUE(made);
  const PointResult result = made->run(0.3, 1);
  EXPECT_NEAR(result.steady.accepted_load, 0.3, 0.015);
  EXPECT_NEAR(result.steady.offered_load, 0.3, 0.015);
  EXPECT_NEAR(double(result.stats.delivered),
              double(result.stats.generated) * 7,
              double(result.stats.generated) * 0.1);
}

// Of eight hosts one sends to the group, a seventh as often as each of the others sends to one.
TEST(GroupScenario, WhoIsNoSenderSendsByThePattern) {
  const auto made = prepare_text(std::string(kLeaves) +
                                 "[[group]]\nsender = \"host-00002\"\n[traffic]\n"
                                 "multicast_share = 1\nsize = 1024\narrivals = \"constant\"\n"
                                 "[measure]\nmost_intervals = 40\n");
  ASSERT_TRUE(made);
  const PointResult result = made->run(0.3, 1);
  EXPECT_EQ(result.audit, "");
  EXPECT_NEAR(double(result.stats.replicated) / double(result.stats.generated),
              6 * (1.0 / 7) / (7 + 1.0 / 7),
              0.02);
}

// Rank 0 is the sender: the tree for it alone would bring nobody else's packets to all.
TEST(GroupScenario, ACollectiveOfAGroupWithASenderBeginsThere) {
  for (const char* kind : {"multicast-broadcast", "multicast-all-reduce", "binomial-broadcast"}) {
    const auto made =
        prepare_text(fmt::format("[fabric]\nname = \"torus:dims=4.4,hosts=1\"\nmulticast_trees = "
                                 "\"by-sender\"\n[[group]]\nsender = \"host-00005\"\n[traffic]\n"
                                 "collective = \"{}\"\nbytes = 50000\n",
                                 kind));
    ASSERT_TRUE(made) << print_fault(made.error().at(0));
    const PointResult result = made->run(0, 1);
    EXPECT_EQ(result.audit, "");
    EXPECT_NE(result.completed_at, kNever) << kind;
  }
}

TEST(GroupScenario, ResultsSayWhatTheTreesAre) {
  const auto made = prepare_text(std::string(kLeaves) + "[[group]]\n[traffic]\nload = 0.1\n");
  ASSERT_TRUE(made);
  const std::string json = print_scenario_json(*made, {.points = {made->run(0.1, 1)}});
  EXPECT_THAT(json, HasSubstr("\"mlid\": \"0xc000\""));
  EXPECT_THAT(json, HasSubstr("\"members\": 8"));
  EXPECT_THAT(json, HasSubstr("\"cables\": 4")) << "four leaves under one of two spines";
  EXPECT_THAT(json, HasSubstr("\"can_deadlock\": false"));
}

}  // namespace group_scenario_test
}  // namespace smd::sim::test
