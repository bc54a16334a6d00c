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

#include "sim-backend/agents/node_state.h"
#include "smd/base/command_line.h"
#include "smd/daemon/administration.h"
#include "smd/multicast/group.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/server.h"
#include "smd/transport/transport.h"
#include "tests/support/flood.h"
#include "tests/support/world.h"

namespace smd::bench {
namespace {

namespace part = sa::member_component;
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

/// A manager with its administration, and hosts.
class Site {
 public:
  explicit Site(const Options& options)
      : options_(options),
        fabric_(runtime_, test::spec_of(options.fabric), sim::Timing::modern(), 1),
        transport_(fabric_, fabric_.spec().sm_node, fabric_.spec().sm_port),
        split_(transport_),
        server_(runtime_, split_.general()),
        manager_(runtime_, split_.subnet(), settings(options.engine), {}, {}),
        keeper_(smd::group_parts(manager_)) {
    server_.add_manager(keeper_);
    manager_.active().subscribe(
        [this](const auto&) { server_.adopt(smd::make_view(manager_, {})); });
  }

  bool bring_up() {
    manager_.start();
    if (!settle()) return false;
    const sim::FabricSpec& spec = fabric_.spec();
    for (std::uint32_t n = 0; n < spec.nodes.size() && hosts_.size() < options_.joins; ++n) {
      if (n == spec.sm_node || spec.nodes[n].type != NodeType::Ca) continue;
      auto host = std::make_unique<sim::SimTransport>(fabric_, n, PortNum{1});
      host->set_handlers(
          [this](const MadPacket& packet) {
            if (sa::decode_sa_header(packet.mad)->mad.status == 0) ++answered_;
          },
          [](const Error&) {});
      hosts_.push_back(std::move(host));
    }
    return hosts_.size() == options_.joins;
  }

  /// Host h joins group h mod `groups`; whoever is first creates it.
  Cost join_all(std::size_t groups) {
    Cost cost{.rss_before_mb = rss_mb()};
    const smd::MulticastStats& stats = manager_.multicast().stats();
    const std::uint64_t smps = manager_.smp_stats().sent;
    const std::uint64_t rounds = stats.rounds;
    const double cpu = cpu_ms();
    const auto wall = std::chrono::steady_clock::now();
    const TimePoint began = runtime_.now();
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      runtime_.run_until(began + std::chrono::microseconds(options_.apart_us * host));
      join(host, host % groups);
    }
    const auto done = [&] {
      return answered_ == hosts_.size() && manager_.multicast().at_rest() && stats.unmet == 0;
    };
    const bool ended = runtime_.run_while_not(done, began + std::chrono::minutes(10));
    cost.wall_ms = Ms(std::chrono::steady_clock::now() - wall).count();
    cost.cpu_ms = cpu_ms() - cpu;
    cost.virtual_ms = Ms(runtime_.now() - began).count();
    cost.smps = manager_.smp_stats().sent - smps;
    cost.rounds = stats.rounds - rounds;
    cost.rss_mb = rss_mb();
    cost.wrong = ended ? find_wrong(groups) : fmt::format("{} were answered", answered_);
    return cost;
  }

 private:
  static smd::Settings settings(const std::string& engine) {
    smd::Settings out = test::WorldOptions::default_settings();
    out.sweep_interval = Duration{0};
    out.engine = engine;
    return out;
  }

  bool settle() {
    return runtime_.run_while_not(
        [this] { return manager_.at_rest() && manager_.in_force() != nullptr; },
        runtime_.now() + std::chrono::minutes(10));
  }

  static Gid mgid(std::size_t group) { return {0xff12401bffff0000u, Guid{0x100 + group}}; }

  void join(std::size_t host, std::size_t group) {
    const Fabric& fabric = manager_.in_force()->fabric();
    MadPacket packet{.remote_lid = manager_.in_force()->lids->base[fabric.sm_port],
                     .local_qp = 1,
                     .remote_qp = 1};
    sa::encode_sa_header(
        {.mad = {.mgmt_class = 3,
                 .class_version = sa::kClassVersion,
                 .method = static_cast<std::uint8_t>(Method::Set),
                 .transaction_id = host + 1,
                 .attribute_id = static_cast<std::uint16_t>(sa::RecordId::McMemberRecord)},
         .component_mask = part::kMgid | part::kPortGid | part::kJoinState | part::kQKey |
                           part::kPKey | part::kTclass | part::kFlowLabel | part::kSl},
        packet.mad);
    sa::encode_record(
        sa::McMemberRecord{.mgid = mgid(group),
                           .port_gid = {kDefaultSubnetPrefix, hosts_[host]->local_port().port_guid},
                           .q_key = 0xb1b,
                           .p_key = kDefaultPKey,
                           .join_state = 1},
        std::span(packet.mad).subspan(sa::kHeaderSize, sa::kMcMemberRecord.size));
    if (!hosts_[host]->send(packet)) std::abort();
  }

  /// A packet of the first and of the last group goes through the registers of the switches.
  std::string find_wrong(std::size_t groups) {
    const Fabric& fabric = manager_.in_force()->fabric();
    std::map<Guid, PortIdx> port_of;
    for (const PortIdx port : fabric.peer.indices()) {
      if (fabric.is_end_port(port)) port_of[fabric.port_guid[port]] = port;
    }
    std::map<Guid, std::uint32_t> node_of;
    const sim::FabricSpec& spec = fabric_.spec();
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) node_of[spec.nodes[n].guid] = n;
    for (const std::size_t group : {std::size_t{0}, groups - 1}) {
      const Lid mlid = manager_.multicast().groups().find(mgid(group))->mlid;
      const auto copies = [&](SwitchIdx sw, PortNum port) {
        const sim::NodeState& node =
            fabric_.node_state(node_of.at(fabric.node_guid[fabric.switch_node[sw]]));
        const auto& table = node.mft[port.value() / 16];
        const std::size_t at = mlid.value() - kFirstMlid.value();
        return at < table.size() && (table[at] >> port.value() % 16 & 1) != 0;
      };
      std::map<PortIdx, unsigned> wanted;
      for (std::size_t host = 0; host < hosts_.size(); ++host) {
        // Groups may share an MLID.
        if (manager_.multicast().groups().find(mgid(host % groups))->mlid == mlid)
          wanted[port_of.at(hosts_[host]->local_port().port_guid)] = 1;
      }
      const PortIdx sender = wanted.begin()->first;
      wanted.erase(sender);
      const test::Flood got = test::flood(fabric, copies, sender);
      if (got.endless || got.copies != wanted)
        return fmt::format(
            "group {}: {} of {} got a copy", group, got.copies.size(), wanted.size());
    }
    return {};
  }

  Options options_;
  sim::SimRuntime runtime_;
  sim::SimFabric fabric_;
  sim::SimTransport transport_;
  ClassSplit split_;
  sa::Server server_;
  smd::SubnetManager manager_;
  sa::GroupManager keeper_;
  std::vector<std::unique_ptr<sim::SimTransport>> hosts_;
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
