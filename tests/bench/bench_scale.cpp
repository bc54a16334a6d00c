// What large networks under a rule take: bytes of state per host, by what they are for, and
// processor time per packet-hop, from a thousand hosts to a million.
//
//   bench_scale [--fabric FABRIC] [--rule RULE] [--pattern NAME] …
//
// runs one point and prints one line of JSON.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "sim-backend/kernel/thread_team.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/packet/partition_split.h"
#include "sim-backend/scenario/without_subnet.h"
#include "sim-backend/topology/network.h"
#include "sim-backend/traffic/synthetic.h"
#include "smd/base/command_line.h"

namespace smd::sim {
namespace {

constexpr unsigned kMtu = 4096;

struct ScaleOptions {
  std::string fabric = "dragonfly:a=8,c=4,h=4,beyond=1";
  std::string rule = "min";
  std::string pattern = "uniform";
  std::uint32_t group = 0;  // switches of a dragonfly's; 0: a butterfly
  std::vector<std::uint32_t> dims;
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

/// Hosts of each switch that has some, in the switches' order.
std::vector<std::vector<HostNum>> hosts_by_switch(const ProgrammedFabric& fabric) {
  std::vector<std::vector<HostNum>> out;
  for (HostNum host = 0; host < fabric.host_leaf.size(); ++host) {
    const std::size_t leaf = fabric.host_leaf[host].value();
    out.resize(std::max(out.size(), leaf + 1));
    out[leaf].push_back(host);
  }
  std::erase_if(out, [](const std::vector<HostNum>& hosts) { return hosts.empty(); });
  return out;
}

int run_scale(const ScaleOptions& with) {
  const double begin = seconds_of(CLOCK_MONOTONIC),
               cpu_begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  auto network = load_network(with.fabric);
  if (!network) return refuse(print_fault(network.error().at(0)));
  RuleSpec rule;
  if (!find_rule(with.rule, rule.rule) || rule.rule == RuleKind::Tables) {
    return refuse("--rule is a rule of routes.rule other than tables");
  }
  auto shape = Shape::find(network->spec, {.dims = with.dims, .group = with.group});
  if (!shape) return refuse(shape.error().context);
  if (const std::string why = check_rule(*shape, rule); !why.empty()) return refuse(why);
  const AdaptiveRoutes routes(std::move(*shape), rule);
  PacketOptions options = PacketOptions::modern();
  options.vls = routes.vls();
  options.switches.turns_back = true;
  options.adapters.most_waiting = 8;
  options.partitions = with.partitions;
  if (routes.looks_far() && with.partitions > 1) {
    return refuse("--rule " + with.rule + " looks at other switches: it runs in 1 partition");
  }
  const HostNum hosts_in_all = routes.shape().hosts();
  if (hosts_in_all < 2) return refuse("traffic needs a fabric with at least two hosts");
  for (const std::string& why : {check_options(options),
                                 check_queues(options, hosts_in_all),
                                 check_partitions(network->spec, options)}) {
    if (!why.empty()) return refuse(why);
  }
  const PatternRow* pattern = find_pattern(with.pattern);
  if (pattern == nullptr) return refuse("--pattern is none of traffic.pattern");
  if (with.pattern == "local" || with.pattern == "combined") {
    return refuse("--pattern " + with.pattern + " lists every host's neighbours");
  }
  auto mix = pattern->build({.hosts = hosts_in_all,
                             .groups = hosts_by_switch(list_hosts(network->spec)),
                             .near = {},
                             .dims = with.dims,
                             .switches_per_group = with.group});
  if (!mix) return refuse(mix.error().context);
  PacketNet net(network->spec, options);
  ThreadTeam team;
  net.set_team(&team);
  net.open_all(kMtu);
  net.set_route_choice(&routes);
  std::vector<std::uint32_t> byte_time(net.host_count(), net.host_byte_time(0));
  SyntheticTraffic traffic({.load = with.load,
                            .arrivals = {},
                            .sizes = {{with.payload, 1}},
                            .header_bytes = options.links.header_bytes,
                            .by_host_number = true},
                           Destinations(std::move(*mix), pattern->includes_self),
                           byte_time);
  net.set_workload(&traffic);
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
  line.option("--group", with.group, "Switches of a dragonfly's group").show_default();
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
