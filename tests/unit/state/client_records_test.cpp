// The text in which subscriptions and services survive a restart.
#include "smd/state/client_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd {
namespace {

using std::chrono_literals::operator""s;

constexpr Moment kThen{.runtime = {1000s}, .wall_ms = 1'700'000'000'000};
constexpr Moment kLater{.runtime = {5s}, .wall_ms = 1'700'000'060'000};  // a minute, another life

ClientRecords some() {
  ClientRecords records;
  records.in_service = {Guid{1}, Guid{0xffffffffffffffff}};
  records.subscriptions[{Guid{1}, 1}] = {{.number = 0,
                                          .info = {.qpn = 1},
                                          .trusted = true,
                                          .sl = 15,
                                          .pkey_index = 3,
                                          .p_key = PKey{0x8007}},
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
                                        {Guid{2}, {.join_state = 6, .proxy_join = true}},
                                        {Guid{0xa1}, {.join_state = 4, .port = Guid{1}}}}});
  records.groups.push_back(
      {.mgid = {0xff12401bffff0000u, Guid{1}},
       .mlid = Lid{0xc001},
       .creator = Guid{3},
       .members = {{Guid{4}, {.join_state = 1, .proxy_join = true, .joined_by = Guid{3}}}}});
  return records;
}

TEST(ClientRecords, AreReadBackAsTheyWere) {
  EXPECT_EQ(parse_records(print_records(some(), kThen), "f", kThen).value(), some());
}

TEST(ClientRecords, GroupsOfAnSmdThatDidNotSayWhoCreatedThem) {
  const auto old = parse_records("group 1 1 49152 1 1 5 1 1 1 1 1 1 1\nmember 1 1 0\n", "f", kThen);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->groups[0].creator, Guid{});
  EXPECT_EQ(old->groups[0].members.at(Guid{1}), (Member{.join_state = 1}));
}

TEST(ClientRecords, AMemberUnderAFurtherGuidNamesItsPort) {
  const std::string text = print_records(some(), kThen);
  EXPECT_NE(text.find("member 0x00000000000000a1 4 0 0x0000000000000000 0x0000000000000001\n"),
            std::string::npos);
  EXPECT_NE(text.find("member 0x0000000000000001 1 0 0x0000000000000000\n"), std::string::npos)
      << "an older smd reads what has none";
}

TEST(ClientRecords, SubscriptionsOfAnSmdThatKeptNoPKey) {
  const auto old =
      parse_records("subscription 0x1 1 0 0 0 65535 0 1 65535 64 16777215 18 3 2 1\n", "f", kThen);
  ASSERT_TRUE(old);
  const sa::Subscription& read = old->subscriptions.begin()->second[0];
  EXPECT_EQ(read.pkey_index, 2);
  EXPECT_EQ(read.p_key, PKey{0});
  EXPECT_TRUE(read.trusted);
}

TEST(ClientRecords, AMemberIsOfTheGroupBeforeIt) {
  EXPECT_FALSE(parse_records("member 1 1 0\n", "f", kThen));
}

TEST(ClientRecords, LeasesRunWhileNobodyLooks) {
  const std::string text = print_records(some(), kThen);
  ClientRecords later = some();
  later.services[1].expires = kLater.runtime + Duration{40s};
  EXPECT_EQ(parse_records(text, "f", kLater).value(), later);
  Moment much_later = kLater;
  much_later.wall_ms += 40'000;
  EXPECT_EQ(parse_records(text, "f", much_later)->services.size(), 1u);
  EXPECT_EQ(parse_records(text, "f", much_later)->lapsed, std::set{some().services[1].owner});
  Moment clock_set_back = kThen;
  clock_set_back.wall_ms = 5;
  EXPECT_EQ(*parse_records(text, "f", clock_set_back)->services[1].expires,
            kThen.runtime + Duration{100s})
      << "no longer than it was given";
}

TEST(RecordLines, AreTheFileAgain) {
  ClientRecords records = some();
  std::ranges::reverse(records.groups);  // in the order in which tables hand them out
  std::ranges::reverse(records.services);
  const std::string text = print_records(records, kThen);
  EXPECT_EQ(RecordLines::read(text)->print(), text);
  EXPECT_FALSE(RecordLines::read(text + "what\n"));
  EXPECT_FALSE(RecordLines::read("member 1 1 0\n")) << "of no group";
}

TEST(RecordLines, EachKindOfChangeDoesWhatItSays) {
  // From some() to another state, and back.
  const ClientRecords one = some();
  ClientRecords other;
  other.in_service = {Guid{1}, Guid{5}};
  other.subscriptions[{Guid{1}, 1}] = {{.number = 7, .info = {.trap_or_device = 66, .qpn = 1}}};
  other.subscriptions[{Guid{2}, 9}] = {{.number = 0, .info = {.qpn = 9}}};
  other.aliases[Guid{2}] = {Guid{}, Guid{0xaa}, Guid{}, Guid{0xbb}};
  other.groups = one.groups;
  other.groups[0].members.erase(Guid{1});
  other.groups[0].members[Guid{2}].join_state = 4;
  other.groups[0].members[Guid{7}] = {.join_state = 1};
  other.groups[1] = {.mgid = {0xff12401bffff0000u, Guid{2}}, .mlid = Lid{0xc001}};
  other.services = {one.services[1]};
  other.services[0].record.lease_s = 5;
  const auto change = [](const ClientRecords& from, const ClientRecords& to) {
    std::string out;
    print_changes(from.in_service, to.in_service, out);
    print_changes(to.subscriptions, {{Guid{1}, 1}, {Guid{2}, 9}}, out);
    print_changes(to.aliases, {Guid{2}}, out);
    std::map<Gid, Group> groups;
    for (const Group& each : to.groups) groups[each.mgid] = each;
    print_changes(groups,
                  {{0xff12401bffff0000u, Guid{1}}, {0xff12401bffff0000u, Guid{2}}},
                  {{from.groups.back().mgid, Guid{1}},
                   {to.groups.back().mgid, Guid{2}},
                   {{0xff12401bffff0000u, Guid{0xffffffff}}, Guid{1}},
                   {{0xff12401bffff0000u, Guid{0xffffffff}}, Guid{2}},
                   {{0xff12401bffff0000u, Guid{0xffffffff}}, Guid{7}}},
                  out);
    std::map<sa::ServiceId, sa::Service> services;
    for (const sa::Service& each : to.services) services[sa::id_of(each.record)] = each;
    std::set<sa::ServiceId> ids;
    for (const ClientRecords* each : {&from, &to})
      for (const sa::Service& service : each->services) ids.insert(sa::id_of(service.record));
    print_changes(services, ids, kThen, out);
    return out;
  };
  const auto sorted = [](ClientRecords records) {
    std::ranges::sort(records.groups, {}, &Group::mgid);
    std::ranges::sort(records.services, {}, [](const auto& each) { return id_of(each.record); });
    return print_records(records, kThen);
  };
  auto lines = RecordLines::read(print_records(one, kThen));
  ASSERT_TRUE(lines);
  for (int times = 0; times < 2; ++times) {  // twice is as good as once
    const std::string there = change(one, other);
    EXPECT_EQ(lines->apply(there), static_cast<std::size_t>(std::ranges::count(there, '\n')));
    EXPECT_EQ(lines->print(), sorted(other));
  }
  const std::string back = change(other, one);
  EXPECT_EQ(lines->apply(back), static_cast<std::size_t>(std::ranges::count(back, '\n')));
  EXPECT_EQ(lines->print(), sorted(one));
}

TEST(RecordLines, StopAtWhatIsNoChange) {
  auto lines = RecordLines::read("port 0x0000000000000001\n");
  for (const char* bad : {"port 0x2",
                          "+ what 1",
                          "- port",
                          "- port 1 2",
                          "* port 1",
                          "+ member 1 2 3 1 0 0",
                          "- subscriber 1",
                          "- what 1"})
    EXPECT_EQ(lines->apply(std::string("+ port 0x0000000000000003\n") + bad + "\n- port 3\n"), 1u)
        << bad;
  EXPECT_EQ(lines->print(), "port 0x0000000000000001\nport 0x0000000000000003\n");
}

TEST(RecordLines, LeasesGoByTheClockOfWhomTheyAreFor) {
  sa::Service service{.owner = Guid{1}};
  service.record = {.id = 2, .lease_s = 100};
  service.expires = kThen.runtime + Duration{100s};
  std::string changes = "- port 0x0000000000000001\n";
  print_changes(
      {{sa::id_of(service.record), service}}, {sa::id_of(service.record)}, kThen, changes);
  Moment hour_ahead = kThen;
  hour_ahead.wall_ms += 3'600'000;
  std::string expected = "- port 0x0000000000000001\n";
  print_changes(
      {{sa::id_of(service.record), service}}, {sa::id_of(service.record)}, hour_ahead, expected);
  EXPECT_EQ(shift_leases(changes, 3'600'000), expected);
  EXPECT_EQ(shift_leases(expected, -3'600'000), changes);
  // However wrong a clock is, and whatever stands there.
  EXPECT_TRUE(RecordLines::read("")->apply(shift_leases(changes, INT64_MAX)) > 0);
  const std::string none = "+ service 1 2 3 4 5 6 soon 7 8 9\n+ service 1 2 3 4 5 6 12x 7 8 9\n";
  EXPECT_EQ(shift_leases(none, INT64_MIN), none);
}

TEST(ClientRecords, EveryLineThatIsNoRecordIsNamed) {
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
}  // namespace smd
