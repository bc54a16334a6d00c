// What OpenSM 3.3.23 is left, read back by what reads OpenSM's own files.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/policy/partition_orders.h"
#include "smd/state/opensm_import.h"

namespace smd {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLids =
    "0x0000000000010001 0x0001 0\n0x0000000000010005 0x0004 2\n0x0000000000020001 0xbfff 0\n";

TEST(OpensmExport, LidsAreWrittenAsOpensmWritesThem) {
  const auto files = export_for_opensm({{"lids", kLids}}, {.from = "state"}).value();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "guid2lid");
  EXPECT_EQ(files[0].text,
            "0x0000000000010001 0x0001 0x0001\n\n0x0000000000010005 0x0004 0x0007\n\n"
            "0x0000000000020001 0xbfff 0xbfff\n\n");
  EXPECT_EQ(files[0].note, "3 ports with LIDs");
}

TEST(OpensmExport, LidsComeBackAsTheyWere) {
  const LidBook book = parse_lid_book(kLids, "f").value();
  EXPECT_EQ(parse_guid2lid(print_guid2lid(book), "f").value(), book);
  const StateBundle bundle{{"lids", kLids}};
  const auto files = export_for_opensm(bundle, {.from = "state"}).value();
  EXPECT_EQ(import_state(files[0].text, "f", 0)->bundle, bundle);
}

constexpr const char* kRecords =
    "port 0x0000000000010001\n"
    "subscription 0x0000000000010001 1 0 0 0 65535 0 1 65535 65 16777215 18 3 0 0\n"
    "subscription 0x0000000000010001 1 1 0 0 4 5 1 3 144 4 19 0 2 0\n"
    "subscription 0x0000000000010005 7 0 0xfe80000000000000 9 0 0 0 1 64 5 0 0 0 0\n"
    "group 0xff15a01c00000000 7 0xc009 77 0x8001 4 3 19 2 3 4 5 6\n"
    "member 0x0000000000010001 5 1\n";

std::string service_line(char first_of_name, const char* lease) {
  std::string name(128, '0'), data;
  for (unsigned i = 0; i < 64; ++i) data += fmt::format("{:02x}", 3 * i + 1);
  name.replace(0, 4, fmt::format("{:02x}41", first_of_name));
  return fmt::format("service 0x10005 0x11 0xfe80000000000000 0x10005 0x8001 {} {} {} {}\n",
                     lease,
                     "000102030405060708090a0b0c0d0e0f",
                     name,
                     data);
}

std::vector<OpensmFile> exported(const std::string& records, std::uint64_t prefix) {
  return export_for_opensm({{"lids", kLids}, {"records", records}},
                           {.from = "f", .subnet_prefix = prefix, .wall_ms = 1'700'000'000'500})
      .value();
}

TEST(OpensmExport, SubscriptionsAndServicesComeBackAsTheyWere) {
  const std::string text =
      kRecords + service_line('a', "4294967295 never") + service_line('b', "100 1700000030500");
  const Moment now{.runtime = {}, .wall_ms = 1'700'000'000'500};
  const ClientRecords before = parse_records(text, "f", now).value();
  const auto files = exported(text, kDefaultSubnetPrefix);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].name, "opensm-sa.dump");
  const OpensmDump after = parse_opensm_dump(files[1].text, "f", now).value();
  EXPECT_EQ(after.records.subscriptions, before.subscriptions);
  EXPECT_EQ(after.records.services, before.services);
  EXPECT_EQ(after.groups, 1u);
}

TEST(OpensmExport, GroupsAndMembersHaveTheirWords) {
  const std::string text = exported(kRecords, 0xfec0000000000000).at(1).text;
  EXPECT_THAT(text,
              HasSubstr("MC Group 0xc009 : mgid=0xff15a01c00000000:0x0000000000000007 "
                        "port_gid=0x0000000000000000:0x0000000000000000 qkey=0x0000004d "
                        "mlid=0xc009 mtu=0x84 tclass=0x03 pkey=0x8001 rate=0x83 pkt_life=0x93 "
                        "sl_flow_hop=0x20000604 scope_state=0x51 proxy_join=0x0\n\n"
                        "mcm_port: port_gid=0xfec0000000000000:0x0000000000010001 "
                        "scope_state=0x55 proxy_join=0x1\n\n"));
}

TEST(OpensmExport, WhatTheFormatCannotSayIsCounted) {
  const auto note = [](const std::string& records) {
    return exported(records, kDefaultSubnetPrefix).at(1).note;
  };
  EXPECT_EQ(
      note(kRecords + service_line('a', "4294967295 never") + "alias 0x10001 9 5\n"),
      "1 multicast groups, 3 subscriptions, 1 services, 1 tables of alias GUIDs; left out: 0");
  for (const std::string& record :
       {service_line('\'', "4294967295 never"),
        service_line('\n', "4294967295 never"),
        std::string("subscription 0x99 1 0 0 0 65535 0 1 65535 65 16777215 18 3 0 0\n"),
        std::string("alias 0x99 1 5\n")}) {
    EXPECT_THAT(note(record), HasSubstr("0 services, 0 tables of alias GUIDs; left out: 1"))
        << record;
  }
  EXPECT_EQ(exported("port 0x10001\n", kDefaultSubnetPrefix).size(), 1u) << "nothing for a dump";
}

TEST(OpensmExport, AFaultInTheRecordsIsAFault) {
  EXPECT_FALSE(export_for_opensm({{"lids", kLids}, {"records", "what\n"}}, {.from = "f"}));
}

TEST(OpensmExport, OrderedPartitionsAreDefinitionsForTheEndOfTheFile) {
  const std::string orders =
      "create 0x0020 Red\nipoib 0x0020 mtu=5 scope=2 scope=5\nmember 0x0020 0x0000000000000007 "
      "full\n"
      "member 0x0020 0x0000000000000008 limited\nextend 0x0080 Storage\n"
      "member 0x0080 0x0000000000000009 full\ncreate 0x0021 Blue\n";
  const auto files =
      export_for_opensm({{"lids", kLids}, {"partition_orders", orders}}, {.from = "f"}).value();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].name, "partitions.ordered");
  const std::string file = "Storage=0x80: ALL;\n";
  const SitePartitions site{.file = "p", .reading = parse_partition_file(file, "p").value()};
  EXPECT_EQ(parse_partition_file(file + files[1].text, "p").value().rules,
            merge_partitions(site, parse_partition_orders(orders, "f").value()).rules);
  EXPECT_FALSE(export_for_opensm({{"lids", kLids}, {"partition_orders", "what\n"}}, {.from = "f"}));
}

TEST(OpensmExport, AStateWithoutLidsIsAFault) {
  for (const StateBundle& bundle : {StateBundle{}, StateBundle{{"lids", ""}}}) {
    const auto files = export_for_opensm(bundle, {.from = "/where"});
    ASSERT_FALSE(files);
    EXPECT_THAT(print_fault(files.error().front()), HasSubstr("/where: has no LIDs"));
  }
}

}  // namespace
}  // namespace smd
