// Partitions that were ordered: their text, what they come to together with partitions.conf, and
// which orders are refused with which line.
#include <gmock/gmock.h>

#include "smd/policy/partition_orders.h"
#include "tests/unit/policy/parsed.h"

namespace smd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Action = PartitionOrder::Action;

constexpr Guid kOwn{0xaa};

SitePartitions site_of(const std::string& text) {
  return {.file = "p.conf", .reading = test::accepted(parse_partition_file(text, "p.conf"))};
}

const char* const kFile =
    "Default=0x7fff: ALL=limited, 0x9=full;\n"
    "Storage=0x80, ipoib: 0x1=full, 0x2=limited;\n"
    "Open=0x90: ALL_CAS=full;\n"
    "0xa0: SELF=full;\n";

std::string why_not(const SitePartitions& site,
                    const PartitionOrders& before,
                    const PartitionOrder& order) {
  const auto taken = take_order(site, before, order, kOwn);
  return taken ? "" : taken.error();
}

PartitionOrders with(const SitePartitions& site,
                     const PartitionOrders& before,
                     const PartitionOrder& order) {
  auto taken = take_order(site, before, order, kOwn);
  if (taken) return std::move(*taken);
  ADD_FAILURE() << taken.error();
  return before;
}

const PartitionOrder kCreate{
    .action = Action::Create,
    .partition = "Tenant",
    .p_key = "0x20",
    .ipoib = partition_text::GroupFlags{.rate = 4, .mtu = 5},
    .ports = {{Guid{7}, Membership::Full}, {Guid{8}, Membership::Limited}}};

const PartitionMember* last_of(const Partition& partition, std::uint64_t port) {
  const PartitionMember* out = nullptr;
  for (const PartitionMember& each : partition.members) {
    if (each.kind == MemberKind::Port && each.guid == Guid{port}) out = &each;
  }
  return out;
}

TEST(PartitionOrders, AreLinesThatAreReadBack) {
  const SitePartitions site = site_of(kFile);
  PartitionOrders orders = with(site, {}, kCreate);
  orders =
      with(site,
           orders,
           {.action = Action::Add, .partition = "Storage", .ports = {{Guid{3}, Membership::Full}}});
  const std::string text = print_partition_orders(orders);
  EXPECT_EQ(text,
            "create 0x0020 Tenant\n"
            "ipoib 0x0020 rate=4 mtu=5\n"
            "member 0x0020 0x0000000000000007 full\n"
            "member 0x0020 0x0000000000000008 limited\n"
            "extend 0x0080 Storage\n"
            "member 0x0080 0x0000000000000003 full\n");
  EXPECT_EQ(test::accepted(parse_partition_orders("\n" + text, "f")), orders);
  EXPECT_THAT(test::accepted(parse_partition_orders("", "f")), IsEmpty());
  // Every flag, and a name with blanks, as partitions.conf may have one.
  PartitionOrders all{{.key = 1, .name = "My Partition", .created = true}};
  all[0].ipoib = partition_text::GroupFlags{.rate = 3,
                                            .mtu = 4,
                                            .sl = 1,
                                            .q_key = 0xffffffff,
                                            .tclass = 2,
                                            .flow_label = 0xfffff,
                                            .scopes = 1u << 2 | 1u << 5};
  EXPECT_EQ(test::accepted(parse_partition_orders(print_partition_orders(all), "f")), all);
}

TEST(PartitionOrders, MayPutTheKeyFirst) {
  const SitePartitions site = site_of(kFile);
  PartitionOrder create = kCreate;
  create.first = true;
  PartitionOrders orders = with(site, {}, create);
  orders =
      with(site,
           orders,
           {.action = Action::Add, .partition = "Tenant", .ports = {{Guid{9}, Membership::Full}}});
  const std::string text = print_partition_orders(orders);
  EXPECT_THAT(text, HasSubstr("member 0x0020 0x0000000000000007 full index0\n"));
  EXPECT_THAT(text, HasSubstr("member 0x0020 0x0000000000000009 full\n"));
  EXPECT_EQ(test::accepted(parse_partition_orders(text, "f")), orders);
  const auto stands_first = [](const PartitionFile& rules, std::uint64_t port) {
    const auto tenant = std::ranges::find(rules.partitions, 0x20, &Partition::key);
    return last_of(*tenant, port)->first;
  };
  const PartitionFile as_file =
      test::accepted(parse_partition_file(print_as_definitions(orders), "f")).rules;
  for (const PartitionFile& rules : {merge_partitions(site, orders).rules, as_file}) {
    EXPECT_TRUE(stands_first(rules, 7));
    EXPECT_TRUE(stands_first(rules, 8));
    EXPECT_FALSE(stands_first(rules, 9));
  }
  create.action = Action::Add;
  create.first.reset();
  orders = with(site, orders, create);
  EXPECT_TRUE(stands_first(merge_partitions(site, orders).rules, 7)) << "nobody said otherwise";
  PartitionOrder other{.action = Action::Create,
                       .partition = "Other",
                       .p_key = "0x21",
                       .ports = {{Guid{7}, Membership::Full}},
                       .first = true};
  orders = with(site, orders, other);
  EXPECT_FALSE(stands_first(merge_partitions(site, orders).rules, 7)) << "the last order counts";
  EXPECT_TRUE(stands_first(merge_partitions(site, orders).rules, 8));
  create.first = false;
  orders = with(site, orders, create);
  EXPECT_FALSE(stands_first(merge_partitions(site, orders).rules, 8));
  create.action = Action::Remove;
  EXPECT_THAT(with(site, orders, create)[0].first, IsEmpty());
}

/// Whoever orders for one tenant does not move the ports of another between partitions.
TEST(PartitionOrders, ThatWantNoFirstPlaceLeaveThatOfAnotherPartition) {
  const SitePartitions site = site_of(kFile);
  PartitionOrder create = kCreate;
  create.first = true;
  PartitionOrders orders = with(site, {}, create);
  orders = with(site,
                orders,
                {.action = Action::Create,
                 .partition = "Other",
                 .p_key = "0x21",
                 .ports = {{Guid{7}, Membership::Full}},
                 .first = false});
  const PartitionFile rules = merge_partitions(site, orders).rules;
  const auto tenant = std::ranges::find(rules.partitions, 0x20, &Partition::key);
  EXPECT_TRUE(last_of(*tenant, 7)->first);
  const auto other = std::ranges::find(rules.partitions, 0x21, &Partition::key);
  EXPECT_FALSE(last_of(*other, 7)->first);
}

TEST(PartitionOrders, PutNoKeyFirstAgainstTheFileOrTheManager) {
  const SitePartitions site = site_of(
      "Default=0x7fff: ALL;\n"
      "Site=0x11: ALL, 0x5=full;\n"
      "Rack=0x12, indx0: 0x6=full;\n");
  const auto refusal = [&](const char* partition, std::uint64_t port) {
    const auto taken = take_order(site,
                                  {},
                                  {.action = Action::Add,
                                   .partition = partition,
                                   .ports = {{Guid{port}, Membership::Full}},
                                   .first = true},
                                  Guid{1});
    return taken ? std::string() : taken.error();
  };
  EXPECT_THAT(refusal("Site", 5), HasSubstr(":2: port 0x0000000000000005 is in 'Site' without"));
  EXPECT_THAT(refusal("Site", 7), HasSubstr(":2: ALL is in 'Site' without indx0"));
  EXPECT_THAT(refusal("Rack", 1), HasSubstr("the manager's own port"));
  EXPECT_EQ(refusal("Rack", 6), "") << "it is first there";
  EXPECT_EQ(refusal("Rack", 7), "");
  const PartitionOrder create{.action = Action::Create,
                              .partition = "Tenant",
                              .p_key = "0x20",
                              .ports = {{Guid{6}, Membership::Full}},
                              .first = true};
  const auto taken = take_order(site, {}, create, Guid{1});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error(),
              HasSubstr(":3: indx0 has 'Rack' stand first for port 0x0000000000000006"));
}

TEST(PartitionOrders, EveryLineThatIsNoneIsNamed) {
  const auto line_of = [](const std::string& bad) {
    const auto faults =
        test::print_faults(parse_partition_orders("create 0x20 A\n" + bad + "\n", "f"));
    return faults.size() == 1 ? faults.front() : fmt::format("{} faults", faults.size());
  };
  EXPECT_THAT(line_of("what"), HasSubstr("f:2: 'what': is no order; create KEY NAME, extend"));
  for (const char* bad :
       {"create 0 B", "create 0x10000 B", "create 0x8000 B", "create B", "member"})
    EXPECT_THAT(line_of(bad), HasSubstr("is no order")) << bad;
  EXPECT_THAT(line_of("create 0x21"), HasSubstr("has no name"));
  EXPECT_THAT(line_of("extend 0x20 B"), HasSubstr("0x0020 is 'A' already"));
  EXPECT_THAT(line_of("member 0x21 0x1 full"), HasSubstr("no line create or extend before it"));
  for (const char* bad : {"member 0x20",
                          "member 0x20 1 full",
                          "member 0x20 0x0 full",
                          "member 0x20 0xffffffffffffffff full",
                          "member 0x20 0x1",
                          "member 0x20 0x1 both",
                          "member 0x20 0x1 full more",
                          "member 0x20 0x11111111111111111 full"})
    EXPECT_THAT(line_of(bad), HasSubstr("is no member; member KEY GUID full|limited [index0]"))
        << bad;
  EXPECT_THAT(line_of("ipoib 0x20 mtu"), HasSubstr("'mtu' is no FLAG=VALUE"));
  EXPECT_THAT(line_of("ipoib 0x20 mtu=9"), HasSubstr("mtu=9; a number from 1 to 5"));
  EXPECT_THAT(line_of("ipoib 0x20 color=9"), HasSubstr("no flag 'color' of a group"));
  EXPECT_THAT(test::print_faults(parse_partition_orders(
                  "create 0x20 A\nmember 0x20 0x1 full\nmember 0x20 0x1 limited\n", "f")),
              ElementsAre(HasSubstr("f:3: ")));
}

TEST(PartitionOrders, AddToWhatTheFileSays) {
  const SitePartitions site = site_of(kFile);
  PartitionOrders orders = with(site, {}, kCreate);
  orders = with(site,
                orders,
                {.action = Action::Add,
                 .partition = "0x8080",
                 .ports = {{Guid{3}, Membership::Full}, {Guid{4}, Membership::Limited}}});
  const MergedPartitions merged = merge_partitions(site, orders);
  EXPECT_THAT(merged.conflicts, IsEmpty());
  EXPECT_TRUE(merged.ordered);
  ASSERT_THAT(merged.rules.partitions, SizeIs(5));
  const Partition& storage = merged.rules.partitions[1];
  EXPECT_EQ(last_of(storage, 1)->membership, Membership::Full);
  EXPECT_EQ(last_of(storage, 3)->membership, Membership::Full);
  EXPECT_EQ(last_of(storage, 4)->membership, Membership::Limited);
  const Partition& tenant = merged.rules.partitions[4];
  EXPECT_EQ(tenant.key, 0x20);
  EXPECT_EQ(tenant.name, "Tenant");
  EXPECT_EQ(last_of(tenant, 8)->membership, Membership::Limited);
  ASSERT_THAT(merged.rules.groups, SizeIs(2));
  EXPECT_EQ(merged.rules.groups[1].mgid, (Gid{0xff12401b80200000, Guid{0xffffffff}}));
  EXPECT_EQ(merged.rules.groups[1].mtu, 5);
  EXPECT_EQ(merged.rules.groups[1].rate, 4);
  EXPECT_EQ(merged.rules.groups[1].q_key, 0x0b1bu);
  // And nothing where nothing was ordered.
  EXPECT_EQ(merge_partitions(site, {}).rules, site.reading.rules);
  EXPECT_FALSE(merge_partitions(site, {}).ordered);
}

TEST(PartitionOrders, ThatAreMissingElsewhereAreNamed) {
  const PartitionOrders before{
      {.key = 0x22, .name = "Blue", .created = true, .members = {{Guid{7}, Membership::Full}}},
      {.key = 0x23, .name = "Red", .members = {{Guid{8}, Membership::Full}}}};
  PartitionOrders now = before;
  EXPECT_THAT(find_missing(before, now), IsEmpty());
  now[0].members[Guid{7}] = Membership::Limited;
  now.pop_back();
  EXPECT_THAT(find_missing(before, now),
              ElementsAre("create 0x0022 Blue 0x0000000000000007=full",
                          "extend 0x0023 Red 0x0000000000000008=full"));
  EXPECT_THAT(find_missing({}, before), IsEmpty());
}

TEST(PartitionOrders, AreTakenBackOneByOne) {
  const SitePartitions site = site_of(kFile);
  const PartitionOrder add{
      .action = Action::Add, .partition = "Storage", .ports = {{Guid{3}, Membership::Full}}};
  PartitionOrders orders = with(site, {}, add);
  EXPECT_EQ(with(site, orders, add), orders) << "once more changes nothing";
  orders = with(
      site,
      orders,
      {.action = Action::Add, .partition = "Storage", .ports = {{Guid{3}, Membership::Limited}}});
  EXPECT_EQ(orders[0].members.at(Guid{3}), Membership::Limited);
  PartitionOrder remove = add;
  remove.action = Action::Remove;
  EXPECT_THAT(with(site, orders, remove), IsEmpty());
  // What the file says already is not kept.
  EXPECT_THAT(
      with(site,
           {},
           {.action = Action::Add, .partition = "Storage", .ports = {{Guid{1}, Membership::Full}}}),
      IsEmpty());
  orders = with(site, {}, kCreate);
  orders = with(
      site, orders, {.action = Action::Remove, .partition = "Tenant", .ports = {{Guid{7}, {}}}});
  EXPECT_THAT(orders[0].members, SizeIs(1));
  EXPECT_THAT(with(site, orders, {.action = Action::Delete, .partition = "32"}), IsEmpty());
}

TEST(PartitionOrders, GroupsOfOrderedPartitionsAreChangedInPlace) {
  const SitePartitions site = site_of(kFile);
  const PartitionOrder other{.action = Action::Create, .partition = "Other", .p_key = "0x21"};
  const PartitionOrders before = with(site, with(site, {}, kCreate), other);
  PartitionOrder set{.action = Action::SetGroup,
                     .partition = "Tenant",
                     .ipoib = partition_text::GroupFlags{.rate = 3, .sl = 2}};
  PartitionOrders wanted = before;
  wanted[0].ipoib = set.ipoib;
  EXPECT_EQ(with(site, before, set), wanted);
  set.partition = "Other";
  EXPECT_THAT(why_not(site, before, set), HasSubstr("'Other' has no IPoIB group"));
  set.partition = "Storage";
  EXPECT_EQ(why_not(site, before, set), "p.conf:2: defines 0x0080 and its group; change it there");
}

TEST(PartitionOrders, AreRefusedWithALineThatSaysWhatWouldBeRight) {
  const SitePartitions site = site_of(kFile);
  const PartitionOrders there = with(site, {}, kCreate);
  const auto create = [&](const std::string& name, const std::string& key) {
    return why_not(site, there, {.action = Action::Create, .partition = name, .p_key = key});
  };
  for (const char* name : {"", "1st", "a b", "0x30", "x,y", "-x", "a\nb"})
    EXPECT_THAT(create(name, "0x30"), HasSubstr("is no name of a partition; a letter")) << name;
  EXPECT_THAT(create(std::string(65, 'x'), "0x30"), HasSubstr("is no name of a partition"));
  EXPECT_EQ(create(std::string(64, 'x'), "0x30"), "");
  for (const char* key : {"", "0", "0x8000", "0x10000", "-1", "0x", "0xzz", "48x"})
    EXPECT_EQ(create("New", key), fmt::format("'{}' is no P_Key; 0x0001 to 0x7ffe", key));
  EXPECT_THAT(create("New", "0xffff"),
              HasSubstr("0x7fff is the default partition, which is there"));
  EXPECT_EQ(create("New", "0x80"),
            "p.conf:2: 0x0080 is 'Storage'; another P_Key, or smctl partition add Storage");
  EXPECT_EQ(create("New", "0x8020"),
            "0x0020 is 'Tenant' already; another P_Key, or smctl partition add Tenant");
  EXPECT_EQ(create("Storage", "0x30"),
            "'Storage' is 0x0080 already; another name, or smctl partition add Storage");
  EXPECT_THAT(create("Tenant", "0x30"), HasSubstr("'Tenant' is 0x0020 already"));
  PartitionOrder twice = kCreate;
  twice.ports = {{Guid{7}, Membership::Full}, {Guid{7}, Membership::Limited}};
  EXPECT_EQ(why_not(site, {}, twice), "0x0000000000000007 is named twice; once");

  const auto remove = [&](const std::string& name) {
    return why_not(site, there, {.action = Action::Delete, .partition = name});
  };
  EXPECT_EQ(remove("Tennant"),
            "there is no partition 'Tennant'; 'Tenant'? there are: Default, Storage, Open, 00a0, "
            "Tenant");
  EXPECT_THAT(remove("0x30"), HasSubstr("there is no partition '0x30'; there are: Default"));
  EXPECT_THAT(remove("0x7fff"), HasSubstr("the default partition cannot be deleted"));
  EXPECT_THAT(remove("Default"), HasSubstr("the default partition cannot be deleted"));
  EXPECT_THAT(remove("Storage"), HasSubstr("p.conf:2: defines 'Storage'; delete it there"));

  const auto add = [&](const std::string& name, Guid port, Membership membership) {
    return why_not(
        site, there, {.action = Action::Add, .partition = name, .ports = {{port, membership}}});
  };
  EXPECT_EQ(add("Storage", Guid{2}, Membership::Full),
            "p.conf:2: 0x0000000000000002 is a limited member of 'Storage'; change it there");
  EXPECT_EQ(add("Storage", Guid{1}, Membership::Limited),
            "p.conf:2: 0x0000000000000001 is a full member of 'Storage'; change it there");
  EXPECT_EQ(
      add("Open", Guid{5}, Membership::Limited),
      "p.conf:3: ALL_CAS makes full members of 'Open', 0x0000000000000005 perhaps among them; "
      "change it there");
  EXPECT_EQ(add("Open", Guid{5}, Membership::Full), "");
  EXPECT_THAT(add("Default", kOwn, Membership::Limited), HasSubstr("is the manager's own port"));
  EXPECT_THAT(add("0xa0", kOwn, Membership::Limited),
              HasSubstr("p.conf:4: SELF makes full members"));
  EXPECT_EQ(add("0xa0", Guid{5}, Membership::Limited), "") << "SELF is the manager's port alone";
  EXPECT_EQ(add("Default", Guid{5}, Membership::Full), "") << "more than the file gives";
  EXPECT_THAT(why_not(site, there, {.action = Action::Add, .partition = "Tenant"}),
              HasSubstr("no port is named"));

  const auto take_out = [&](const std::string& name, Guid port) {
    return why_not(
        site, there, {.action = Action::Remove, .partition = name, .ports = {{port, {}}}});
  };
  EXPECT_EQ(take_out("Storage", Guid{1}),
            "p.conf:2: 0x0000000000000001 is a member of 'Storage'; take it out there");
  EXPECT_THAT(take_out("Open", Guid{5}), HasSubstr("p.conf:3: ALL_CAS are members of 'Open'"));
  EXPECT_THAT(take_out("Default", kOwn), HasSubstr("stays in the default partition"));
  EXPECT_EQ(take_out("Tenant", Guid{5}),
            "0x0000000000000005 is no member of 'Tenant'; smctl partition show Tenant lists them");
  // Whole or not at all.
  EXPECT_THAT(why_not(site,
                      there,
                      {.action = Action::Remove,
                       .partition = "Tenant",
                       .ports = {{Guid{7}, {}}, {Guid{5}, {}}}}),
              HasSubstr("0x0000000000000005 is no member"));
}

TEST(PartitionOrders, WithoutAFileStandOnTheDefaultPartition) {
  const SitePartitions none;
  const PartitionOrders orders = with(none, {}, kCreate);
  const MergedPartitions merged = merge_partitions(none, orders);
  ASSERT_THAT(merged.rules.partitions, SizeIs(2));
  EXPECT_EQ(merged.rules.partitions[0], default_partitions().partitions[0]);
  EXPECT_THAT(why_not(none,
                      orders,
                      {.action = Action::Add,
                       .partition = "Default",
                       .ports = {{Guid{5}, Membership::Limited}}}),
              HasSubstr("without partitions.file: ALL makes full members of 'Default'"));
}

TEST(PartitionOrders, GiveWayToAFileThatIsChangedLater) {
  PartitionOrders orders = with(site_of(kFile), {}, kCreate);
  orders =
      with(site_of(kFile),
           orders,
           {.action = Action::Add, .partition = "Storage", .ports = {{Guid{3}, Membership::Full}}});
  // The P_Key is somebody else's now: none of those who were let in may be there.
  const SitePartitions taken = site_of("# a\nOther=0x20: 0x1=full;\nStorage=0x80: 0x3=limited;\n");
  const MergedPartitions merged = merge_partitions(taken, orders);
  EXPECT_EQ(merged.rules, taken.reading.rules);
  EXPECT_THAT(
      merged.conflicts,
      ElementsAre("p.conf:2: 0x0020 is 'Other'; what was ordered as 'Tenant' is not in force; "
                  "smctl partition delete Tenant takes it away",
                  "p.conf:3: 0x0000000000000003 is a limited member of 'Storage'; that it was "
                  "made a full one by order is not in force"));
  EXPECT_THAT(
      why_not(
          taken,
          orders,
          {.action = Action::Add, .partition = "Tenant", .ports = {{Guid{9}, Membership::Full}}}),
      HasSubstr("p.conf:2: 0x0020 is 'Other'"));
  EXPECT_THAT(merge_partitions(
                  taken, with(taken, orders, {.action = Action::Delete, .partition = "Tenant"}))
                  .conflicts,
              SizeIs(1));
  // The file does not define what ports were added to: they must not keep it alive.
  const SitePartitions gone = site_of("Default: ALL;\n");
  EXPECT_THAT(
      merge_partitions(gone, orders).conflicts,
      ElementsAre(HasSubstr("p.conf: 0x0080 'Storage', to which ports were added by order, is "
                            "not defined any more")));
  EXPECT_THAT(with(gone, orders, {.action = Action::Delete, .partition = "Storage"}), SizeIs(1));
  // Its name alone is taken.
  const SitePartitions named = site_of("Tenant=0x30: 0x1=full;\nStorage=0x80: ALL;\n");
  const MergedPartitions renamed = merge_partitions(named, orders);
  EXPECT_THAT(renamed.conflicts, ElementsAre(HasSubstr("p.conf:1: 'Tenant' is 0x0030; 0x0020")));
  EXPECT_EQ(renamed.rules.partitions.back().name, "0020");
  EXPECT_THAT(renamed.rules.partitions.back().members, SizeIs(2));
  // The file defines it as well: both count.
  const SitePartitions same =
      site_of("Tenant=0x20, ipoib, mtu=2: 0x1=full, 0x7=full;\nStorage=0x80: ALL;\n");
  const MergedPartitions both = merge_partitions(same, orders);
  EXPECT_THAT(both.conflicts, ElementsAre(HasSubstr("p.conf:1: 'Tenant' has an IPoIB group")));
  EXPECT_EQ(both.rules.groups[0].mtu, 2);
  EXPECT_EQ(last_of(both.rules.partitions[1], 8)->membership, Membership::Limited);
  EXPECT_THAT(why_not(same, orders, {.action = Action::Delete, .partition = "Tenant"}),
              HasSubstr("p.conf:1: defines 'Tenant'"));
}

TEST(PartitionOrders, LimitedMembersTakeNothingFromWhomTheFileMakesFullOnes) {
  // ALL_SWITCHES=full came into the file after the order.
  const SitePartitions site = site_of("A=1: 0x1=full, ALL_CAS=full; B=2,indx0: ALL=limited;\n");
  const MergedPartitions merged =
      merge_partitions(site,
                       {{.key = 1, .name = "A", .members = {{Guid{5}, Membership::Limited}}},
                        {.key = 2, .name = "B", .members = {{Guid{5}, Membership::Full}}}});
  const Partition& a = merged.rules.partitions[1];
  EXPECT_EQ(a.members.front().guid, Guid{5}) << "what the file says comes later, and counts";
  EXPECT_EQ(a.members.back().kind, MemberKind::AllCas);
  const Partition& b = merged.rules.partitions[2];
  EXPECT_EQ(b.members.back().membership, Membership::Full);
  EXPECT_TRUE(b.members.back().first) << "indx0 of the partition is the port's as before";
}

}  // namespace
}  // namespace smd
