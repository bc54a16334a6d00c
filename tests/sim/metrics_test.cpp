// The page of numbers of a daemon's session in virtual time, against the simulated subnet.
#include "smd/report/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "sim-backend/agents/node_state.h"
#include "smd/daemon/session.h"
#include "smd/replica/client.h"
#include "smd/replica/server.h"
#include "tests/support/exposition_check.h"
#include "tests/support/files.h"
#include "tests/support/memory_network.h"
#include "tests/support/paths.h"
#include "tests/support/sa_request.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;

/// A fat tree of 8 hosts, 2 at each of 4 leaves, and 4 spines.
struct Daily : TimedFabric {
  explicit Daily(bool congestion)
      : TimedFabric(spec_of("fat-tree:k=4,levels=2")),
        session(runtime, transport, settings(congestion), {}, store, {}) {
    session.start();
    settle();
  }

  static Settings settings(bool congestion) {
    Settings settings = default_settings();
    settings.sweep_interval = 10s;
    settings.congestion.enabled = congestion;
    settings.congestion.log_interval_s = 1;
    return settings;
  }

  void settle() {
    EXPECT_TRUE(run_until(
        [this] {
          return session.manager().at_rest() && session.congestion().at_rest() &&
                 session.manager().last_cycle() != nullptr;
        },
        600s));
  }

  MetricPage page() {
    const MetricPage out =
        read_metric_page(print_metrics({.session = session.view(), .uptime = 5s}));
    EXPECT_EQ(out.trouble, "");
    return out;
  }

  sim::SimTransport transport{fabric, fabric.spec().sm_node, fabric.spec().sm_port};
  StateStore store;
  Session session;
};

TEST(Metrics, CountWhatIsThere) {
  Daily daily(false);
  const MetricPage page = daily.page();
  EXPECT_EQ(page.sum("smd_uptime_seconds"), 5);
  EXPECT_EQ(page.sum("smd_device_open"), 1);
  EXPECT_EQ(page.sum("smd_manager_state", {{"state", "master"}}), 1);
  EXPECT_EQ(page.sum("smd_manager_state"), 1);
  EXPECT_EQ(page.sum("smd_subnet_up"), 1);
  EXPECT_EQ(page.sum("smd_alarms"), 0);
  EXPECT_EQ(page.sum("smd_nodes", {{"node_type", "switch"}}), 6);
  EXPECT_EQ(page.sum("smd_nodes", {{"node_type", "adapter"}}), 8);
  EXPECT_EQ(page.sum("smd_links"), 16);
  EXPECT_EQ(page.sum("smd_ports", {{"state", "active"}, {"node_type", "switch"}}), 24);
  EXPECT_EQ(page.sum("smd_ports", {{"state", "active"}, {"node_type", "adapter"}}), 8);
  EXPECT_EQ(page.sum("smd_smps_sent_total"),
            static_cast<double>(daily.session.manager().smp_stats().sent));
  EXPECT_GT(page.sum("smd_smps_sent_total"), 100);
  EXPECT_EQ(page.sum("smd_cycles_total", {{"result", "up"}}), 1);
  EXPECT_EQ(page.sum("smd_congestion_enabled"), 0);
  EXPECT_FALSE(page.types.contains("smd_congestion_agents")) << "it is off";
}

/// A series that begins with its first event does not rise by it: Prometheus sees no rise from
/// nothing to 1.
TEST(Metrics, WhatTheOperationsPageIsWokenByHasASeriesBeforeItHappens) {
  Daily daily(true);
  const MetricPage page = read_metric_page(
      print_metrics({.session = daily.session.view(), .rest = RestStats{}, .uptime = 5s}));
  const std::string text = read_text(source_path("docs/operations.md"));
  const std::regex rise(R"re((?:increase|rate)\((smd_\w+)(?:\{(\w+)=~"([^"]*)"\})?\[)re");
  std::size_t rules = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), rise); it != std::sregex_iterator();
       ++it, ++rules) {
    const std::string name = (*it)[1];
    ASSERT_TRUE(page.samples.contains(name)) << name;
    std::stringstream choices((*it)[3]);
    for (std::string choice; std::getline(choices, choice, '|');) {
      EXPECT_TRUE(std::ranges::any_of(page.samples.at(name),
                                      [&](const auto& sample) {
                                        return std::regex_match(sample.labels.at((*it)[2]),
                                                                std::regex(choice));
                                      }))
          << name << " " << choice;
    }
  }
  EXPECT_EQ(rules, 5u);
}

TEST(Metrics, ChangesTrapsAndSweepsAreCounted) {
  Daily daily(false);
  const std::uint32_t host = daily.fabric.spec().sm_node == 6 ? 7 : 6;
  ASSERT_NE(daily.fabric.spec().nodes[host].type, NodeType::Switch);
  daily.fabric.set_link(host, PortNum{1}, false);
  daily.run_for(5s);
  daily.fabric.set_link(host, PortNum{1}, true);
  daily.run_for(7s);
  const MetricPage page = daily.page();
  EXPECT_EQ(page.sum("smd_change_seconds_count", {{"direction", "down"}}), 1);
  EXPECT_EQ(page.sum("smd_change_seconds_count", {{"direction", "up"}}), 1);
  double took = 0;
  for (const CycleReport& each : daily.session.manager().changes())
    took += std::chrono::duration<double>(each.ended - each.began).count();
  EXPECT_NEAR(page.sum("smd_change_seconds_sum"), took, 1e-9);
  EXPECT_EQ(page.sum("smd_traps_total", {{"trap", "128"}}), 2);
  EXPECT_EQ(page.sum("smd_nodes"), 14);
  const double age = page.sum("smd_sweep_age_seconds");
  EXPECT_GT(age, 0);
  daily.run_for(60s);
  EXPECT_LT(daily.page().sum("smd_sweep_age_seconds"), 10.5) << "polls are sweeps";
}

TEST(Metrics, NameHotPortsAndAgentsInTrouble) {
  Daily daily(true);
  std::uint32_t sw = 0;
  while (daily.fabric.spec().nodes[sw].type != NodeType::Switch) ++sw;
  for (int i = 0; i < 3; ++i) daily.fabric.log_mark(sw, PortNum{2}, {});
  daily.run_for(3s);
  const MetricPage page = daily.page();
  EXPECT_EQ(page.sum("smd_congestion_agents", {{"standing", "managed"}}), 14);
  EXPECT_EQ(page.sum("smd_congestion_confirmed_agents"), 14);
  EXPECT_EQ(page.sum("smd_congestion_disobeying_agents"), 0);
  EXPECT_EQ(page.sum("smd_congestion_hot_ports"), 1);
  EXPECT_EQ(page.sum("smd_congestion_hot_events_total",
                     {{"node", daily.fabric.spec().nodes[sw].description}, {"port", "2"}}),
            3);
  EXPECT_EQ(page.sum("smd_congestion_hot_readings_total"), 1);
}

TEST(Metrics, SayWhatTheWatchOverPathsReads) {
  Daily daily(false);
  EXPECT_FALSE(daily.page().types.contains("smd_path_watch_ports")) << "it is off";
  Settings settings = Daily::settings(false);
  settings.path_choice = PathChoice::LeastContended;
  settings.path_watch_mads_per_s = 1000;
  std::uint32_t sw = 0;
  while (daily.fabric.spec().nodes[sw].type != NodeType::Switch) ++sw;
  daily.fabric.set_wait_counters(sw, sim::WaitCounters::Busy);
  daily.session.manager().adopt(settings);
  daily.session.manager().request_sweep("test");
  daily.settle();
  const PathWatch& watch = daily.session.watch();
  ASSERT_TRUE(daily.run_until([&] { return watch.stats().rounds == 2; }, 60s));
  const MetricPage page = daily.page();
  // Links of switches: 16, both ends of those between switches, one of those to hosts.
  EXPECT_EQ(page.sum("smd_path_watch_ports"), 24);
  EXPECT_EQ(page.sum("smd_path_watch_rounds_total"), 2);
  EXPECT_EQ(page.sum("smd_path_watch_busy_total"), 2 * 4) << "four times a round";
  EXPECT_EQ(page.sum("smd_path_watch_skipped_total"), 2 * 4) << "its links";
  EXPECT_EQ(page.sum("smd_path_watch_mads_total"), static_cast<double>(watch.mads().sent));
  EXPECT_EQ(page.sum("smd_path_watch_mads_total"), 5 + 2 * (4 + 20)) << "5 say what they have";
  EXPECT_EQ(page.sum("smd_path_watch_given_up_total"), 0);
  EXPECT_EQ(page.sum("smd_path_watch_contended_links"), 0);
}

TEST(Metrics, HoldWhileNoDeviceIsOpen) {
  const MetricPage page = read_metric_page(print_metrics({.uptime = 1s}));
  EXPECT_EQ(page.trouble, "");
  EXPECT_EQ(page.sum("smd_device_open"), 0);
  EXPECT_FALSE(page.types.contains("smd_nodes"));
}

TEST(Metrics, CountSmpsAsTheClientDoes) {
  Daily daily(false);
  daily.fabric.set_wire_faults({.drop = 0.15});
  for (int i = 0; i < 5; ++i) {
    daily.session.manager().request_sweep("test");
    daily.settle();
  }
  const SmpStats& stats = daily.session.manager().smp_stats();
  ASSERT_GT(stats.timeouts, 0u);
  ASSERT_GT(stats.retries, 3 * stats.timeouts) << "some were answered at last";
  const MetricPage page = daily.page();
  const auto count = [&](const char* family) {
    return static_cast<std::uint64_t>(page.sum(family));
  };
  EXPECT_EQ(count("smd_smps_sent_total"), stats.sent);
  EXPECT_EQ(count("smd_smps_answered_total"), stats.answered);
  EXPECT_EQ(count("smd_smp_retries_total"), stats.retries);
  EXPECT_EQ(count("smd_smp_timeouts_total"), stats.timeouts);
  EXPECT_EQ(count("smd_smp_silent_timeouts_total"), stats.silent_timeouts);
}

// The alert of docs/operations.md is about packets that are lost, not about hosts that hang.
TEST(Metrics, CountHostsThatAreSilentForGoodByThemselves) {
  Daily daily(false);
  for (const char* name : {"host-00005", "host-00007"}) {
    const std::uint32_t host = find_node(daily.fabric.spec(), name);
    daily.fabric.set_silent(host, true);
    daily.fabric.set_link(host, PortNum{1}, false);
    daily.run_for(1s);
    daily.fabric.set_link(host, PortNum{1}, true);
    daily.run_for(60s);
  }
  ASSERT_EQ(daily.page().sum("smd_silent_ports"), 2);
  const double before = daily.page().sum("smd_smp_timeouts_total");
  const double silent = daily.page().sum("smd_smp_silent_timeouts_total");
  daily.run_for(600s);
  EXPECT_EQ(daily.page().sum("smd_smp_timeouts_total"), before);
  EXPECT_GE(daily.page().sum("smd_smp_silent_timeouts_total"), silent + 100);
}

TEST(Metrics, CountCallsByHowTheyEnded) {
  const MetricPage page = read_metric_page(print_metrics(
      {.rest = RestStats{
           .answered = 1,
           .refused = 2,
           .unauthorized = 3,
           .server = {
               .answered = 4, .malformed = 5, .too_long = 6, .cut = 7, .no_handshake = 8}}}));
  EXPECT_EQ(page.trouble, "");
  const std::map<std::string, double> wanted = {{"answered", 1},
                                                {"refused", 2},
                                                {"unauthorized", 3},
                                                {"malformed", 5},
                                                {"too_long", 6},
                                                {"cut", 7},
                                                {"no_handshake", 8}};
  EXPECT_EQ(page.samples.at("smd_rest_requests_total").size(), wanted.size());
  for (const auto& [result, count] : wanted)
    EXPECT_EQ(page.sum("smd_rest_requests_total", {{"result", result}}), count) << result;
}

/// Families that the tables of the manual name, with the column of their type.
std::map<std::string, std::string> documented_families() {
  std::map<std::string, std::string> out;
  std::istringstream manual(read_text(source_path("docs/operations.md")));
  for (std::string line; std::getline(manual, line);) {
    if (!line.starts_with("| `smd_")) continue;
    const std::size_t type = line.find(" | ") + 3;
    for (std::size_t at = line.find("`smd_"); at < type; at = line.find("`smd_", at)) {
      const std::size_t end = line.find_first_of("`{", ++at);
      out[line.substr(at, end - at)] = line.substr(type, line.find(" | ", type) - type);
    }
  }
  return out;
}

/// The first host asks to be in a group, and that the second one be.
void join_two_hosts(Daily& daily) {
  const sim::FabricSpec& spec = daily.fabric.spec();
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    if (node != spec.sm_node && spec.nodes[node].type != NodeType::Switch) hosts.push_back(node);
  }
  sim::SimTransport host(daily.fabric, hosts[0], PortNum{1});
  std::vector<unsigned> status;
  host.set_handlers(
      [&](const MadPacket& packet) {
        status.push_back(sa::decode_sa_header(packet.mad)->mad.status);
      },
      [](const Error&) {});
  const ActiveSubnet& now = *daily.session.manager().in_force();
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto node = now.fabric().find_node(spec.nodes[hosts[i]].guid);
    const Guid port = now.fabric().port_guid[now.fabric().port_of(*node, PortNum{1})];
    EXPECT_TRUE(host.send(encode_sa_request(
        {.manager = now.lids->base[now.fabric().sm_port], .transaction = i + 1, .mask = kJoinMask},
        joining(1, {kDefaultSubnetPrefix, port}),
        sa::kMcMemberRecord.size)));
  }
  EXPECT_TRUE(daily.run_until([&] { return status.size() == 2; }, 60s));
  EXPECT_EQ(status, std::vector<unsigned>(2));
  daily.settle();
}

// Everything is on, and somebody reads a copy of the state.
TEST(Metrics, TheManualHasEveryFamilyOfThePageAndNoOther) {
  Daily daily(true);
  Settings settings = Daily::settings(true);
  settings.path_choice = PathChoice::LeastContended;
  daily.session.manager().adopt(settings);
  daily.session.manager().request_sweep("test");
  daily.settle();
  join_two_hosts(daily);
  const auto no_clock = [] { return std::int64_t{0}; };
  MemoryNetwork network;
  replica::Server readers(daily.runtime, no_clock);
  network.listen("master", daily.runtime, [&](std::unique_ptr<replica::Stream> stream) {
    readers.accept(std::move(stream));
  });
  const auto dialer = network.dialer(daily.runtime);
  replica::Client reader(daily.runtime,
                         *dialer,
                         {"master"},
                         no_clock,
                         {.is_master = [](const replica::Hello&) { return false; },
                          .on_part = [](const replica::Part&, std::int64_t) { return true; }});
  reader.enable(true);
  ASSERT_TRUE(daily.run_until([&] { return readers.peers().size() == 1; }, 60s));
  const MetricPage page = read_metric_page(
      print_metrics({.session = daily.session.view(),
                     .replica = ReplicaView{.server = readers, .client = reader, .refused = 3},
                     .rest = RestStats{}}));
  EXPECT_EQ(page.trouble, "");
  EXPECT_EQ(page.sum("smd_replica_readers"), 1);
  EXPECT_EQ(page.sum("smd_replica_readers_current"), 0) << "this one is not master by its hello";
  EXPECT_EQ(page.sum("smd_replica_refused_total"), 3);
  EXPECT_GT(page.sum("smd_multicast_largest_tree_hops"), 0);
  const std::map<std::string, std::string> documented = documented_families();
  EXPECT_GT(documented.size(), 50u);
  for (const auto& [family, type] : page.types) {
    const auto row = documented.find(family);
    ASSERT_NE(row, documented.end()) << family << " is not in docs/operations.md";
    EXPECT_THAT(row->second, testing::HasSubstr(type)) << family;
  }
  for (const auto& [family, type] : documented)
    EXPECT_TRUE(page.types.contains(family)) << family << " is on no page";
}

}  // namespace
}  // namespace smd::test
