// How fast packets move: packet-hops per second of CPU time, cycles per event, memory. A packet-hop
// is a packet forwarded by a switch.
//
//   bench_packet [NAME]… [--runs N] [--partitions N]        all rows, or those of these names
#include <fmt/core.h>
#include <sys/resource.h>

#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "sim-backend/kernel/thread_team.h"
#include "sim-backend/packet/event_queue.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/packet/partition_split.h"
#include "sim-backend/scenario/programmed_nodes.h"
#include "sim-backend/traffic/synthetic.h"
#include "smd/base/command_line.h"

namespace smd::sim {
namespace {

struct Row {
  const char* name;
  const char* fabric;
  const char* engine;
  const char* preset;
  double load;
  std::uint32_t payload;
  Picos warm_up;
  Picos measured;
};

constexpr Row kRows[] = {
    {"ft8_3",
     "pgft:levels=3,down=8.8.8,up=1.8.8,parallel=1.1.1",
     "ftree",
     "modern",
     0.5,
     2048,
     20 * kMicro,
     400 * kMicro},
    {"ft8_3-input-buffers",
     "pgft:levels=3,down=8.8.8,up=1.8.8,parallel=1.1.1",
     "ftree",
     "cycles",
     0.5,
     1024,
     10 * kMicro,
     100 * kMicro},
    {"fat-tree-k8",
     "fat-tree:k=8,levels=3",
     "ftree",
     "modern",
     0.5,
     2048,
     20 * kMicro,
     1000 * kMicro},
    {"hosts-3564",
     "fat-tree:k=36,levels=3,hosts=3564",
     "ftree",
     "modern",
     0.5,
     512,
     0,
     50 * kMicro},
    // As many hosts as 36-port switches of three levels carry; long enough for buffers to fill.
    {"hosts-11664", "fat-tree:k=36,levels=3", "ftree", "modern", 0.5, 2048, 0, 20 * kMicro},
    {"torus-8x8",
     "torus:dims=8.8,hosts=1",
     "updn",
     "modern",
     0.2,
     2048,
     20 * kMicro,
     1000 * kMicro},
};

double seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::uint64_t cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

double resident_mb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmRSS:") continue;
    double kib = 0;
    status >> kib;
    return kib / 1024;
  }
  return 0;
}

/// One run; prints nothing when it is not the last.
double run(const Row& row, unsigned partitions, bool print, double best) {
  const double rss_before = resident_mb();
  const FabricSpec spec = load_fabric(row.fabric).value();
  PacketOptions options;
  if (!find_preset(row.preset, options)) return 0;
  options.partitions = partitions;
  const auto made = program_nodes(spec, {.engine = row.engine, .vls = options.vls});
  if (!made) {
    fmt::print(stderr, "{}: {}\n", row.name, made.error().context);
    return 0;
  }
  PacketNet net(spec, options);
  ThreadTeam team;
  net.set_team(&team);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) net.load(n, made->nodes[n]);
  std::vector<std::uint32_t> byte_time;
  for (const PortAt port : net.wiring().host_port) {
    byte_time.push_back(net.wiring().wires[port].byte_time);
  }
  SyntheticTraffic traffic({.load = row.load,
                            .arrivals = {},
                            .sizes = {{row.payload, 1}},
                            .header_bytes = options.links.header_bytes},
                           Destinations({{1, uniform_pattern(net.host_count())}}, false),
                           byte_time);
  net.set_workload(&traffic);
  net.start();
  net.run_until(row.warm_up);
  const NetStats before = net.stats();
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  const std::uint64_t clock = cycles();
  const double wall = seconds(CLOCK_MONOTONIC);
  net.run_until(row.warm_up + row.measured);
  const double took = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  const double waited = seconds(CLOCK_MONOTONIC) - wall;
  const auto ticks = static_cast<double>(cycles() - clock);
  const NetStats& after = net.stats();
  const auto hops = static_cast<double>(after.hops - before.hops);
  const auto events = static_cast<double>(after.events - before.events);
  const double rate = hops / took;
  if (print) {
    const auto delivered = static_cast<double>(after.delivered - before.delivered);
    fmt::print(
        "{{\"name\": \"{}\", \"hosts\": {}, \"load\": {}, \"payload\": {}, "
        "\"simulated_us\": {}, \"partitions\": {}, \"cpu_s\": {:.3f}, \"wall_s\": {:.3f}, "
        "\"packet_hops\": {}, "
        "\"packet_hops_per_s\": {:.0f}, \"packets_per_s\": {:.0f}, \"events_per_hop\": "
        "{:.2f}, \"cycles_per_event\": {:.0f}, \"accepted\": {:.4f}, "
        "\"net_bytes_per_port\": {:.0f}, \"rss_mb\": {:.0f}, \"hash\": \"{:016x}\"}}\n",
        row.name,
        net.host_count(),
        row.load,
        row.payload,
        row.measured / kMicro,
        partitions,
        took,
        waited,
        after.hops - before.hops,
        std::max(rate, best),
        delivered / took,
        events / hops,
        ticks / events,
        delivered / static_cast<double>(after.generated - before.generated) * row.load,
        static_cast<double>(net.memory()) / static_cast<double>(net.wiring().wires.size()),
        resident_mb() - rss_before,
        after.digest);
    if (const std::string why = net.audit(); !why.empty()) fmt::print("audit: {}\n", why);
  }
  return rate;
}

/// Hold model: pop one, push one a little later.
template <class Queue>
double hold(std::size_t size) {
  Queue queue;
  Rng rng(1);
  for (std::size_t i = 0; i < size; ++i) {
    queue.push({static_cast<Picos>(rng.below(200'000)), rng.next()});
  }
  const std::size_t steps = 5'000'000;
  const double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (std::size_t i = 0; i < steps; ++i) {
    const Event event = queue.top();
    queue.pop();
    // As a net does: most are a packet's or a cable's time away, some much farther.
    const std::uint64_t reach = rng.below(64) == 0 ? 5'000'000 : 200'000;
    queue.push({event.at + 50'000 + static_cast<Picos>(rng.below(reach)), event.what});
  }
  return 1e9 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - begin) / static_cast<double>(steps);
}

}  // namespace
}  // namespace smd::sim

int main(int argc, char** argv) {
  smd::CommandLine line{"Packets through fabrics, on one core", "bench_packet"};
  std::vector<std::string> names;
  unsigned runs = 3;
  unsigned partitions = 1;
  line.option("NAME", names, "Rows; none: all");
  line.option("--runs", runs, "Of each row; the fastest counts").show_default();
  line.option("--partitions", partitions, "Of the fabric, a thread each")
      .range(1u, smd::sim::kMostPartitions)
      .show_default();
  if (const auto code = line.parse(argc, argv)) return *code;
  using namespace smd::sim;
  const auto wanted = [&](const std::string& name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  for (const Row& row : kRows) {
    if (!wanted(row.name)) continue;
    double best = 0;
    for (unsigned i = 0; i < runs; ++i) {
      best = std::max(best, run(row, partitions, i + 1 == runs, best));
    }
  }
  if (!wanted("queue")) return 0;
  for (const std::size_t size : {std::size_t{1000}, std::size_t{10'000}, std::size_t{100'000}}) {
    fmt::print(
        "{{\"name\": \"queue\", \"events\": {}, \"wheel_ns\": {:.1f}, \"heap_ns\": {:.1f}}}\n",
        size,
        hold<EventWheel>(size),
        hold<EventHeap>(size));
  }
}
