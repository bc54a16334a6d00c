// Partitions are changed while the manager runs: what that writes, what the administration answers
// afterwards, what is refused, and who has the orders when another manager takes over.
#include <gmock/gmock.h>

#include "smd/report/subnet_json.h"
#include "tests/sim/ordered_partitions.h"

namespace smd::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(PartitionOrders, AreInForceWithOneCycleThatWritesNothingElse) {
  Ordered lab;
  lab.bring_up();
  const std::uint64_t cycles = lab.manager.cycles();
  EXPECT_EQ(lab.ask_path(0, 1, PKey{0x8020}), kNoRecords);
  lab.order(lab.create_red({0, 1}));
  EXPECT_EQ(lab.manager.cycles(), cycles + 1);
  EXPECT_EQ(lab.manager.last_cycle()->reason, "command: partition create Red");
  EXPECT_TRUE(lab.manager.last_cycle()->up());
  // The tables of two ports, and of the switch ports before them.
  EXPECT_EQ(lab.sets, (std::map<AttributeId, unsigned>{{AttributeId::PKeyTable, 4}}));
  EXPECT_EQ(lab.gets, 1u) << "the manager's own link";
  EXPECT_EQ(lab.keys(0), (Keys{0x7fff, 0x8011, 0x8020}));
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8011, 0x8020}));
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8011}));
  EXPECT_EQ(lab.ask_path(0, 1, PKey{0x8020}), 0);
  EXPECT_EQ(lab.ask_path(0, 2, PKey{0x8020}), kNoRecords);
  EXPECT_EQ(lab.ask_path(0, 2, PKey{0x8011}), 0);
  EXPECT_EQ(lab.join(0, PKey{0x8020}), 0);
  EXPECT_NE(lab.join(2, PKey{0x8020}), 0) << "who is no member";
  // One port more.
  lab.forget();
  lab.order({{"verb", "add"}, {"partition", "0x20"}, {"ports", {lab.print_guid(2) + "=limited"}}});
  EXPECT_EQ(lab.sets, (std::map<AttributeId, unsigned>{{AttributeId::PKeyTable, 2}}));
  EXPECT_EQ(lab.gets, 1u);
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8011, 0x0020}));
  EXPECT_EQ(lab.ask_path(0, 2, PKey{0x8020}), 0);
  // What is there already costs nothing, not even a cycle.
  lab.forget();
  const std::uint64_t before = lab.manager.cycles();
  const Json again = lab.order(
      {{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(2) + "=limited"}}});
  EXPECT_FALSE(again.at("changed").get<bool>());
  EXPECT_EQ(lab.manager.cycles(), before);
  EXPECT_THAT(lab.sets, IsEmpty());
}

TEST(PartitionOrders, WhoIsTakenOutLosesKeyPathsAndGroups) {
  Ordered lab;
  lab.bring_up();
  lab.order(lab.create_red({0, 1, 2}));
  for (const std::size_t host : {0u, 1u, 2u}) ASSERT_EQ(lab.join(host, PKey{0x8020}), 0);
  ASSERT_TRUE(lab.settle());
  const Gid group = ipoib_broadcast(PKey{0x8020});
  const auto& groups = lab.manager.multicast().groups();
  ASSERT_THAT(groups.find(group)->members, SizeIs(3));
  lab.forget();
  const Json removed =
      lab.order({{"verb", "remove"}, {"partition", "Red"}, {"ports", {lab.print_guid(1)}}});
  EXPECT_THAT(removed.at("leaving"), SizeIs(1));
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8011}));
  EXPECT_EQ(lab.ask_path(0, 1, PKey{0x8020}), kNoRecords);
  EXPECT_EQ(lab.ask_path(0, 2, PKey{0x8020}), 0);
  ASSERT_NE(groups.find(group), nullptr);
  EXPECT_THAT(groups.find(group)->members, SizeIs(2));
  EXPECT_FALSE(groups.find(group)->members.contains(lab.guid(1)));
  EXPECT_EQ(lab.sets[AttributeId::PKeyTable], 2u);
  lab.sets.erase(AttributeId::PKeyTable);
  lab.sets.erase(AttributeId::MulticastForwardingTable);
  EXPECT_THAT(lab.sets, IsEmpty());
  // With the partition go the group and all who are in it.
  const Json deleted = lab.order({{"verb", "delete"}, {"partition", "Red"}});
  EXPECT_THAT(deleted.at("leaving"), SizeIs(2));
  EXPECT_EQ(groups.find(group), nullptr);
  for (const std::size_t host : {0u, 1u, 2u}) EXPECT_EQ(lab.keys(host), (Keys{0x7fff, 0x8011}));
  EXPECT_THAT(lab.control.orders(), IsEmpty());
  // Its index is free, and nobody else's: a queue pair may still name it.
  lab.order({{"verb", "create"},
             {"partition", "Blue"},
             {"p_key", "0x21"},
             {"ports", {lab.print_guid(0)}}});
  EXPECT_EQ(lab.keys(0), (Keys{0x7fff, 0x8011, 0, 0x8021}));
}

TEST(PartitionOrders, AFileThatTakesAPortOutTakesItOutOfTheGroupAsWell) {
  Ordered lab("Site=0x11, ipoib: ALL=full;");
  lab.bring_up();
  for (const std::size_t host : {0u, 1u}) ASSERT_EQ(lab.join(host, PKey{0x8011}), 0);
  lab.manager.adopt(settings_with("Site=0x11, ipoib: " + lab.print_guid(0) + "=full;"));
  lab.manager.request_sweep("configuration");
  ASSERT_TRUE(lab.settle());
  const Group* group = lab.manager.multicast().groups().find(ipoib_broadcast(PKey{0x8011}));
  ASSERT_NE(group, nullptr);
  EXPECT_THAT(group->members, ElementsAre(testing::Key(lab.guid(0))));
}

TEST(PartitionOrders, ADryRunSaysWhatComesAndChangesNothing) {
  Ordered lab;
  lab.bring_up();
  Json args = lab.create_red({0, 1});
  args["dry_run"] = true;
  const std::uint64_t cycles = lab.manager.cycles();
  Json said = lab.order(args);
  EXPECT_THAT(lab.control.orders(), IsEmpty());
  EXPECT_EQ(lab.manager.cycles(), cycles);
  EXPECT_THAT(lab.sets, IsEmpty());
  EXPECT_EQ(lab.gets, 0u);
  EXPECT_TRUE(said.at("dry_run").get<bool>());
  EXPECT_EQ(said.at("ports"), 2);
  EXPECT_EQ(said.at("switch_ports"), 2);
  ASSERT_THAT(said.at("entries"), SizeIs(4));
  for (const Json& entry : said.at("entries")) {
    EXPECT_EQ(entry.at("index"), 2);
    EXPECT_EQ(entry.at("from"), Json());
    EXPECT_EQ(entry.at("to"), "0x8020");
  }
  ASSERT_THAT(said.at("groups"), SizeIs(1));
  EXPECT_EQ(said.at("groups")[0].at("group"), print_gid(ipoib_broadcast(PKey{0x8020})));
  EXPECT_EQ(said.at("groups")[0].at("change"), "created");
  // What is said of the order itself is the same, and so are the registers.
  args.erase("dry_run");
  Json done = lab.order(args);
  EXPECT_FALSE(done.at("dry_run").get<bool>());
  done["dry_run"] = true;
  EXPECT_EQ(done.erase("order"), 1u) << "to ask about";
  EXPECT_EQ(done, said);
  EXPECT_EQ(lab.keys(0)[2], 0x8020u);
  EXPECT_EQ(lab.keys(1)[2], 0x8020u);
}

TEST(PartitionOrders, WithoutAFileTheFirstOneBringsEnforcementIn) {
  Ordered lab("");
  lab.bring_up();
  EXPECT_FALSE(lab.leaf(2).info.partition_enforcement_inbound);
  const Json first = lab.order(lab.create_red({0, 1}));
  EXPECT_EQ(first.at("ports"), 2);
  EXPECT_EQ(first.at("switch_ports"), 4) << "all of them enforce from now on";
  EXPECT_EQ(lab.keys(0), (Keys{0xffff, 0x8020}));
  EXPECT_EQ(lab.keys(2), Keys{0xffff});
  EXPECT_TRUE(lab.leaf(2).info.partition_enforcement_inbound);
  lab.forget();
  lab.order({{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(2)}}});
  EXPECT_EQ(lab.sets, (std::map<AttributeId, unsigned>{{AttributeId::PKeyTable, 2}}));
  lab.order({{"verb", "delete"}, {"partition", "Red"}});
  EXPECT_EQ(Ordered::trimmed(lab.port(0).p_keys), Keys{0xffff});
  EXPECT_FALSE(lab.leaf(2).info.partition_enforcement_inbound);
}

TEST(PartitionOrders, OfAPortThatComesLaterHoldWhenItIsThere) {
  Ordered lab;
  lab.bring_up();
  const std::uint32_t node = lab.node_of(2);
  lab.fabric.set_node(node, false);
  ASSERT_TRUE(lab.settle());
  lab.order(lab.create_red({0, 2}));
  lab.fabric.set_node(node, true);
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8011, 0x8020}));
}

TEST(PartitionOrders, GoByNamesOfPorts) {
  Ordered lab;
  lab.bring_up();
  const std::string name = lab.fabric.spec().nodes[lab.node_of(1)].description;
  const std::string sw = lab.fabric.spec()
                             .nodes[lab.fabric.spec().nodes[lab.node_of(1)].ports[1].peer_node]
                             .description;
  std::size_t n = 0;
  for (const std::string& each : {name, name + ":1", name + "/1", name + "/P1=limited"}) {
    lab.order({{"verb", "create"},
               {"partition", fmt::format("P{}", n)},
               {"p_key", fmt::format("0x{}", 30 + n)},
               {"ports", {each}}});
    EXPECT_EQ(lab.control.orders().back().members.begin()->first, lab.guid(1)) << each;
    ++n;
  }
  EXPECT_EQ(lab.keys(1).back(), 0x0033u);
  const auto why = [&](const std::string& port) {
    return lab.refusal({{"verb", "add"}, {"partition", "P0"}, {"ports", {port}}});
  };
  EXPECT_THAT(why("nobody"), HasSubstr("'nobody' is no port; a port GUID such as 0x"));
  EXPECT_THAT(why("nobody:1"), HasSubstr("'nobody'"));
  EXPECT_EQ(why(name + ":2"), name + " has no end port 2; 1 to 1");
  EXPECT_EQ(why(name + ":0"), name + " has no end port 0; 1 to 1");
  EXPECT_EQ(why(sw + ":1"), sw + " has no end port 1; 0");
  EXPECT_THAT(why(name + ":x"), HasSubstr("is no port"));
  const Guid node = lab.fabric.spec().nodes[lab.node_of(1)].guid;
  EXPECT_EQ(
      why(fmt::format("{}", node)),
      fmt::format(
          "{} is the GUID of the node {}; those of its ports are {}", node, name, lab.guid(1)));
  EXPECT_THAT(why(name + ":1=owner"), HasSubstr("is no PORT=full or PORT=limited"));
}

/// Such an order would stand in a state file that the next start refuses.
TEST(PartitionOrders, NameNobodyWhosePortGuidIsNone) {
  Ordered lab;
  lab.bring_up();
  const std::string name = lab.fabric.spec().nodes[lab.node_of(1)].description;
  const std::shared_ptr<const ActiveSubnet> now = lab.manager.active().current();
  const PortIdx port = find_end_port(now->fabric(), lab.guid(1));
  for (const Guid guid : {Guid{}, Guid{~std::uint64_t{0}}}) {
    auto fabric = std::make_shared<Fabric>(now->fabric());
    fabric->port_guid[port] = guid;
    SweepReport sweep = now->sweep;
    sweep.fabric = std::move(fabric);
    const ActiveSubnet changed{
        .sweep = std::move(sweep), .lids = now->lids, .routing = now->routing, .rows = now->rows};
    const auto found = find_port_guid(changed, name + ":1");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().context,
              fmt::format("'{}:1' says that its port GUID is {}, which is none", name, guid));
  }
}

TEST(PartitionOrders, ThatAreNoneAreRefusedInALineAndChangeNothing) {
  Ordered lab("Site=0x11: ALL=full;\nStorage=0x12: 0x1=full;\n");
  lab.bring_up();
  const std::string own = fmt::format("{}", lab.snapshot().port_guid[lab.snapshot().sm_port]);
  const auto with_port = [&](const Json& port) {
    return Json{
        {"verb", "create"}, {"partition", "A"}, {"p_key", "0x20"}, {"ports", Json::array({port})}};
  };
  const std::vector<std::pair<Json, const char*>> all = {
      {{{"verb", 3}}, "argument 'verb' is missing, or no text"},
      {{{"verb", "rename"}}, "'rename' is none of list, show, create, delete, add and remove"},
      {{{"verb", "create"}}, "argument 'partition' is missing"},
      {{{"verb", "create"}, {"partition", "A"}}, "argument 'p_key' is missing"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", 32}},
       "argument 'p_key' is missing, or no text"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x8000"}},
       "'0x8000' is no P_Key; 0x0001 to 0x7ffe"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x12"}},
       "p.conf:2: 0x0012 is 'Storage'"},
      {{{"verb", "create"}, {"partition", "A\nB"}, {"p_key", "0x20"}}, "is no name of a partition"},
      {with_port("0x0"), "'0x0' is no port GUID; 0x and up to 16 hexadecimal digits"},
      {with_port("0xffffffffffffffff"), "is no port GUID"},
      {with_port("0x12345678901234567"), "is no port GUID"},
      {with_port("0xnothing"), "is no port GUID"},
      {with_port(7), "argument 'ports' is no list"},
      {with_port(Json::object()), "argument 'ports' is no list"},
      {with_port("0x5=both"), "'0x5=both' is no PORT=full or PORT=limited"},
      {with_port(""), "'' is no port"},
      {with_port("\x1b[31m"), "is no port"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x20"}, {"ports", "0x5"}},
       "argument 'ports' is no list"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x20"}, {"ports", {"0x5", "0x05"}}},
       "is named twice"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x20"}, {"ipoib", 1}},
       "argument 'ipoib' is no object"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x20"}, {"ipoib", {{"mtu", 6}}}},
       "mtu=6; a number from 1 to 5"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x20"}, {"ipoib", {{"mtu", -1}}}},
       "flag 'mtu' has no number"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x20"}, {"ipoib", {{"hue", 1}}}},
       "no flag 'hue' of a group"},
      {{{"verb", "create"}, {"partition", "A"}, {"p_key", "0x20"}, {"dry_run", "yes"}},
       "'dry_run' is true or false"},
      {{{"verb", "delete"}, {"partition", "Site"}}, "p.conf:1: defines 'Site'; delete it there"},
      {{{"verb", "delete"}, {"partition", "0xffff"}}, "the default partition cannot be deleted"},
      {{{"verb", "delete"}, {"partition", "Sit"}}, "there is no partition 'Sit'; 'Site'?"},
      {{{"verb", "add"}, {"partition", "Site"}}, "no port is named"},
      {{{"verb", "add"}, {"partition", "Storage"}, {"ports", {"0x1=limited"}}},
       "p.conf:2: 0x0000000000000001 is a full member of 'Storage'"},
      {{{"verb", "add"}, {"partition", "0x7fff"}, {"ports", {own + "=limited"}}},
       "is the manager's own port"},
      {{{"verb", "remove"}, {"partition", "0x7fff"}, {"ports", {own}}},
       "is the manager's own port"},
      {{{"verb", "remove"}, {"partition", "Site"}, {"ports", {"0x1"}}},
       "p.conf:1: ALL are members of 'Site'"},
      {{{"verb", "remove"}, {"partition", "Storage"}, {"ports", {"0x2"}}},
       "is no member of 'Storage'"},
      {{{"verb", "show"}}, "argument 'partition' is missing"},
      {{{"verb", "show"}, {"partition", "None"}}, "there is no partition 'None'"},
  };
  const std::uint64_t cycles = lab.manager.cycles();
  for (const auto& [args, line] : all) EXPECT_THAT(lab.refusal(args), HasSubstr(line)) << args;
  EXPECT_EQ(lab.manager.cycles(), cycles);
  EXPECT_THAT(lab.sets, IsEmpty());
  EXPECT_THAT(lab.control.orders(), IsEmpty());
}

TEST(PartitionOrders, ThatTablesHaveNoRoomForAreRefusedWhole) {
  Ordered lab("Site=0x11: ALL=full;", {.ca_partition_cap = 4, .switch_partition_cap = 3});
  lab.bring_up();
  lab.order(lab.create_red({0, 1}));
  EXPECT_THAT(lab.refusal({{"verb", "create"},
                           {"partition", "Blue"},
                           {"p_key", "0x21"},
                           {"ports", {lab.print_guid(2), lab.print_guid(1)}}}),
              AllOf(HasSubstr("room for 3 enforced P_Keys, 4 wanted; 0x8021 would not fit"),
                    HasSubstr("fewer partitions for that port")));
  EXPECT_THAT(lab.manager.alarms(), IsEmpty());
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8011})) << "not half of it";
}

/// Rules of a file that does not fit are not in force; an order on top of them would not be either.
TEST(PartitionOrders, OnTopOfRulesThatAreNotInForceAreRefused) {
  Ordered lab("Site=0x11: ALL=full;", {.ca_partition_cap = 4, .switch_partition_cap = 3});
  lab.bring_up();
  lab.order(lab.create_red({0, 1}));
  const auto read_file = [&lab](const std::string& file) {
    lab.control.set_site({}, "p.conf", file);
    lab.manager.adopt_partitions(
        lab.control.policy(), lab.control.merged().rules.groups, lab.control.rules(), "file");
    ASSERT_TRUE(lab.settle());
  };
  read_file("Site=0x11: ALL=full; B=0x12: " + lab.print_guid(2) + "; C=0x13: " + lab.print_guid(2) +
            ";");
  EXPECT_THAT(lab.manager.alarms(), ElementsAre(HasSubstr("0x0013 would not fit")));
  const Json progress = lab.answer(Json::object()).at("result");
  EXPECT_GT(progress.at("faults").get<unsigned>(), 0u);
  EXPECT_THAT(progress.at("fault").get<std::string>(), HasSubstr("0x0013 would not fit"));
  const Json remove = {{"verb", "remove"}, {"partition", "Red"}, {"ports", {lab.print_guid(1)}}};
  EXPECT_THAT(lab.refusal(remove), HasSubstr("so it is without this order"));
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8011, 0x8020}));
  read_file("Site=0x11: ALL=full; B=0x12: " + lab.print_guid(2) + ";");
  lab.order(remove);
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8011}));
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8011, 0x0012}));
}

TEST(PartitionOrders, ThatCannotBeKeptAreNotTaken) {
  Ordered lab;
  lab.bring_up();
  lab.is_disk_slow = true;
  const std::uint64_t red = lab.give(lab.create_red({0}));
  const std::uint64_t more =
      lab.give({{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(1)}}});
  const auto writes = std::exchange(lab.writes, {});
  ASSERT_THAT(writes, SizeIs(2));
  writes[0](fail(Errc::Io, "the disk is full"));
  EXPECT_THAT(lab.control.orders(), IsEmpty());
  writes[1]({});  // too late: it was made on top of the other
  for (const std::uint64_t each : {red, more})
    EXPECT_EQ(lab.refusal({{"order", each}}),
              "nothing was changed, since the order cannot be kept: the disk is full");
  EXPECT_THAT(lab.control.orders(), IsEmpty());
  EXPECT_FALSE(lab.control.merged().ordered);
  lab.run_for(1s);
  EXPECT_EQ(lab.keys(0), (Keys{0x7fff, 0x8011}));
  EXPECT_TRUE(lab.sets.empty());
}

TEST(PartitionOrders, ComeIntoForceWhenTheyAreKept) {
  Ordered lab;
  lab.bring_up();
  lab.is_disk_slow = true;
  const std::uint64_t red = lab.give(lab.create_red({0}));
  lab.run_for(1s);
  EXPECT_EQ(lab.keys(0), (Keys{0x7fff, 0x8011}));
  const Json keeping{{"adopting", true}, {"rules", true}};
  EXPECT_EQ(lab.progress(red), keeping);
  EXPECT_EQ(lab.answer(Json::object()).at("result"), keeping);
  EXPECT_EQ(lab.answer({{"verb", "show"}, {"partition", "Red"}}).at("error"),
            "'Red' is not in force: the order is not on the disk yet");
  lab.control.set_site({}, "p.conf", "Site=0x11: ALL=full;");
  EXPECT_FALSE(lab.control.merged().ordered) << "nor by a reload";
  const Json again =
      lab.answer({{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(0)}}});
  EXPECT_FALSE(again.at("result").at("changed").get<bool>());
  const auto second = again.at("result").at("order").get<std::uint64_t>();
  EXPECT_EQ(lab.progress(second), keeping);
  lab.end_writes({});
  ASSERT_TRUE(lab.settle());
  for (const std::uint64_t each : {red, second})
    EXPECT_EQ(lab.progress(each), (Json{{"adopting", false}, {"rules", true}}));
  EXPECT_EQ(lab.keys(0), (Keys{0x7fff, 0x8011, 0x8020}));
}

TEST(PartitionOrders, ThatAnotherManagersComeInPlaceOfAreNotTaken) {
  Ordered lab;
  lab.bring_up();
  lab.is_disk_slow = true;
  const std::uint64_t red = lab.give(lab.create_red({0}));
  const PartitionOrders others{{.key = 0x22, .name = "Blue", .created = true}};
  lab.store.put_partition_orders(others);
  EXPECT_EQ(lab.control.orders(), others);
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.refusal({{"order", red}}),
            "the orders of another manager came in place of this one");
  lab.end_writes({});
  EXPECT_EQ(lab.control.orders(), others);
}

/// It may have its copy, and would not send it again.
TEST(PartitionOrders, StayInTheStoreWhereAnotherManagerIsMaster) {
  Ordered lab;
  lab.bring_up();
  lab.is_disk_slow = true;
  const std::uint64_t red = lab.give(lab.create_red({0}));
  const PartitionOrders given = lab.control.orders();
  ASSERT_EQ(given.size(), 1u);
  lab.control.note_successor();
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.refusal({{"order", red}}),
            "another manager is master; it says whether it has the order");
  lab.store.put_partition_orders(given);
  lab.end_writes(fail(Errc::Busy, "the disk sleeps"));
  EXPECT_EQ(lab.control.orders(), given);
  EXPECT_TRUE(lab.control.merged().ordered);
}

TEST(PartitionOrders, SoManyWaitForADiskAndNoMore) {
  Ordered lab;
  lab.bring_up();
  lab.is_disk_slow = true;
  const std::uint64_t red = lab.give(lab.create_red({0}));
  const Json add{{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(0)}}};
  for (std::size_t i = 1; i < PartitionControl::kMostWaiting; ++i) lab.give(add);
  EXPECT_EQ(lab.refusal(add), "100 orders wait for the disk; ask again later");
  lab.end_writes({});
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.progress(red), (Json{{"adopting", false}, {"rules", true}}));
}

TEST(PartitionOrders, WhileACycleRunsComeInWithTheNext) {
  Ordered lab;
  lab.bring_up();
  lab.manager.request_sweep("again");
  ASSERT_FALSE(lab.at_rest());
  EXPECT_TRUE(lab.answer(lab.create_red({0})).at("ok").get<bool>());
  EXPECT_TRUE(lab.answer({{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(1)}}})
                  .at("ok")
                  .get<bool>());
  EXPECT_TRUE(lab.answer(Json::object()).at("result").at("adopting").get<bool>());
  ASSERT_TRUE(lab.settle());
  EXPECT_FALSE(lab.answer(Json::object()).at("result").at("adopting").get<bool>());
  EXPECT_EQ(lab.keys(0).back(), 0x8020u);
  EXPECT_EQ(lab.keys(1).back(), 0x8020u);
}

TEST(PartitionOrders, OfACycleThatFailsSayWhyUntilOneSucceeds) {
  Ordered lab;
  lab.bring_up();
  const auto before = std::exchange(lab.tap.on_send, [](const Smp&) { return false; });
  EXPECT_TRUE(lab.answer(lab.create_red({0})).at("ok").get<bool>());
  const auto progress = [&lab] { return lab.answer(Json::object()).at("result"); };
  EXPECT_FALSE(progress().contains("failed"));
  ASSERT_TRUE(lab.run_until([&] { return progress().contains("failed"); }, 60s));
  EXPECT_THAT(progress().at("failed").get<std::string>(), HasSubstr("local node"));
  EXPECT_TRUE(progress().at("adopting").get<bool>());
  EXPECT_TRUE(progress().at("rules").get<bool>());
  lab.tap.on_send = before;
  ASSERT_TRUE(lab.run_until([&] { return !lab.manager.is_adopting_partitions(); }, 300s));
  EXPECT_FALSE(progress().contains("failed"));
  EXPECT_EQ(lab.keys(0).back(), 0x8020u);
}

/// One that was given before and is not in force is not in force because it was given again.
TEST(PartitionOrders, ThatWaitForTheCableOfTheManagerSaySoHoweverOftenTheyAreGiven) {
  Ordered lab;
  lab.bring_up();
  const sim::FabricSpec& spec = lab.fabric.spec();
  lab.fabric.set_link(spec.sm_node, spec.sm_port, false);
  const std::uint64_t first = lab.give(lab.create_red({0}));
  ASSERT_TRUE(lab.run_until([&] { return lab.progress(first).contains("failed"); }, 60s));
  EXPECT_TRUE(lab.progress(first).at("adopting").get<bool>());
  EXPECT_EQ(lab.progress(first).at("failed"), "the manager's own port has no link: nobody is seen");
  const Json add = {{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(0)}}};
  const Json again = lab.answer(add).at("result");
  EXPECT_FALSE(again.at("changed").get<bool>());
  const auto second = again.at("order").get<std::uint64_t>();
  EXPECT_NE(second, first);
  EXPECT_TRUE(lab.progress(second).at("adopting").get<bool>());
  EXPECT_TRUE(lab.progress(second).contains("failed"));
  lab.fabric.set_link(spec.sm_node, spec.sm_port, true);
  lab.manager.request_sweep("test");
  ASSERT_TRUE(lab.settle());
  for (const std::uint64_t each : {first, second})
    EXPECT_EQ(lab.progress(each), (Json{{"adopting", false}, {"rules", true}}));
  EXPECT_EQ(lab.keys(0).back(), 0x8020u);
}

TEST(PartitionOrders, OfOthersThatComeAllTheTimeKeepNobodyWaiting) {
  Ordered lab;
  lab.bring_up();
  const std::uint64_t first = lab.give(lab.create_red({0}));
  bool is_in = false;
  for (int i = 0; i < 10'000 && lab.progress(first).at("adopting").get<bool>(); ++i) {
    is_in = !is_in;
    lab.give(
        {{"verb", is_in ? "add" : "remove"}, {"partition", "Red"}, {"ports", {lab.print_guid(1)}}});
    lab.run_for(10us);
  }
  EXPECT_EQ(lab.progress(first), (Json{{"adopting", false}, {"rules", true}}));
  EXPECT_TRUE(lab.answer(Json::object()).at("result").at("adopting").get<bool>()) << "others wait";
  EXPECT_EQ(lab.keys(0).back(), 0x8020u);
}

/// Trouble of some that lasts is no fault of an order about others, and stays one of their own.
TEST(PartitionOrders, AreJudgedByThePortsThatTheyAreAbout) {
  Ordered lab;
  lab.bring_up();
  const auto before = std::exchange(lab.tap.on_send, [](const Smp& smp) {
    // Whoever shall have 0x8020.
    if (smp.method != Method::Set || !is_about(smp, AttributeId::PKeyTable)) return true;
    const PKeyBlock block = *decode_p_key_block(smp.data);
    return std::ranges::find(block, PKey{0x8020}) == block.end();
  });
  const std::uint64_t red = lab.give(lab.create_red({0}));
  ASSERT_TRUE(lab.settle());
  EXPECT_THAT(lab.progress(red).at("fault").get<std::string>(),
              AllOf(HasSubstr("P_Key block 0"), HasSubstr("no answer")));
  const std::uint64_t blue = lab.give({{"verb", "create"},
                                       {"partition", "Blue"},
                                       {"p_key", "0x30"},
                                       {"ports", {lab.print_guid(1)}}});
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.progress(blue), (Json{{"adopting", false}, {"rules", true}}));
  EXPECT_TRUE(lab.answer(Json::object()).at("result").contains("faults")) << "of the other";
  EXPECT_TRUE(lab.progress(red).contains("fault")) << "after other cycles";
  const std::uint64_t again =
      lab.give({{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(0)}}});
  EXPECT_TRUE(lab.progress(again).contains("fault"));
  lab.tap.on_send = before;
  ASSERT_TRUE(lab.run_until([&] { return !lab.progress(again).contains("fault"); }, 300s));
  EXPECT_FALSE(lab.progress(red).contains("fault"));
  EXPECT_EQ(lab.keys(0).back(), 0x8020u);
}

TEST(PartitionOrders, OfAHostThatGoesMeanwhileSaySoAndAboutOneThatIsGoneDoNot) {
  Ordered lab;
  lab.bring_up();
  lab.fabric.set_silent(lab.node_of(0), true);
  const std::uint64_t first = lab.give(lab.create_red({0}));
  ASSERT_TRUE(lab.settle());
  EXPECT_THAT(lab.progress(first).at("fault").get<std::string>(),
              AllOf(HasSubstr("P_Key block 0"), HasSubstr("no answer")));
  lab.manager.request_sweep("test");
  ASSERT_TRUE(lab.settle());
  ASSERT_FALSE(lab.manager.last_cycle()->silent.empty());
  EXPECT_TRUE(lab.progress(first).contains("fault")) << "it has not got it";
  lab.give({{"verb", "remove"}, {"partition", "Red"}, {"ports", {lab.print_guid(0)}}});
  const std::uint64_t later =
      lab.give({{"verb", "add"}, {"partition", "Red"}, {"ports", {lab.print_guid(0)}}});
  ASSERT_TRUE(lab.settle());
  EXPECT_FALSE(lab.progress(later).contains("fault")) << "as of any port that comes later";
}

TEST(PartitionOrders, ThatNobodyGaveAreNotKnown) {
  Ordered lab;
  lab.bring_up();
  EXPECT_THAT(lab.refusal({{"order", 77}}), HasSubstr("order 77 is not known"));
  EXPECT_THAT(lab.refusal({{"order", "x"}}), HasSubstr("'order' is a number"));
}

TEST(PartitionOrders, LeaveTheEngineThatWasAskedForByCommand) {
  Ordered lab;
  lab.bring_up();
  ASSERT_TRUE(lab.manager.request_engine("minhop", true));
  EXPECT_TRUE(lab.answer(lab.create_red({0})).at("ok").get<bool>());
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.manager.in_force()->routing->engine, "minhop");
  lab.order({{"verb", "delete"}, {"partition", "Red"}});
  EXPECT_EQ(lab.manager.in_force()->routing->engine, "minhop");
  EXPECT_TRUE(lab.manager.engine_trial()->taken);
}

TEST(PartitionOrders, AreListedBesideWhatTheFileSays) {
  Ordered lab("Site=0x11: ALL=full;\nStorage=0x12: 0x1=full;\n");
  lab.bring_up();
  lab.order(lab.create_red({0, 1}));
  lab.order(
      {{"verb", "add"}, {"partition", "Storage"}, {"ports", {lab.print_guid(1) + "=limited"}}});
  const Json list = lab.order({{"verb", "list"}}).at("partitions");
  ASSERT_THAT(list, SizeIs(4));
  EXPECT_EQ(list[1],
            (Json{{"partition", "Site"},
                  {"p_key", "0x0011"},
                  {"by", "p.conf:1"},
                  {"groups", 0},
                  {"full", lab.snapshot().switch_count() + 4},
                  {"limited", 0}}));
  EXPECT_EQ(list[3],
            (Json{{"partition", "Red"},
                  {"p_key", "0x0020"},
                  {"by", "order"},
                  {"groups", 1},
                  {"full", 2},
                  {"limited", 0}}));
  const Json shown = lab.order({{"verb", "show"}, {"partition", "0x12"}});
  EXPECT_EQ(shown.at("by"), "p.conf:2");
  ASSERT_THAT(shown.at("members"), SizeIs(2));
  EXPECT_EQ(shown.at("members")[0].at("by"), "order");
  EXPECT_EQ(shown.at("members")[0].at("membership"), "limited");
  EXPECT_EQ(shown.at("members")[1],
            (Json{{"member", "0x0000000000000001"},
                  {"membership", "full"},
                  {"by", "p.conf:2"},
                  {"port", nullptr}}));
  EXPECT_EQ(lab.order({{"verb", "show"}, {"partition", "Red"}}).at("groups")[0].at("q_key"),
            "0x00000b1b");
}

// The next manager has them from the copy, and writes no table that is right.
TEST_F(Succession, OrdersOfPartitionsAreTheNextManagersAsWell) {
  const auto one =
      make_control(*first.store, [this]() -> SubnetManager& { return first.manager(); });
  const auto other =
      make_control(*second.store, [this]() -> SubnetManager& { return second.manager(); });
  const PartitionOrder create{
      .action = PartitionOrder::Action::Create,
      .partition = "Red",
      .p_key = "0x20",
      .ports = {{gid(0).guid, Membership::Full}, {gid(2).guid, Membership::Limited}}};
  const auto taken = one->check({&create, 1}, *first.manager().active().current());
  ASSERT_TRUE(taken) << taken.error().context;
  one->carry_out(taken->orders, "test", [](const Result<void>& kept) { ASSERT_TRUE(kept); });
  ASSERT_TRUE(run_until(
      [&] { return !first.manager().is_adopting_partitions() && first.manager().at_rest(); }));
  run_for(1s);
  EXPECT_EQ(second.store->get().partitions, taken->orders);
  EXPECT_EQ(other->merged().rules, one->merged().rules);
  const auto tables = [this] {
    std::vector<std::vector<PKey>> out;
    for (std::size_t host = 0; host < hosts.size(); ++host)
      out.push_back(fabric.node_state(node_of(host)).ports[1].p_keys);
    return out;
  };
  const auto before = tables();
  EXPECT_EQ(Ordered::trimmed(before[0]), (Keys{0xffff, 0x8020}));
  EXPECT_EQ(Ordered::trimmed(before[2]), (Keys{0xffff, 0x0020}));
  unsigned key_sets = 0;
  second.on_set = [&](const Smp& smp) {
    key_sets += is_about(smp, AttributeId::PKeyTable) ? 1 : 0;
  };
  first.kill();
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  ASSERT_TRUE(settle(second));
  EXPECT_EQ(tables(), before);
  EXPECT_EQ(key_sets, 0u);
  // And changes them further.
  const PartitionOrder remove{
      .action = PartitionOrder::Action::Remove, .partition = "Red", .ports = {{gid(0).guid, {}}}};
  const auto removed = other->check({&remove, 1}, *second.manager().active().current());
  ASSERT_TRUE(removed) << removed.error().context;
  other->carry_out(removed->orders, "test", [](const Result<void>& kept) { ASSERT_TRUE(kept); });
  ASSERT_TRUE(run_until(
      [&] { return !second.manager().is_adopting_partitions() && second.manager().at_rest(); }));
  EXPECT_EQ(Ordered::trimmed(tables()[0]), Keys{0xffff});
  EXPECT_EQ(Ordered::trimmed(tables()[2]), (Keys{0xffff, 0x0020}));
}

/// As where the disk is so slow that a standby takes over meanwhile.
TEST_F(Succession, NoOrderOfPartitionsIsSaidToBeTakenWhenItIsKeptByAManagerThatRulesNoMore) {
  std::vector<PartitionControl::Saved> writes;
  const auto control = make_control(
      *first.store,
      [this]() -> SubnetManager& { return first.manager(); },
      [&writes](PartitionControl::Saved then) { writes.push_back(std::move(then)); });
  const AdminContext context{.manager = [this] { return &first.manager(); },
                             .transport = {},
                             .shutdown = {},
                             .uptime = {},
                             .partitions = control.get()};
  UfmCalls calls(context, {});
  std::string got;
  calls.answer({.method = "POST",
                .target = "/ufmRest/resources/pkeys",
                .authorization = "",
                .body = Json{{"pkey", "0x20"}, {"guids", Json::array()}}.dump()},
               [&got](const HttpAnswer& answer) {
                 got = fmt::format("{} {}", answer.status, *answer.body);
               });
  ASSERT_THAT(writes, SizeIs(1));
  second.kill();
  second.start(settings_of(12), "second", "first");
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Standby; }));
  EXPECT_EQ(got, "");
  writes.front()({});
  EXPECT_THAT(got, AllOf(HasSubstr("503"), HasSubstr("this manager is standby")));
}

TEST_F(Succession, NoOrderOfPartitionsIsTakenWhileTheSubnetIsHandedOverOrByAStandby) {
  const auto control =
      make_control(*first.store, [this]() -> SubnetManager& { return first.manager(); });
  const AdminContext context{.manager = [this] { return &first.manager(); },
                             .transport = {},
                             .shutdown = {},
                             .uptime = {},
                             .partitions = control.get()};
  const Json create{{"verb", "create"}, {"partition", "Red"}, {"p_key", "0x20"}};
  const std::string token(32, '7');
  UfmCalls calls(context, {.tokens = {token}});
  const auto call = [&](const char* method, const char* page, const std::string& body) {
    const HttpAnswer got = answer_of(calls,
                                     {.method = method,
                                      .target = std::string("/ufmRest/resources/") + page,
                                      .authorization = "Bearer " + token,
                                      .body = body});
    return fmt::format("{} {}", got.status, *got.body);
  };
  const std::string body = Json{{"pkey", "0x20"}, {"guids", {"0002c90300000001"}}}.dump();
  second.kill();
  second.start(settings_of(12), "second", "first");
  ASSERT_TRUE(run_until([&] { return first.manager().phase() == Phase::HandingOver; }));
  EXPECT_THAT(call("POST", "pkeys", body), HasSubstr("503"));
  EXPECT_THAT(call("POST", "pkeys", body), HasSubstr("is being handed over"));
  const auto early = answer_partition_command(context, create);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().context,
            "the subnet is being handed over; ask the next master in a moment");
  ASSERT_TRUE(run_until([&] { return first.state() == SmState::Standby; }));
  const auto late = answer_partition_command(context, create);
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().context, HasSubstr("this manager is standby; ask the master"));
  EXPECT_FALSE(answer_partition_command(context, Json::object())->at("rules").get<bool>());
  for (const auto& [method, page] :
       {std::pair("POST", "pkeys"), std::pair("PUT", "pkeys"), std::pair("GET", "ports")}) {
    EXPECT_THAT(call(method, page, method[0] == 'P' ? body : ""), HasSubstr("503"))
        << method << page;
    EXPECT_THAT(call(method, page, method[0] == 'P' ? body : ""),
                HasSubstr("this manager is standby"))
        << method << page;
  }
  EXPECT_THAT(control->orders(), IsEmpty());
}

}  // namespace
}  // namespace smd::test
