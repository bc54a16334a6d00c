// The text in which subscriptions and services survive a restart.
#include "smd/app/kept_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::app {
namespace {

using std::chrono_literals::operator""s;

constexpr Moment kThen{.runtime = {1000s}, .wall_ms = 1'700'000'000'000};
constexpr Moment kLater{.runtime = {5s}, .wall_ms = 1'700'000'060'000};  // a minute, another life

KeptRecords some() {
  KeptRecords records;
  records.in_service = {Guid{1}, Guid{0xffffffffffffffff}};
  records.subscriptions[{Guid{1}, 1}] = {
      {.number = 0, .info = {.qpn = 1}, .trusted = true, .sl = 15, .pkey_index = 3},
      {.number = 7,
       .info = {.gid = {0xfe80000000000000, Guid{9}},
                .lid_first = Lid{4},
                .lid_last = Lid{5},
                .is_generic = 0,
                .type = 2,
                .trap_or_device = 64,
                .qpn = 1,
                .resp_time = 31,
                .producer_or_vendor = 0x2c9}}};
  sa::Service service{.owner = Guid{1}};
  service.record = {.id = ~0ull, .gid = {1, Guid{2}}, .p_key = PKey{0xffff}};
  service.record.name[0] = ' ';
  service.record.key[15] = 0xab;
  service.record.data[63] = 0xcd;
  records.services.push_back(service);
  service.record.id = 2;
  service.record.lease_s = 100;
  service.expires = kThen.runtime + Duration{100s};
  records.services.push_back(service);
  records.groups.push_back({.mgid = {0xff12401bffff0000u, Guid{0xffffffff}},
                            .mlid = Lid{0xc000},
                            .traits = {.q_key = 0xb1b,
                                       .p_key = kDefaultPKey,
                                       .mtu = 5,
                                       .rate = 16,
                                       .life_time = 18,
                                       .sl = 1,
                                       .tclass = 2,
                                       .hop_limit = 3,
                                       .scope = 4,
                                       .flow_label = 0xfffff},
                            .members = {{Guid{1}, {.join_state = 1}},
                                        {Guid{2}, {.join_state = 6, .proxy_join = true}}}});
  records.groups.push_back(
      {.mgid = {0xff12401bffff0000u, Guid{1}},
       .mlid = Lid{0xc001},
       .creator = Guid{3},
       .members = {{Guid{4}, {.join_state = 1, .proxy_join = true, .joined_by = Guid{3}}}}});
  return records;
}

TEST(KeptRecords, AreReadBackAsTheyWere) {
  EXPECT_EQ(parse_records(print_records(some(), kThen), "f", kThen).value(), some());
}

TEST(KeptRecords, GroupsOfAnSmdThatDidNotSayWhoCreatedThem) {
  const auto old = parse_records("group 1 1 49152 1 1 5 1 1 1 1 1 1 1\nmember 1 1 0\n", "f", kThen);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->groups[0].creator, Guid{});
  EXPECT_EQ(old->groups[0].members.at(Guid{1}), (Member{.join_state = 1}));
}

TEST(KeptRecords, AMemberIsOfTheGroupBeforeIt) {
  EXPECT_FALSE(parse_records("member 1 1 0\n", "f", kThen));
}

TEST(KeptRecords, LeasesRunWhileNobodyLooks) {
  const std::string text = print_records(some(), kThen);
  KeptRecords later = some();
  later.services[1].expires = kLater.runtime + Duration{40s};
  EXPECT_EQ(parse_records(text, "f", kLater).value(), later);
  Moment much_later = kLater;
  much_later.wall_ms += 40'000;
  EXPECT_EQ(parse_records(text, "f", much_later)->services.size(), 1u);
  Moment clock_set_back = kThen;
  clock_set_back.wall_ms = 5;
  EXPECT_EQ(*parse_records(text, "f", clock_set_back)->services[1].expires,
            kThen.runtime + Duration{100s})
      << "no longer than it was given";
}

TEST(KeptRecords, EveryLineThatIsNoRecordIsNamed) {
  const std::string good = print_records(some(), kThen);
  for (const char* bad : {"what",
                          "port",
                          "port 0x1 2",
                          "port 0x11111111111111111",
                          "subscription 0x1 1 0",
                          "subscription 0x1 16777216 0 0 0 1 1 1 1 1 1 1 1 1 1",
                          "subscription 0x1 1 0 0 0 1 1 2 1 1 1 1 1 1 1",
                          "group 0x1",
                          "group 1 1 49152 1 1 6 1 1 1 1 1 1 1",
                          "member 1 16 0",
                          "member 1 1 2",
                          "service 0x1 1 1 1 1 1 soon 00 00 00"}) {
    const auto parsed = parse_records(good + bad + "\n" + good, "f", kThen);
    ASSERT_FALSE(parsed) << bad;
    ASSERT_EQ(parsed.error().size(), 1u);
    EXPECT_EQ(parsed.error()[0].line, 1 + std::ranges::count(good, '\n')) << bad;
  }
  for (std::size_t length = 1; length + 1 < good.size(); ++length) {
    // Cut off within a line; the store notices where a whole line is missing.
    if (good[length - 1] == '\n') continue;
    const auto parsed = parse_records(std::string_view(good).substr(0, length), "f", kThen);
    if (parsed) {
      EXPECT_NE(*parsed, some()) << length;
    }
  }
}

}  // namespace
}  // namespace smd::app
