// The daemon's side of smctl, on a simulated subnet that is up.
#include "smd/report/admin_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "smd/mad/notice.h"
#include "smd/routing/engine.h"
#include "tests/support/files.h"
#include "tests/support/subnet_oracles.h"

namespace smd {
namespace admin_commands_test {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class AdminCommands : public testing::Test {
 protected:
  explicit AdminCommands(const std::string& fabric = "example:name=fig67")
      : subnet(test::spec_of(fabric)) {
    register_commands(table,
                      {.manager = [this] { return present ? &subnet.manager : nullptr; },
                       .transport = [this]() -> Transport* { return &subnet.transport; },
                       .shutdown = [] {},
                       .uptime = [] { return Duration{0}; },
                       .dumps = &dumps});
  }

  void bring_up() { ASSERT_TRUE(subnet.bring_up()); }

  Json answer(const std::string& command, const Json& args = Json::object()) {
    return Json::parse(table.answer(Json{{"command", command}, {"args", args}}.dump()));
  }

  /// The result of a command that has one.
  Json ask(const std::string& command, const Json& args = Json::object()) {
    const Json got = answer(command, args);
    EXPECT_TRUE(got.at("ok").get<bool>()) << got;
    return got.value("result", Json());
  }

  std::string refusal(const std::string& command, const Json& args = Json::object()) {
    const Json got = answer(command, args);
    EXPECT_FALSE(got.at("ok").get<bool>()) << got;
    return got.value("error", "");
  }

  unsigned lid(const std::string& name) {
    const std::uint32_t node = subnet.node(name);
    const bool is_switch = subnet.fabric.spec().nodes[node].type == NodeType::Switch;
    return subnet.fabric.port_info(node, PortNum{is_switch ? std::uint8_t{0} : std::uint8_t{1}})
        .lid.value();
  }

  bool present = true;
  test::SimulatedSubnet subnet;
  DumpWriter dumps{subnet.runtime};
  CommandTable table;
};

TEST_F(AdminCommands, NothingIsShownBeforeTheSubnetIsUp) {
  for (const char* command : {"links", "nodes", "fabric"}) {
    EXPECT_EQ(refusal(command), "the subnet is not up yet") << command;
  }
  EXPECT_EQ(refusal("route", {{"from", "a"}, {"to", "b"}}), "the subnet is not up yet");
  present = false;
  EXPECT_EQ(refusal("engine", {{"name", "updn"}}), "no device is open");
  EXPECT_EQ(refusal("sweep"), "no device is open");
  EXPECT_EQ(refusal("changes"), "no device is open");
}

TEST_F(AdminCommands, StatusSaysNothingOfHostsWithOneAdapter) {
  bring_up();
  EXPECT_FALSE(ask("status").contains("hosts"));
}

TEST_F(AdminCommands, StatusOfAManagerThatSeesNobodyIsThatItLooks) {
  bring_up();
  const sim::FabricSpec& spec = subnet.fabric.spec();
  for (const bool up : {false, true}) {
    subnet.fabric.set_link(spec.sm_node, spec.sm_port, up);
    subnet.manager.request_sweep("test");
    ASSERT_TRUE(subnet.settle());
    const Json status = ask("status");
    EXPECT_EQ(status.at("state"), up ? "master" : "discovering");
    EXPECT_EQ(status.at("alarms").size(), up ? 0u : 1u) << status.at("alarms");
  }
}

class HostsOfTwoAdapters : public AdminCommands {
 protected:
  HostsOfTwoAdapters() : AdminCommands("torus:dims=3,hosts=2,adapters=2") {}
};

TEST_F(HostsOfTwoAdapters, AreInTheStatus) {
  bring_up();
  const Json status = ask("status");
  EXPECT_EQ(status.at("cas"), 12);
  EXPECT_EQ(status.at("hosts"), 6);
  EXPECT_EQ(status.at("least_adapters"), 2);
  EXPECT_EQ(status.at("most_adapters"), 2);
}

TEST_F(AdminCommands, ARouteIsTheWayThroughTheRegisters) {
  bring_up();
  const Json route = ask("route", {{"from", "node-11"}, {"to", "node-13"}});
  EXPECT_EQ(route.at("lid"), lid("node-13"));
  EXPECT_EQ(route.at("from_lid"), lid("node-11"));
  // Walk the simulated switches.
  std::uint32_t at = subnet.node("node-11");
  PortNum out{1};
  for (const Json& hop : route.at("hops")) {
    const sim::NodeSpec& here = subnet.fabric.spec().nodes[at];
    EXPECT_EQ(hop.at("from"), here.description);
    EXPECT_EQ(hop.at("from_port"), out.value());
    EXPECT_EQ(hop.at("from_lid"), lid(here.description));
    EXPECT_EQ(hop.at("state"), "Active");
    const sim::PortSpec& cable = here.ports[out.value()];
    at = cable.peer_node;
    EXPECT_EQ(hop.at("to"), subnet.fabric.spec().nodes[at].description);
    EXPECT_EQ(hop.at("to_port"), cable.peer_port.value());
    EXPECT_EQ(hop.at("to_lid"), lid(hop.at("to").get<std::string>()));
    if (at != subnet.node("node-13")) {
      out = subnet.fabric.lft(at, Lid{static_cast<std::uint16_t>(lid("node-13"))});
    }
  }
  EXPECT_EQ(at, subnet.node("node-13"));
  EXPECT_GE(route.at("hops").size(), 4u);
}

TEST_F(AdminCommands, NodesGoByDescriptionGuidOrLid) {
  bring_up();
  const Json by_name = ask("route", {{"from", "node-11"}, {"to", "node-13"}});
  const auto guid = [&](const char* name) {
    return fmt::format("{}", subnet.fabric.spec().nodes[subnet.node(name)].guid);
  };
  EXPECT_EQ(ask("route", {{"from", guid("node-11")}, {"to", guid("node-13")}}), by_name);
  EXPECT_EQ(ask("route",
                {{"from", std::to_string(lid("node-11"))}, {"to", std::to_string(lid("node-13"))}}),
            by_name);
  EXPECT_EQ(ask("route", {{"from", "node-11"}, {"to", "node-11"}}).at("hops").size(), 0u);
  EXPECT_THAT(refusal("route", {{"from", "node-11"}, {"to", "nobody"}}),
              AllOf(HasSubstr("'nobody'"), HasSubstr("GUID or LID")));
  EXPECT_THAT(refusal("route", {{"from", "node-11"}, {"to", "999"}}), HasSubstr("'999'"));
  EXPECT_THAT(refusal("route", {{"from", "node-11"}}), HasSubstr("'to'"));
  EXPECT_THAT(refusal("route", {{"from", 3}, {"to", "node-11"}}), HasSubstr("'from'"));
}

TEST_F(AdminCommands, NodesGoByTheNamesOfTheSite) {
  bring_up();
  const Guid guid = subnet.fabric.spec().nodes[subnet.node("node-11")].guid;
  Settings settings = subnet.manager.settings();
  settings.site_nodes =
      std::make_shared<const SiteNodes>(SiteNodes{.names = {{guid, "rack 4, top"}}});
  subnet.manager.adopt(settings);
  subnet.manager.request_sweep("configuration");
  ASSERT_TRUE(subnet.settle());
  const Json route = ask("route", {{"from", "rack 4, top"}, {"to", "node-13"}});
  EXPECT_EQ(route, ask("route", {{"from", "node-11"}, {"to", "node-13"}}));
  EXPECT_EQ(route.at("hops").front().at("from"), "rack 4, top");
  settings.site_nodes = std::make_shared<const SiteNodes>(SiteNodes{.names = {{guid, "node-13"}}});
  subnet.manager.adopt(settings);
  subnet.manager.request_sweep("configuration");
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(ask("route", {{"from", "node-13"}, {"to", "node-12"}}).at("from"), "node-13");
  EXPECT_EQ(ask("route", {{"from", "node-13"}, {"to", "node-12"}}).at("from_lid"), lid("node-11"))
      << "what the site calls a node goes before what another one says of itself";
  settings.site_nodes =
      std::make_shared<const SiteNodes>(SiteNodes{.names = {{guid, "rack 4, top"}}});
  subnet.manager.adopt(settings);
  subnet.manager.request_sweep("configuration");
  ASSERT_TRUE(subnet.settle());
  std::size_t named = 0;
  const Json all = ask("nodes").at("nodes");
  for (const Json& node : all) {
    if (!node.contains("name")) continue;
    ++named;
    EXPECT_EQ(node.at("name"), "rack 4, top");
    EXPECT_EQ(node.at("description"), "node-11") << "what the node itself says stays known";
  }
  EXPECT_EQ(named, 1u);
  EXPECT_EQ(print_port(subnet.manager.in_force()->fabric(),
                       subnet.manager.in_force()->fabric().port_of(
                           *subnet.manager.in_force()->fabric().find_node(guid), PortNum{1})),
            "rack 4, top:1");

  settings.site_nodes = nullptr;
  subnet.manager.adopt(settings);
  subnet.manager.request_sweep("configuration");
  ASSERT_TRUE(subnet.settle());
  EXPECT_THAT(refusal("route", {{"from", "rack 4, top"}, {"to", "node-13"}}), HasSubstr("'rack"));
}

TEST_F(AdminCommands, EventsAreTheLinesOfTheLogAndWhatTheySay) {
  const auto last = ask("events").at("last").get<std::uint64_t>();
  log::warn("test.event", "why=\"no link; a cable\" guid=0x7; and words k=1 k=2");
  log::info("test.other", "nothing but words");
  log::info("test.name", "name=\"{}\" to=\"{}\"", "evil\" to=\"leaf 1\\", "leaf 2");
  const Json got = ask("events", {{"after", last}});
  ASSERT_EQ(got.at("events").size(), 3u) << got;
  EXPECT_EQ(got.at("lost"), 0);
  EXPECT_EQ(got.at("last"), last + 3);
  const Json& first = got.at("events")[0];
  EXPECT_EQ(first.at("event"), "test.event");
  EXPECT_EQ(first.at("level"), "warn");
  EXPECT_EQ(first.at("fields"), (Json{{"why", "no link; a cable"}, {"guid", "0x7"}, {"k", "1"}}));
  EXPECT_EQ(got.at("events")[1].at("fields"), Json::object());
  EXPECT_EQ(got.at("events")[2].at("fields"),
            (Json{{"name", "evil\" to=\"leaf 1\\"}, {"to", "leaf 2"}}));
  EXPECT_EQ(ask("events", {{"n", 1}}).at("events").size(), 1u);
  EXPECT_EQ(ask("events").at("events").size(), 0u);
  EXPECT_THAT(refusal("events", {{"after", "now"}}), HasSubstr("wrong kind"));
}

TEST_F(AdminCommands, TheStatusCountsTrapsAndWhatFoundNoRoom) {
  bring_up();
  const std::uint32_t node = subnet.node("node-8");
  const Lid own{static_cast<std::uint16_t>(lid("node-8"))};
  const auto client = subnet.fabric.attach(node, PortNum{0}, [](const MadPacket&) {});
  for (const Lid issuer : {own, Lid{40'000}, Lid{static_cast<std::uint16_t>(lid("node-11"))}}) {
    Notice notice = link_state_notice(issuer);
    notice.issuer_lid = issuer;
    Smp smp;
    smp.method = Method::Trap;
    smp.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
    encode_notice(notice, smp.data);
    MadPacket packet{
        .remote_lid =
            subnet.fabric.port_info(subnet.fabric.spec().sm_node, subnet.fabric.spec().sm_port)
                .lid};
    encode_smp(smp, packet.mad);
    subnet.fabric.inject(client, packet);
  }
  subnet.run_for(std::chrono::seconds(1));
  const Json status = ask("status");
  EXPECT_EQ(status.at("traps").at("received"), 3);
  EXPECT_EQ(status.at("traps").at("unknown_issuer"), 1);
  EXPECT_EQ(status.at("traps").at("wrong_issuer"), 1);
  EXPECT_EQ(status.at("traps").at("held_back"), 0);
  EXPECT_EQ(status.at("receive_queue").at("traps_dropped"), 0);
  EXPECT_EQ(status.at("receive_queue").at("answers_dropped"), 0);
}

TEST_F(AdminCommands, ASwitchIsAnEndToo) {
  bring_up();
  const Json route = ask("route", {{"from", "node-8"}, {"to", "node-5"}});
  EXPECT_EQ(route.at("from_lid"), lid("node-8"));
  EXPECT_EQ(route.at("hops").front().at("from"), "node-8");
  EXPECT_EQ(route.at("hops").back().at("to"), "node-5");
}

TEST_F(AdminCommands, ANameOfTwoNodesNeedsAGuid) {
  subnet.fabric.set_description(subnet.node("node-11"), "twin");
  subnet.fabric.set_description(subnet.node("node-12"), "twin");
  bring_up();
  EXPECT_THAT(refusal("route", {{"from", "twin"}, {"to", "node-13"}}),
              AllOf(HasSubstr("more than one"), HasSubstr("GUID")));
}

TEST_F(AdminCommands, EveryLinkOnceWithBothEnds) {
  bring_up();
  const Json links = ask("links").at("links");
  EXPECT_EQ(links.size(), 16u);
  std::set<std::pair<std::string, int>> ends;
  for (const Json& link : links) {
    EXPECT_TRUE(ends.emplace(link.at("from"), link.at("from_port")).second) << link;
    EXPECT_TRUE(ends.emplace(link.at("to"), link.at("to_port")).second) << link;
    const std::uint32_t node = subnet.node(link.at("from"));
    const sim::PortSpec& cable =
        subnet.fabric.spec().nodes[node].ports[link.at("from_port").get<std::size_t>()];
    EXPECT_EQ(subnet.node(link.at("to")), cable.peer_node);
    EXPECT_EQ(link.at("to_port"), cable.peer_port.value());
    EXPECT_EQ(link.at("state"), "Active");
    EXPECT_EQ(link.at("width"), print_link_width(cable.width));
    EXPECT_EQ(link.at("speed"), print_link_speed(cable.speed));
  }
}

TEST_F(AdminCommands, TheEngineInForceShowsItsContract) {
  bring_up();
  const Json engine = ask("engine");
  EXPECT_EQ(engine.at("engine"), subnet.manager.last_cycle()->engine);
  EXPECT_EQ(engine.at("contract"), find_engine(engine.at("engine").get<std::string>())->contract());
  EXPECT_EQ(engine.at("engines").size(), engine_names().size());
}

TEST_F(AdminCommands, TwoSetsOfPathsShowTheContractOfTheSecondOne) {
  Settings settings = subnet.manager.settings();
  settings.engine = "itb-vl";
  settings.engine_options.path_sets = true;
  settings.lids.lmc = 1;
  subnet.manager.adopt(settings);
  bring_up();
  const Json engine = ask("engine");
  ASSERT_EQ(engine.at("engine"), "updn+itb-vl");
  EXPECT_EQ(engine.at("contract"), find_engine("itb-vl")->contract());
}

TEST_F(AdminCommands, ANamedEngineIsUsedFromTheNextCycleOn) {
  bring_up();
  const std::string before = ask("engine").at("engine");
  std::string other;
  for (std::string_view name : engine_names()) {
    if (name == "minhop") other = name;
  }
  ASSERT_FALSE(other.empty());
  ASSERT_NE(other, before);
  const Json answer = ask("engine", {{"name", other}});
  EXPECT_EQ(answer.at("engine"), other);
  EXPECT_EQ(answer.at("contract"), find_engine(other)->contract());
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.settings().engine, other);
  EXPECT_THAT(subnet.reports.back().reason, HasSubstr("command: engine"));
}

TEST_F(AdminCommands, AnEngineThatTheFabricRefusesLeavesTheOneInForce) {
  bring_up();
  ask("engine", {{"name", "dor"}});
  EXPECT_TRUE(ask("engine").at("engine_undecided"));
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  for (const char* command : {"engine", "status"}) {
    const Json now = ask(command);
    EXPECT_EQ(now.at("engine"), "updn") << command;
    EXPECT_EQ(now.at("engine_requested"), "dor") << command;
    EXPECT_THAT(now.at("engine_refused").get<std::string>(), HasSubstr("no mesh or torus"));
    EXPECT_FALSE(now.contains("engine_undecided"));
    EXPECT_FALSE(now.contains("engine_needs_force"));
  }
  EXPECT_THAT(ask("status").at("alarms").at(0).get<std::string>(),
              testing::StartsWith("engine dor requested, updn in force: no mesh or torus"));
  EXPECT_EQ(subnet.manager.settings().engine, "updn");

  ask("engine", {{"name", "updn"}});
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(ask("status").at("alarms").empty());
  EXPECT_FALSE(ask("status").contains("engine_refused"));
}

TEST_F(AdminCommands, OfAListOfEnginesItSaysWhichIsInForceAndWhyThoseBeforeAreNot) {
  Settings settings = subnet.manager.settings();
  settings.engine = "dor";
  settings.next_engines = {"dragonfly", "minhop", "updn"};
  settings.engine_fallback = true;
  subnet.manager.adopt(settings);
  bring_up();
  const Json status = ask("status");
  EXPECT_EQ(status.at("engine"), "minhop");
  EXPECT_EQ(status.at("engine_requested"), "dor");
  EXPECT_EQ(status.at("next_engines"), Json({"dragonfly", "minhop", "updn"}));
  const auto why = status.at("engine_refused").get<std::string>();
  EXPECT_THAT(why, testing::StartsWith("dor: no mesh or torus"));
  EXPECT_THAT(why, HasSubstr("; dragonfly: no dragonfly"));
  EXPECT_EQ(status.at("alarms").at(0).get<std::string>(),
            "engine dor requested, minhop in force: " + why);

  // By command another one, which stands alone while it is tried.
  ask("engine", {{"name", "hamming"}});
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(ask("status").at("engine"), "minhop");
  EXPECT_THAT(ask("status").at("engine_refused").get<std::string>(),
              testing::StartsWith("no Hamming graph"));
  ask("engine", {{"name", "updn"}, {"force", true}});
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(ask("status").at("engine"), "updn");
  EXPECT_FALSE(ask("status").contains("engine_refused"));
}

TEST_F(AdminCommands, DumpsAreWrittenWhereTheyAreAskedFor) {
  const test::Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  EXPECT_THAT(refusal("dump", {{"dir", folder.string()}}), HasSubstr("not up yet"));
  bring_up();
  EXPECT_THAT(refusal("dump", {{"dir", "dump"}}), HasSubstr("'dump' is no absolute path"));
  EXPECT_EQ(ask("dump"), Json({{"dumping", false}}));
  EXPECT_TRUE(ask("dump", {{"dir", folder.string()}}).at("dumping").get<bool>());
  EXPECT_THAT(refusal("dump", {{"dir", folder.string()}}), HasSubstr("being written"));
  subnet.runtime.run_until(subnet.runtime.now() + std::chrono::seconds(1));
  const Json done = ask("dump");
  EXPECT_FALSE(done.at("dumping").get<bool>());
  EXPECT_EQ(done.at("dir"), folder.string());
  ASSERT_EQ(done.at("files").size(), 6u) << "routes on one VL";
  for (const Json& name : done.at("files"))
    EXPECT_TRUE(std::filesystem::exists(folder / name.get<std::string>())) << name;

  std::filesystem::create_directories(folder / "neighbors.d" / "neighbors");
  ask("dump", {{"dir", (folder / "neighbors.d").string()}});
  subnet.runtime.run_until(subnet.runtime.now() + std::chrono::seconds(1));
  EXPECT_EQ(ask("dump").at("dump_failed"),
            (folder / "neighbors.d/neighbors").string() + ": Is a directory");
  EXPECT_FALSE(ask("dump").contains("files"));
}

TEST_F(AdminCommands, AConfiguredEngineThatTheFabricRefusesIsAnAlarm) {
  Settings settings = subnet.manager.settings();
  settings.engine = "dor";
  settings.engine_fallback = true;
  subnet.manager.adopt(settings);
  bring_up();
  const Json status = ask("status");
  EXPECT_EQ(status.at("engine"), "updn");
  EXPECT_EQ(status.at("engine_requested"), "dor");
  EXPECT_THAT(status.at("engine_refused").get<std::string>(), HasSubstr("no mesh or torus"));
  EXPECT_THAT(status.at("alarms").at(0).get<std::string>(),
              testing::StartsWith("engine dor requested, updn in force: no mesh or torus"));
}

/// A manager that takes everything down for every change of tables.
struct CostlyChanges : AdminCommands {
  CostlyChanges() {
    Settings settings = subnet.manager.settings();
    settings.strategy =
        make_strategy(parse_reconfiguration_mode("partial+engine+deactivate-all+delta").value());
    subnet.manager.adopt(settings);
    bring_up();
  }
};

TEST_F(CostlyChanges, AnEngineThatWouldTakePortsDownWaitsForForce) {
  const ForwardingTables before = subnet.manager.in_force()->routing->lft;
  ask("engine", {{"name", "nue"}});
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.in_force()->routing->lft, before);
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(subnet.manager.last_cycle()->deactivate.smps, 0u);
  const Json now = ask("engine");
  EXPECT_EQ(now.at("engine"), "updn");
  EXPECT_TRUE(now.at("engine_needs_force"));
  EXPECT_THAT(now.at("engine_refused").get<std::string>(),
              testing::MatchesRegex("the change \\(deactivate-all\\) would take [1-9][0-9]* ports "
                                    "down, block 0 turns and discard an SL on 0 more"));

  EXPECT_EQ(refusal("engine", {{"name", "nue"}, {"force", 1}}), "'force' is true or false");
  ask("engine", {{"name", "nue"}, {"force", true}});
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_EQ(ask("engine").at("engine"), "nue");
  EXPECT_FALSE(ask("engine").contains("engine_refused"));
  EXPECT_TRUE(ask("status").at("alarms").empty());
  EXPECT_EQ(subnet.manager.settings().engine, "nue");
}

TEST_F(AdminCommands, AnUnknownEngineIsRefusedWithThoseThereAre) {
  bring_up();
  const std::uint64_t cycles = subnet.manager.cycles();
  const std::string text = refusal("engine", {{"name", "frob"}});
  EXPECT_THAT(text, HasSubstr("'frob'"));
  for (std::string_view name : engine_names()) EXPECT_THAT(text, HasSubstr(std::string(name)));
  EXPECT_THAT(refusal("engine", {{"name", 7}}), HasSubstr("'name'"));
  subnet.run_for(std::chrono::seconds(1));
  EXPECT_EQ(subnet.manager.cycles(), cycles);
}

TEST_F(AdminCommands, ASweepAsksTheSwitchesAndTakesInOnlyAChange) {
  bring_up();
  const std::uint64_t cycles = subnet.manager.cycles();
  const std::uint64_t smps = subnet.manager.smp_stats().sent;
  EXPECT_EQ(ask("sweep").at("full"), false);
  subnet.run_for(std::chrono::seconds(1));
  EXPECT_EQ(subnet.manager.cycles(), cycles);
  // And the manager's own port.
  EXPECT_EQ(subnet.manager.smp_stats().sent - smps,
            subnet.manager.last_cycle()->counts.switches + 1);

  subnet.fabric.set_wire_faults({.drop = 1.0});  // the trap is lost
  subnet.fabric.set_link(subnet.node("node-3"), PortNum{1}, false);
  subnet.run_for(std::chrono::milliseconds(1));
  subnet.fabric.set_wire_faults({});
  ask("sweep", {{"full", false}});
  ASSERT_TRUE(subnet.settle());
  EXPECT_THAT(subnet.reports.back().reason, HasSubstr("reports a change"));
  EXPECT_TRUE(subnet.reports.back().partial) << subnet.reports.back().full_why;
}

TEST_F(AdminCommands, AFullSweepDiscoversEverything) {
  bring_up();
  EXPECT_EQ(ask("sweep", {{"full", true}}).at("full"), true);
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.reports.back().reason, "command");
  EXPECT_FALSE(subnet.reports.back().partial);
  EXPECT_THAT(refusal("sweep", {{"full", "yes"}}), HasSubstr("'full'"));
}

TEST_F(AdminCommands, ASweepDuringACycleFollowsIt) {
  bring_up();
  ask("sweep", {{"full", true}});
  ASSERT_TRUE(subnet.settle());
  subnet.run_for(std::chrono::seconds(1));
  const auto cost = [this](bool sweep) {
    const std::uint64_t before = subnet.manager.smp_stats().sent;
    ask("sweep", {{"full", true}});
    if (sweep) ask("sweep");
    EXPECT_TRUE(subnet.settle());
    subnet.run_for(std::chrono::seconds(1));
    return subnet.manager.smp_stats().sent - before;
  };
  const std::uint64_t alone = cost(false);
  EXPECT_EQ(cost(true), alone + subnet.manager.last_cycle()->counts.switches + 1);
}

TEST_F(AdminCommands, ChangesSayWhenAndHow) {
  bring_up();
  EXPECT_EQ(ask("changes").at("changes").size(), 0u);
  subnet.fabric.set_link(subnet.node("node-3"), PortNum{1}, false);
  subnet.manager.request_sweep("command");
  ASSERT_TRUE(subnet.settle());
  subnet.run_for(std::chrono::seconds(5));
  const Json changes = ask("changes").at("changes");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_GE(changes.front().at("seconds_ago").get<double>(), 4.0);
  EXPECT_EQ(changes.front().at("kind"), "down");
  EXPECT_EQ(changes.front().at("ok"), true);
  EXPECT_TRUE(changes.front().at("transition").contains("kind"));
  const sim::PortSpec& cable = subnet.fabric.spec().nodes[subnet.node("node-3")].ports[1];
  const std::string far = fmt::format(
      "{}:{}", subnet.fabric.spec().nodes[cable.peer_node].description, cable.peer_port);
  const Json lost = changes.front().at("found");
  ASSERT_EQ(lost.size(), 1u) << "the link once";
  EXPECT_THAT(lost.front().get<std::string>(),
              AllOf(testing::StartsWith("link down: "), HasSubstr("node-3:1"), HasSubstr(far)));

  subnet.fabric.set_node(subnet.node("node-3"), false);
  subnet.manager.request_sweep("command");
  ASSERT_TRUE(subnet.settle());
  const Json gone = ask("changes").at("changes").front().at("found");
  EXPECT_EQ(std::ranges::count(gone, Json("node gone: node-3")), 1) << gone;
  for (const Json& each : gone) {
    EXPECT_THAT(each.get<std::string>(), testing::StartsWith("node gone: "))
        << "the cables of a node go without saying";
  }
  EXPECT_EQ(ask("changes", {{"n", 0}}).at("changes").size(), 0u);
  EXPECT_THAT(refusal("changes", {{"n", "many"}}), HasSubstr("'n'"));
}

}  // namespace admin_commands_test
}  // namespace smd
