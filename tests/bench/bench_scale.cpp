// What large networks under a rule take: bytes of state per host, by what they are for, and
// processor time per packet-hop, from a thousand hosts to a million.
//
//   bench_scale [--fabric FABRIC] [--rule RULE] [--pattern NAME] …
//
// runs one point and prints one line of JSON.
#include <fmt/core.h>
#include <sys/resource.h>

#include <ctime>
#include <string>
#include <utility>

#include "sim-backend/kernel/thread_team.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/packet/partition_split.h"
#include "sim-backend/scenario/offered_traffic.h"
#include "sim-backend/scenario/run.h"
#include "smd/base/command_line.h"

namespace smd::sim {
namespace {

constexpr unsigned kMtu = 4096;
constexpr unsigned kMostVls = 15;

struct ScaleOptions {
  std::string fabric = "dragonfly:a=8,c=4,h=4,beyond=1";
  std::string rule = "min";
  std::string pattern = "uniform";
  std::uint32_t group = 8;          // switches of a dragonfly's
  std::vector<std::uint32_t> dims;  // with some, of a butterfly
  double load = 0.3;
  unsigned payload = 2048;
  unsigned partitions = 1;
  unsigned warm_up = 10;   // us
  unsigned measured = 10;  // us
};

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double peak_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int refuse(std::string_view why) {
  fmt::print(stderr, "{}\n", why);
  return 2;
}

/// As `smsim run` would have it, but for the VLs: the rule says how many it needs.
Parsed<PreparedScenario> prepare(const ScaleOptions& with) {
  constexpr const char* kName = "bench_scale";
  Scenario s;
  s.file = kName;
  s.fabric = with.fabric;
  if (!find_rule(with.rule, s.routes.rule.rule) || !s.routes.has_rule()) {
    return tl::unexpected(Faults{{kName, 0, "--rule is a rule of routes.rule other than tables"}});
  }
  if (find_pattern(with.pattern) == nullptr) {
    return tl::unexpected(Faults{{kName, 0, "--pattern is none of traffic.pattern"}});
  }
  s.routes.shape = {.dims = with.dims, .group = with.dims.empty() ? with.group : 0};
  s.packet.vls = kMostVls;
  s.packet.adapters.most_waiting = 8;
  s.packet.partitions = with.partitions;
  s.traffic.pattern = with.pattern;
  s.traffic.dims = with.dims;
  s.traffic.switches_per_group = s.routes.shape.group;
  s.traffic.loads = {with.load};
  s.traffic.sizes = {{with.payload, 1}};
  return PreparedScenario::prepare(std::move(s));
}

int run_scale(const ScaleOptions& with) {
  const double begin = seconds_of(CLOCK_MONOTONIC),
               cpu_begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const auto prepared = prepare(with);
  if (!prepared) return refuse(print_fault(prepared.error().at(0)));
  const AdaptiveRoutes& routes = *prepared->rule();
  PacketOptions options = prepared->scenario().packet;
  options.vls = routes.vls();
  PacketNet net(prepared->spec(), options);
  ThreadTeam team;
  net.set_team(&team);
  net.open_all(kMtu);
  net.set_route_choice(&routes);
  const OfferedTraffic traffic(net,
                               prepared->scenario().traffic,
                               {.load = with.load,
                                .mtu = kMtu,
                                .pattern = prepared->pattern_input(1),
                                .by_host_number = true});
  net.start();
  const double ready = seconds_of(CLOCK_MONOTONIC);
  const double cpu_ready = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  net.run_until(with.warm_up * kMicro);
  const NetStats before = net.stats();
  const double warm = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  net.run_until((with.warm_up + with.measured) * kMicro);
  const double took = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  const double end = seconds_of(CLOCK_MONOTONIC), cpu_end = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const NetStats& after = net.stats();
  const auto hops = static_cast<double>(after.hops - before.hops);
  const auto hosts = static_cast<double>(net.host_count());
  const auto delivered = static_cast<double>(after.delivered - before.delivered);
  if (net.is_full()) {
    return refuse("more packets at once than a partition can have: a lower --load, or partitions");
  }
  if (after.hops == before.hops || after.delivered == 0) {
    return refuse("no packet moved in the time measured: a longer --warm-up or --measured");
  }
  const NetMemory memory = net.memory_use();
  fmt::print(
      "{{\"fabric\": \"{}\", \"rule\": \"{}\", \"pattern\": \"{}\", \"hosts\": {}, \"ports\": {}, "
      "\"vls\": {}, \"partitions\": {}, \"load\": {}, \"accepted\": {:.4f}, "
      "\"hops_per_packet\": {:.2f}, \"packet_hops\": {}, \"events_per_hop\": {:.2f}, "
      "\"ns_per_hop\": {:.0f}, \"setup_s\": {:.1f}, \"setup_cpu_s\": {:.1f}, \"run_s\": {:.1f}, "
      "\"run_cpu_s\": {:.1f}, \"measured_s\": {:.1f}, \"bytes_per_host\": {:.0f}, "
      "\"nodes\": {:.0f}, \"port_bytes\": {:.0f}, \"lanes\": {:.0f}, \"host_bytes\": {:.0f}, "
      "\"packets\": {:.0f}, \"events\": {:.0f}, \"fixed\": {:.0f}, \"spare\": {:.0f}, \"peak_mb\": "
      "{:.0f}, \"hash\": \"{:016x}\"}}\n",
      with.fabric,
      with.rule,
      with.pattern,
      net.host_count(),
      net.wiring().wires.size(),
      options.vls,
      with.partitions,
      with.load,
      delivered * (with.payload + options.links.header_bytes) * net.host_byte_time(0) / 65536.0 /
          (static_cast<double>(with.measured * kMicro) * hosts),
      static_cast<double>(after.hops) / static_cast<double>(after.delivered),
      after.hops,
      static_cast<double>(after.events - before.events) / hops,
      1e9 * took / hops,
      ready - begin,
      cpu_ready - cpu_begin,
      end - ready,
      cpu_end - cpu_ready,
      end - warm,
      static_cast<double>(memory.total()) / hosts,
      static_cast<double>(memory.nodes) / hosts,
      static_cast<double>(memory.ports) / hosts,
      static_cast<double>(memory.lanes) / hosts,
      static_cast<double>(memory.hosts) / hosts,
      static_cast<double>(memory.packets) / hosts,
      static_cast<double>(memory.events) / hosts,
      static_cast<double>(memory.fixed) / hosts,
      static_cast<double>(memory.spare) / hosts,
      peak_mb(),
      after.digest);
  if (const std::string why = net.audit(); !why.empty()) return refuse("audit: " + why);
  return 0;
}

}  // namespace
}  // namespace smd::sim

int main(int argc, char** argv) {
  smd::sim::ScaleOptions with;
  smd::CommandLine line{"A network of any size under a rule", "bench_scale"};
  line.option("--fabric", with.fabric, "As smsim run takes it").show_default();
  line.option("--rule", with.rule, "Of routes.rule").show_default();
  line.option("--pattern", with.pattern, "Of traffic.pattern").show_default();
  line.option("--group", with.group, "Switches of a dragonfly's group, without --dims")
      .show_default();
  line.option("--dims", with.dims, "Sides of a butterfly");
  line.option("--load", with.load, "Of the hosts' links").positive().show_default();
  line.option("--payload", with.payload, "Bytes of a packet")
      .range(0u, smd::sim::kMtu)
      .show_default();
  line.option("--warm-up", with.warm_up, "us").show_default();
  line.option("--measured", with.measured, "us").show_default();
  line.option("--partitions", with.partitions, "A thread each")
      .range(1u, smd::sim::kMostPartitions)
      .show_default();
  if (const auto code = line.parse(argc, argv)) return *code;
  return smd::sim::run_scale(with);
}
