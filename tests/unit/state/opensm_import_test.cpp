// What OpenSM 3.3.23 leaves on its disk, and the export of our own state.
#include "smd/state/opensm_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "smd/state/state_bundle.h"
#include "smd/state/state_directory.h"

namespace smd {
namespace {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;

constexpr std::int64_t kWall = 1'700'000'000'000;

/// As opensm 3.3.23 writes it.
constexpr const char* kGuid2Lid =
    "0x0000000000020001 0x0002 0x0002\n\n"
    "0x0000000000010005 0x0004 0x0007\n\n"
    "0x0000000000010001 0x0001 0x0001\n\n";

constexpr const char* kDump =
    "MC Group 0xc000  (well known): mgid=0xff12401bffff0000:0x00000000ffffffff"
    " port_gid=0x0000000000000000:0x0000000000000000 qkey=0x00000b1b mlid=0xc000 mtu=0x84"
    " tclass=0x00 pkey=0xffff rate=0x83 pkt_life=0x92 sl_flow_hop=0x00000000 scope_state=0x21"
    " proxy_join=0x0\n\n"
    "mcm_port: port_gid=0xfe80000000000000:0x0000000000010001 scope_state=0x21 proxy_join=0x0\n\n"
    "InformInfo Record: subscriber_gid=0xfe80000000000000:0x0000000000010001 subscriber_enum=0x0"
    " InformInfo: gid=0x0000000000000000:0x0000000000000000 lid_range_begin=0xffff"
    " lid_range_end=0x0 is_generic=0x1 subscribe=0x1 trap_type=0xffff trap_num=0x41"
    " qpn_resp_time_val=0x112 node_type=0xffffff rep_addr: lid=0x0001 path_bits=0x00"
    " static_rate=0x00 remote_qp=0x00000001 remote_qkey=0x80010000 pkey_ix=0x0000 sl=0x03\n\n"
    "Service Record: id=0x0000000000000007 gid=0xfe80000000000000:0x0000000000010005 pkey=0xffff"
    " lease=0x64 key=0x0102030405060708:0x090a0b0c0d0e0f10 name='it's a ' name=x'"
    " data8=0x1100000000000000:0x0000000000000022"
    " data16=0x3300000000000000:0x0000000000000044"
    " data32=0x5500000000000000:0x0000000000000066"
    " data64=0x7700000000000000:0x0000000000000088 modified_time=0x6553f100 lease_period=0x1e\n\n";

TEST(OpensmImport, LidsAreTakenOver) {
  const LidBook book = parse_guid2lid(kGuid2Lid, "guid2lid").value();
  ASSERT_EQ(book.size(), 3u);
  EXPECT_EQ(book.at(Guid{0x10005}).base, Lid{4});
  EXPECT_EQ(book.at(Guid{0x10005}).lmc, 2);
  EXPECT_EQ(book.at(Guid{0x20001}).lmc, 0);
}

TEST(OpensmImport, EveryLineThatIsNoneIsNamedWithItsWord) {
  for (const auto& [bad, column] :
       std::vector<std::pair<const char*, int>>{{"0x1", 1},
                                                {"0x1 0x2", 1},
                                                {"0x1 0x3 0x2", 9},
                                                {"0x1 0x0 0x0", 5},
                                                {"0x0 0x9 0x9", 1},
                                                {"0x1 0xc000 0xc000", 5},
                                                {"0x1 0x8 0xc000", 9},
                                                {"0x1 0x8 0xa", 5},
                                                {"0x1 0x9 0xa", 5},
                                                {"0x1 0x0002 0x0002", 5},
                                                {"0x0000000000020001 0x9 0x9", 1},
                                                {"0x1 0x9 0x9 0x9", 13},
                                                {"  0x1 \t0x9 zzz", 12},
                                                {"0x1 0xyz 0x9", 5},
                                                {"1 2 3", 1}}) {
    const auto parsed = parse_guid2lid(std::string(kGuid2Lid) + bad + "\n", "f");
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error()[0].line, 7) << bad;
    EXPECT_EQ(parsed.error()[0].column, column) << bad;
  }
}

/// A line of kDump with one word changed; its line in the file, the column of the word.
TEST(OpensmImport, AWordOfADumpThatIsNoneIsNamed) {
  const Moment now{.runtime = {100s}, .wall_ms = kWall};
  const auto fault_of = [&](const std::string& right, const std::string& wrong) {
    std::string text = kDump;
    const std::size_t at = text.find(right);
    EXPECT_NE(at, std::string::npos) << right;
    text.replace(at, right.size(), wrong);
    const auto parsed = parse_opensm_dump(text, "f", now);
    if (parsed || parsed.error().size() != 1) return std::string("not one fault");
    // Where the changed word stands, counted by hand: behind the last line feed before it.
    const std::size_t begin = text.rfind('\n', at) + 1;
    return print_fault(parsed.error()[0]) + fmt::format(" [column {}]", at - begin + 1);
  };
  EXPECT_EQ(fault_of("lease=0x64", "leese=0x64"),
            "f:7:93: no service record as OpenSM 3.3 writes it: no field is called 'leese'; the "
            "nearest is lease; it is missing [column 93]");
  EXPECT_EQ(
      fault_of("id=0x0000000000000007", "id=0xzz"),
      "f:7:22: no service record as OpenSM 3.3 writes it: 'zz' is no hexadecimal number up to "
      "ffffffffffffffff [column 17]");
  EXPECT_EQ(fault_of("sl=0x03", "sl=0x10"),
            "f:5:408: no InformInfo record as OpenSM 3.3 writes it: '10' is no hexadecimal number "
            "up to f [column 403]");
  EXPECT_EQ(fault_of(" remote_qp=0x00000001", ""),
            "f:5:291: no InformInfo record as OpenSM 3.3 writes it: remote_qp is missing from here "
            "on [column 343]");
  EXPECT_EQ(fault_of("mcm_port:", "mcm_prt:"),
            "f:3:1: no record of opensm-sa.dump; the nearest is mcm_port; one of Service Record, "
            "InformInfo Record, GUIDInfo Record, MC Group, mcm_port [column 1]");
  EXPECT_EQ(fault_of("data8=0x1100000000000000:0x", "data8=0x1100000000000000-0x"),
            "f:7:193: no service record as OpenSM 3.3 writes it: the second half of a number is "
            "missing from here on [column 169]");
}

TEST(OpensmImport, SubscriptionsAndServicesAreTakenOver) {
  const Moment now{.runtime = {100s}, .wall_ms = kWall};
  const OpensmDump dump = parse_opensm_dump(kDump, "f", now).value();
  EXPECT_EQ(dump.groups, 1u);
  ASSERT_EQ(dump.records.subscriptions.size(), 1u);
  const auto& [who, list] = *dump.records.subscriptions.begin();
  EXPECT_EQ(who, (sa::Subscriber{Guid{0x10001}, 1}));
  EXPECT_EQ(list[0].info.trap_or_device, 65);
  EXPECT_EQ(list[0].info.lid_first, sa::kAnyLid);
  EXPECT_EQ(list[0].info.resp_time, 18);
  EXPECT_EQ(list[0].sl, 3);
  ASSERT_EQ(dump.records.services.size(), 1u);
  const sa::Service& service = dump.records.services[0];
  EXPECT_EQ(service.record.id, 7u);
  EXPECT_EQ(service.record.lease_s, 100u);
  EXPECT_EQ(*service.expires, now.runtime + Duration{30s});
  EXPECT_EQ(service.record.key[0], 1);
  EXPECT_EQ(service.record.key[15], 16);
  EXPECT_STREQ(reinterpret_cast<const char*>(service.record.name.data()), "it's a ' name=x");
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(service.record.data[i % 2 == 0 ? 8 * i : 8 * i + 7], 0x11 * (i + 1)) << i;
  EXPECT_FALSE(parse_opensm_dump("what\n", "f", now));
  EXPECT_FALSE(parse_opensm_dump("Service Record: id=0x7\n", "f", now));
  EXPECT_FALSE(parse_opensm_dump("InformInfo Record: subscriber_gid=0x1:0x2\n", "f", now));
}

/// They ran on since OpenSM wrote them.
TEST(OpensmImport, LeasesCountFromWhenTheyWereWritten) {
  const auto services_after = [](std::int64_t seconds, std::string text = kDump) {
    const Moment now{.runtime = {100s}, .wall_ms = kWall + 1000 * seconds};
    return parse_opensm_dump(text, "f", now).value().records.services;
  };
  ASSERT_EQ(services_after(12).size(), 1u);
  EXPECT_EQ(services_after(12)[0].expires, TimePoint{118s});
  EXPECT_EQ(services_after(29).size(), 1u);
  EXPECT_EQ(services_after(30).size(), 0u);
  EXPECT_EQ(services_after(10'000'000).size(), 0u);
  EXPECT_EQ(services_after(-500)[0].expires, TimePoint{130s}) << "the clock was set";
  std::string forever = kDump;
  forever.replace(forever.rfind("0x1e"), 4, "0xffffffff");
  ASSERT_EQ(services_after(10'000'000, forever).size(), 1u);
  EXPECT_EQ(services_after(10'000'000, forever)[0].expires, std::nullopt);
}

TEST(StateBundle, GoesOutAndComesBack) {
  const StateBundle bundle{{"lids", "0x0000000000000001 0x0001 0\n"},
                           {"partition_orders", "create 0x0020 Red\n"},
                           {"turns", "0x0000000000000002 1 2\n"},
                           {"rows", "set by routes\n"},
                           {"records", "port 0x0000000000000001\n"}};
  const std::string text = print_bundle(bundle);
  EXPECT_EQ(parse_bundle(text, "f").value(), bundle);
  EXPECT_EQ(import_state(text, "f", kWall)->bundle, bundle);
  EXPECT_EQ(parse_bundle(print_bundle({}), "f").value(), StateBundle{});
  std::string folder = testing::TempDir() + "/smd-bundle-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(read_bundle(folder).value(), StateBundle{});
  for (const auto& [kind, content] : bundle) ASSERT_TRUE(write_state(folder, kind, content));
  EXPECT_EQ(read_bundle(folder).value(), bundle);
  std::filesystem::remove_all(folder);
}

TEST(StateBundle, FaultsOfEveryKindAreNamed) {
  const auto fault_of = [](const std::string& text) {
    const auto parsed = parse_bundle(text, "f");
    return parsed ? std::string("none") : print_fault(parsed.error().front());
  };
  const std::string mark = "# smd-export 1\n";
  EXPECT_THAT(fault_of("# smd-export 2\n"), HasSubstr("f:1:"));
  EXPECT_THAT(fault_of(mark + "== what\n"), HasSubstr("f:2: there is no state 'what'"));
  EXPECT_THAT(fault_of(mark + "what\n"), HasSubstr("f:2:"));
  EXPECT_THAT(fault_of(mark + "== lids\n0x1 1 0\nwhat\n"), HasSubstr("f (lids):2:"));
  EXPECT_THAT(fault_of(mark + "== turns\nwhat\n"), HasSubstr("f (turns):1:"));
  EXPECT_THAT(fault_of(mark + "== partition_orders\nwhat\n"), HasSubstr("f (partition_orders):1:"));
  EXPECT_THAT(fault_of(mark + "== records\nwhat\n"), HasSubstr("f (records):1:"));
}

TEST(StateBundle, FilesAreToldApartByTheirContent) {
  const Imported lids = import_state(kGuid2Lid, "f", kWall).value();
  EXPECT_EQ(lids.bundle.at("lids"),
            "0x0000000000010001 0x0001 0\n0x0000000000010005 0x0004 2\n"
            "0x0000000000020001 0x0002 0\n");
  const Imported dump = import_state(kDump, "f", kWall).value();
  EXPECT_THAT(dump.bundle.at("records"), HasSubstr("subscription 0x0000000000010001 1 "));
  EXPECT_THAT(dump.bundle.at("records"), HasSubstr(fmt::format(" {} ", kWall + 30'000)));
  EXPECT_THAT(dump.note, HasSubstr("1 multicast groups"));
  const Imported links =
      import_state("0x0000000000020001:2 0x0000000000010003:1\n\n", "f", kWall).value();
  EXPECT_TRUE(links.bundle.empty());
  EXPECT_FALSE(import_state("hello\n", "f", kWall));
  EXPECT_FALSE(import_state("", "f", kWall));
}

}  // namespace
}  // namespace smd
