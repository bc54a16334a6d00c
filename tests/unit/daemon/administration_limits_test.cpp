// The limits of [sa]: each reaches who keeps to it, and one of a port is not mistaken for one of
// all.
#include "smd/daemon/administration.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "smd/config/options.h"
#include "smd/mad/notice.h"
#include "smd/multicast/subnet_limits.h"
#include "tests/unit/sa/kept.h"

namespace smd::test {
namespace administration_limits_test {

using sa::Asked;
using sa::RecordId;

/// An administration on a bench, with hosts that ask it.
struct AdministrationBench {
  AdministrationBench() {
    sa::ViewParts parts = sa::parts_of("H1-S1 H2-S1 S1-S2 H3-S2");
    auto fabric = std::make_shared<Fabric>(*parts.fabric);
    for (PortInfo& info : fabric->port_info) info.guid_cap = 12;
    parts.fabric = fabric;
    view = std::make_shared<const sa::SubnetView>(std::move(parts));
    administration.adopt(view);
  }

  void give(const Asked& asked, std::string_view host, std::uint32_t queue_pair = 1) {
    MadPacket packet = packet_of(asked, sa::lid_of(*view, host), ++transaction);
    packet.remote_qp = queue_pair;
    transport.deliver(packet);
  }

  /// Until nothing is left to do now.
  void run() { runtime.run_until(runtime.now()); }

  sim::SimRuntime runtime;
  FakeTransport transport;
  std::shared_ptr<const sa::SubnetView> view;
  Administration administration{runtime, transport, {.on_change = [] {}, .on_aliases = [] {}}};
  std::uint64_t transaction = 0;
};

/// What clients have of one kind, and the two limits on it.
struct Kept {
  const char* name;  // of the limit on all of them, as the option is called
  unsigned SaConfig::*all;
  unsigned SaConfig::*of_one_port;
  unsigned one;  // the limit that leaves room for one
  void (*add)(AdministrationBench& bench, std::string_view host, std::uint16_t number);
  std::size_t (*count)(AdministrationBench& bench);

  friend void PrintTo(const Kept& kept, std::ostream* out) { *out << kept.name; }
};

void ask_for_a_table(AdministrationBench& bench, std::string_view host, std::uint16_t /*number*/) {
  bench.give(sa::all_nodes(), host);
  bench.run();
}

std::size_t count_transfers(AdministrationBench& bench) {
  return bench.administration.server().transfers();
}

/// Without running: they wait for their turn.
void ask(AdministrationBench& bench, std::string_view host, std::uint16_t /*number*/) {
  bench.give(sa::node_by_lid(Lid{1}), host);
}

std::size_t count_waiting(AdministrationBench& bench) {
  return bench.administration.server().waiting();
}

void begin_a_long_request(AdministrationBench& bench,
                          std::string_view host,
                          std::uint16_t /*number*/) {
  Asked first{
      .header = {.mad = {.mgmt_class = 3,
                         .class_version = sa::kClassVersion,
                         .method = static_cast<std::uint8_t>(Method::GetMulti),
                         .attribute_id = static_cast<std::uint16_t>(RecordId::MultiPathRecord)}}};
  first.header.rmpp = {.version = 1, .type = 1, .flags = 3, .segment = 1, .length = 5000};
  bench.give(first, host);
  bench.run();
}

std::size_t count_half_open(AdministrationBench& bench) {
  return bench.administration.server().half_open();
}

void subscribe_to(AdministrationBench& bench, std::string_view host, std::uint16_t number) {
  bench.give(sa::subscribe({.trap_or_device = static_cast<std::uint16_t>(63 + number)}), host);
  bench.run();
}

std::size_t count_subscriptions(AdministrationBench& bench) {
  return bench.administration.inform().table().count();
}

/// Each from a queue pair of its own: that of a subscriber is told of one event at a time.
void subscribe_to_all(AdministrationBench& bench, std::string_view host, std::uint16_t number) {
  bench.give(sa::subscribe({}), host, number);
  bench.run();
}

/// Of one event that all subscribers are to be told of.
std::size_t count_reports(AdministrationBench& bench) {
  EXPECT_EQ(count_subscriptions(bench), 3u);
  bench.transport.sent.clear();
  bench.administration.tell(sa::TrapEvent{link_state_notice(sa::lid_of(*bench.view, "S1"))});
  bench.run();
  return static_cast<std::size_t>(
      std::ranges::count_if(bench.transport.sent, [](const MadPacket& packet) {
        return sa::decode_sa_header(packet.mad)->mad.method ==
               static_cast<std::uint8_t>(Method::Report);
      }));
}

void offer(AdministrationBench& bench, std::string_view host, std::uint16_t number) {
  namespace part = sa::service_component;
  const sa::ServiceRecord record{.id = number,
                                 .gid = {kDefaultSubnetPrefix, sa::guid_of(*bench.view, host)},
                                 .p_key = kDefaultPKey};
  bench.give(sa::ask(Method::Set,
                     RecordId::ServiceRecord,
                     part::kId | part::kGid | part::kPKey,
                     record,
                     sa::kServiceRecord.size),
             host);
  bench.run();
}

std::size_t count_services(AdministrationBench& bench) {
  return bench.administration.services().table().all().size();
}

void add_guid(AdministrationBench& bench, std::string_view host, std::uint16_t number) {
  sa::GuidInfoRecord record{.lid = sa::lid_of(*bench.view, host)};
  record.guids[number] = Guid{0xaa00u + number};
  bench.give(sa::ask(Method::Set,
                     RecordId::GuidInfoRecord,
                     sa::component_bit(0) | sa::component_bit(1) | sa::component_bit(4u + number),
                     record,
                     sa::kGuidInfoRecord.size),
             host);
  bench.run();
}

std::size_t count_guids(AdministrationBench& bench) {
  std::size_t count = 0;
  for (const auto& [port, guids] : bench.administration.aliases())
    count += static_cast<std::size_t>(
        std::ranges::count_if(guids, [](Guid guid) { return guid != Guid{}; }));
  return count;
}

using Sa = SaConfig;

constexpr Kept kKept[] = {
    {"requests", &Sa::requests, &Sa::requests_per_port, 1, ask, count_waiting},
    {"segmented_requests",
     &Sa::segmented_requests,
     &Sa::segmented_requests_per_port,
     1,
     begin_a_long_request,
     count_half_open},
    {"transfers", &Sa::transfers, &Sa::transfers_per_port, 1, ask_for_a_table, count_transfers},
    // The first may be larger.
    {"transfer_mib",
     &Sa::transfer_mib,
     &Sa::transfer_mib_per_port,
     0,
     ask_for_a_table,
     count_transfers},
    {"reports", &Sa::reports, &Sa::reports_per_port, 1, subscribe_to_all, count_reports},
    {"subscriptions",
     &Sa::subscriptions,
     &Sa::subscriptions_per_port,
     1,
     subscribe_to,
     count_subscriptions},
    {"services", &Sa::services, &Sa::services_per_port, 1, offer, count_services},
    {"aliases", &Sa::aliases, &Sa::aliases_per_port, 1, add_guid, count_guids},
};

class AdministrationLimits : public testing::TestWithParam<Kept> {
 protected:
  /// Of three that two ports ask for: two of one, one of the other.
  [[nodiscard]] static std::size_t count_kept(const SaConfig& limits) {
    AdministrationBench bench;
    bench.administration.set_limits(limits);
    GetParam().add(bench, "H1", 1);
    GetParam().add(bench, "H1", 2);
    GetParam().add(bench, "H2", 3);
    return GetParam().count(bench);
  }
};

TEST_P(AdministrationLimits, OneIsOfAllAndOneOfEachPort) {
  EXPECT_EQ(count_kept({}), 3u);
  SaConfig all;
  all.*GetParam().all = GetParam().one;
  EXPECT_EQ(count_kept(all), 1u);
  SaConfig each;
  each.*GetParam().of_one_port = GetParam().one;
  EXPECT_EQ(count_kept(each), 2u);
}

INSTANTIATE_TEST_SUITE_P(Each, AdministrationLimits, testing::ValuesIn(kKept), [](const auto& at) {
  return at.param.name;
});

TEST(Administration, AMebibyteIsRoomForSmallTables) {
  AdministrationBench bench;
  SaConfig limits;
  limits.transfer_mib = limits.transfer_mib_per_port = 1;
  bench.administration.set_limits(limits);
  for (std::uint16_t number = 1; number <= 16; ++number) ask_for_a_table(bench, "H1", number);
  EXPECT_EQ(count_transfers(bench), 16u) << "560 bytes each";
}

TEST(Administration, GroupsHaveFourLimits) {
  const GroupLimits limits =
      group_limits({.groups = 11, .groups_per_port = 12, .joins = 13, .joins_per_port = 14});
  EXPECT_EQ(limits.groups, 11u);
  EXPECT_EQ(limits.groups_of_one_port, 12u);
  EXPECT_EQ(limits.joins, 13u);
  EXPECT_EQ(limits.joins_of_one_port, 14u);
}

/// A head node asks each neighbour of IPv6 over IPoIB in a group of that neighbour's, which it
/// joins to send; and who joins whatever there is leaves others theirs.
TEST(Administration, OneHostIsInAGroupOfEveryOtherOfTheLargestSubnet) {
  constexpr unsigned kHosts = 12000;
  const auto large = [] {
    std::string text = "H1-S1";
    for (int i = 2; i <= 30; ++i) text += fmt::format(" H{}-S1", i);
    return text;
  }();
  const sa::ViewParts parts = sa::parts_of(large);
  auto fabric = std::make_shared<Fabric>(*parts.fabric);
  for (SwitchInfo& info : fabric->switch_info) info.multicast_fdb_cap = 1024;
  const SnapshotLimits subnet({.fabric = fabric, .lids = parts.lids});
  GroupTable table;
  table.set_limits(group_limits(SaConfig{}));
  const auto neighbour = [](unsigned i) { return Gid{0xff12601bffff0000u, Guid{i}}; };
  const auto join = [&](const char* host, unsigned group, std::uint8_t state) {
    const Guid port = fabric->port_guid[end_port(*fabric, host)];
    const GroupRequest request{.mgid = neighbour(group),
                               .port_gid = Gid{kDefaultSubnetPrefix, port},
                               .q_key = 0xb1b,
                               .tclass = 0,
                               .p_key = kDefaultPKey,
                               .sl = 0,
                               .flow_label = 0,
                               .join_state = state};
    return table.join(subnet, request, port).has_value();
  };
  for (unsigned i = 0; i < kHosts; ++i)
    ASSERT_TRUE(join(fmt::format("H{}", 2 + i % 29).c_str(), i, join_state::kFull)) << i;
  for (unsigned i = 0; i < kHosts; ++i) ASSERT_TRUE(join("H1", i, join_state::kSendOnlyFull)) << i;
  const SaConfig limits;
  EXPECT_LE(limits.joins_per_port, limits.joins / 16);
}

/// As the options are called.
std::map<std::string, unsigned SaConfig::*> limits_by_name() {
  std::map<std::string, unsigned SaConfig::*> out{
      {"groups", &Sa::groups},
      {"groups_per_port", &Sa::groups_per_port},
      {"joins", &Sa::joins},
      {"joins_per_port", &Sa::joins_per_port},
      // session_test.cpp.
      {"requests_per_port_in_100ms", &Sa::requests_per_port_in_100ms},
  };
  for (const Kept& kept : kKept) {
    out[kept.name] = kept.all;
    out[std::string(kept.name) + "_per_port"] = kept.of_one_port;
  }
  return out;
}

TEST(Administration, EveryNumberOfItsOptionsIsALimitHere) {
  // Of answers about paths: they limit nobody.
  std::set<std::string> others = {"max_rate", "path_margin", "path_watch_mads_per_s"};
  auto limits = limits_by_name();
  for (const ConfigOption& option : config_options()) {
    if (option.section != "sa") continue;
    Config config;
    if (!option.apply({.value = std::int64_t{7}}, config)) continue;
    if (others.erase(option.key) != 0) continue;
    const auto limit = limits.find(option.key);
    ASSERT_NE(limit, limits.end()) << option.key << ": no test that it reaches who keeps to it";
    SaConfig expected;
    expected.*limit->second = 7;
    EXPECT_EQ(config.sa, expected) << option.key;
    limits.erase(limit);
  }
  EXPECT_TRUE(limits.empty()) << limits.begin()->first << " is no option";
  EXPECT_TRUE(others.empty()) << *others.begin() << " is no option";
}

}  // namespace administration_limits_test
}  // namespace smd::test
