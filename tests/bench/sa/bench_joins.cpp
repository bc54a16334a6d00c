// Hosts of a large fabric join groups: from the first request to the last confirmed entry in a
// switch. Requests, answers and SMPs walk hop by hop through a simulated fabric, in one process
// with the manager; one thread.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>
#include <vector>

#include "smd/base/command_line.h"
#include "smd/multicast/group.h"
#include "tests/support/flood.h"
#include "tests/support/multicast_subnet.h"

namespace smd::bench {
namespace {

using Ms = std::chrono::duration<double, std::milli>;

struct Options {
  std::string fabric = "fat-tree:k=36,levels=3";
  std::string engine = "updn";
  std::size_t joins = 10000;
  std::vector<std::size_t> groups{1, 100, 1000, 10000};
  unsigned runs = 3;
  unsigned apart_us = 10;
};

struct Cost {
  double wall_ms = 0;
  double cpu_ms = 0;
  double virtual_ms = 0;
  std::uint64_t smps = 0;
  std::uint64_t rounds = 0;
  double rss_before_mb = 0;
  double rss_mb = 0;  // afterwards
  std::string wrong;  // empty: every host gets one copy of what another sends
};

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double rss_mb() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  statm >> all >> resident;
  return static_cast<double>(resident) * 4096 / 1e6;
}

/// Its hosts join groups.
class Site : public test::MulticastSubnet {
 public:
  explicit Site(const Options& options)
      : MulticastSubnet(options.fabric, settings_of(options.engine)), options_(options) {}

  bool bring_up() {
    manager.start();
    if (!settle()) return false;
    attach_hosts(
        [this](const MadPacket& packet) {
          if (sa::decode_sa_header(packet.mad)->mad.status == 0) ++answered_;
        },
        options_.joins);
    return hosts.size() == options_.joins;
  }

  /// Host h joins group h mod `groups`; whoever is first creates it.
  Cost join_all(std::size_t groups) {
    Cost cost{.rss_before_mb = rss_mb()};
    const smd::MulticastStats& stats = manager.multicast().stats();
    const std::uint64_t smps = manager.smp_stats().sent;
    const std::uint64_t rounds = stats.rounds;
    const double cpu = cpu_ms();
    const auto wall = std::chrono::steady_clock::now();
    const TimePoint began = runtime.now();
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      runtime.run_until(began + std::chrono::microseconds(options_.apart_us * host));
      join(host, host % groups);
    }
    const auto done = [&] {
      return answered_ == hosts.size() && manager.multicast().at_rest() && stats.unmet == 0;
    };
    const bool ended = runtime.run_while_not(done, began + std::chrono::minutes(10));
    cost.wall_ms = Ms(std::chrono::steady_clock::now() - wall).count();
    cost.cpu_ms = cpu_ms() - cpu;
    cost.virtual_ms = Ms(runtime.now() - began).count();
    cost.smps = manager.smp_stats().sent - smps;
    cost.rounds = stats.rounds - rounds;
    cost.rss_mb = rss_mb();
    cost.wrong = ended ? find_wrong(groups) : fmt::format("{} were answered", answered_);
    return cost;
  }

 private:
  static smd::Settings settings_of(const std::string& engine) {
    smd::Settings out = test::quiet_settings();
    out.engine = engine;
    return out;
  }

  bool settle() {
    return run_until([this] { return manager.at_rest() && manager.in_force() != nullptr; },
                     std::chrono::minutes(10));
  }

  static std::uint64_t number(std::size_t group) { return 0x100 + group; }

  void join(std::size_t host, std::size_t group) {
    if (!hosts[host]->send(test::encode_sa_request(
            {.manager = snapshot_lid(), .transaction = host + 1, .mask = test::kJoinMask},
            test::joining(number(group), gid(host)),
            sa::kMcMemberRecord.size)))
      std::abort();
  }

  /// A packet of the first and of the last group goes through the registers of the switches.
  std::string find_wrong(std::size_t groups) {
    std::map<Guid, PortIdx> port_of;
    for (const PortIdx port : snapshot().peer.indices()) {
      if (snapshot().is_end_port(port)) port_of[snapshot().port_guid[port]] = port;
    }
    for (const std::size_t group : {std::size_t{0}, groups - 1}) {
      const Lid mlid = manager.multicast().groups().find(test::mgid(number(group)))->mlid;
      const auto copies_to = [&](SwitchIdx sw, PortNum port) { return copies(mlid, sw, port); };
      std::map<PortIdx, unsigned> wanted;
      for (std::size_t host = 0; host < hosts.size(); ++host) {
        // Groups may share an MLID.
        if (manager.multicast().groups().find(test::mgid(number(host % groups)))->mlid == mlid)
          wanted[port_of.at(guid(host))] = 1;
      }
      const PortIdx sender = wanted.begin()->first;
      wanted.erase(sender);
      const test::Flood got = test::flood(snapshot(), copies_to, sender);
      if (got.endless || got.copies != wanted)
        return fmt::format(
            "group {}: {} of {} got a copy", group, got.copies.size(), wanted.size());
    }
    return {};
  }

  Options options_;
  std::size_t answered_ = 0;
};

std::string spread(std::vector<double> values, int digits) {
  std::ranges::sort(values);
  return fmt::format("{:.{}f} ({:.{}f}–{:.{}f})",
                     values[values.size() / 2],
                     digits,
                     values.front(),
                     digits,
                     values.back(),
                     digits);
}

int measure(const Options& options) {
  fmt::print(
      "| groups | wall ms | CPU ms | virtual ms | SMPs | rounds | RSS before MB | after |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  int exit_code = 0;
  for (const std::size_t groups : options.groups) {
    std::vector<Cost> costs;
    for (unsigned run = 0; run < options.runs; ++run) {
      Site site(options);
      if (!site.bring_up()) {
        fmt::print(stderr, "bench_joins: {} hosts are not up\n", options.joins);
        return 2;
      }
      costs.push_back(site.join_all(groups));
      if (!costs.back().wrong.empty()) {
        fmt::print(stderr, "bench_joins: {}\n", costs.back().wrong);
        exit_code = 1;
      }
    }
    const auto all = [&](auto of) {
      std::vector<double> values;
      for (const Cost& cost : costs) values.push_back(static_cast<double>(of(cost)));
      return values;
    };
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} |\n",
               groups,
               spread(all([](const Cost& c) { return c.wall_ms; }), 0),
               spread(all([](const Cost& c) { return c.cpu_ms; }), 0),
               spread(all([](const Cost& c) { return c.virtual_ms; }), 0),
               costs.front().smps,
               costs.front().rounds,
               spread(all([](const Cost& c) { return c.rss_before_mb; }), 0),
               spread(all([](const Cost& c) { return c.rss_mb; }), 0));
    std::fflush(stdout);
  }
  return exit_code;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  smd::bench::Options options;
  smd::CommandLine line{"many hosts join multicast groups"};
  line.option("--fabric", options.fabric, "Fabric file or generator");
  line.option("--engine", options.engine, "Routing engine");
  line.option("--joins", options.joins, "Hosts that join").positive();
  line.option("--groups", options.groups, "Numbers of groups that they join").separator(',');
  line.option("--runs", options.runs, "Runs of each").positive();
  line.option("--apart-us", options.apart_us, "Virtual time between two requests");
  if (const auto code = line.parse(argc, argv)) return *code;
  return smd::bench::measure(options);
}
