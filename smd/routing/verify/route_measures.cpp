#include "smd/routing/verify/route_measures.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "smd/base/parallel.h"
#include "smd/routing/verify/patterns.h"

namespace smd {
namespace {

/// Paths, one by one and quickly: millions of them are walked.
class Steps {
 public:
  Steps(const Fabric& fabric, const ForwardingTables& tables)
      : next_(fabric.port_count(), kNone<SwitchIdx>) {
    for (const PortIdx channel : find_channels(fabric))
      next_[channel] = fabric.switch_at(fabric.peer[channel]);
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      const NodeIdx node = fabric.switch_node[sw];
      at_.push_back(
          {.ports = fabric.first_port[node],
           .count = fabric.num_ports(node),
           .row = sw.value() < tables.switches() ? tables.row(sw) : std::span<const PortNum>{}});
    }
  }

  /// Calls visit(channel) along the path. Where it ends elsewhere than at the port `last` of a
  /// switch, it is followed as far as it goes, or once round.
  template <class Visit>
  void walk(SwitchIdx from, Lid lid, PortIdx last, Visit&& visit) const {
    for (std::size_t hops = 0; from != kNone<SwitchIdx> && hops < at_.size(); ++hops) {
      const Place& place = at_[from.value()];
      if (lid.value() >= place.row.size()) return;
      const unsigned egress = place.row[lid.value()].value();
      const PortIdx port{place.ports + egress};
      if (egress > place.count || port == last) return;
      from = next_[port];
      if (from != kNone<SwitchIdx>) visit(port);
    }
  }

 private:
  struct Place {
    std::uint32_t ports = 0;  // the first of the switch
    unsigned count = 0;
    std::span<const PortNum> row;
  };

  std::vector<Place> at_;
  IndexVector<PortIdx, SwitchIdx> next_;  // where a channel leads
};

class RouteMeter {
 public:
  RouteMeter(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables)
      : fabric_(fabric),
        lids_(lids),
        tables_(tables),
        hosts_(find_hosts(fabric, lids)),
        channels_(find_channels(fabric)),
        capacity_(find_capacities(fabric, hosts_)) {}

  RouteMeasures run(const MeasureOptions& options) {
    if (hosts_.empty()) return out_;
    measure_uniform();
    const EffectiveBisection random = measure_effective_bisection(
        fabric_, lids_, tables_, hosts_, options.permutations, options.seed);
    out_.permutations = random.mean;
    threads_ = options.threads;
    if (options.shifts) measure_shifts();
    return out_;
  }

 private:
  void measure_uniform() {
    IndexVector<SwitchIdx, std::uint64_t> senders(fabric_.switch_count(), 0);
    for (const PortIdx host : hosts_) ++senders[switch_of(host)];
    ChannelLoad load(fabric_, tables_);
    for (const PortIdx host : hosts_) out_.lost += load.add_tree(lids_.base[host], host, senders);
    out_.load = summarise_load(fabric_, channels_, load.all());
    const auto count = static_cast<double>(hosts_.size());
    double busiest = 1, hops = 0;
    for (const PortIdx channel : channels_) {
      const auto paths = static_cast<double>(load.of(channel));
      hops += paths;
      busiest = std::max(busiest, paths / count / capacity_[channel]);
    }
    out_.uniform = 1 / busiest;
    const double pairs = count * (count - 1) - static_cast<double>(out_.lost);
    if (pairs > 0) out_.mean_hops = hops / pairs;
  }

  void measure_shifts() {
    std::vector<PortIdx> order;  // hosts, switch by switch
    std::vector<std::size_t> first;
    for (const auto& group : group_by_switch(fabric_, hosts_)) {
      first.push_back(order.size());
      for (const HostNum host : group) order.push_back(hosts_[host]);
    }
    if (first.size() < 2) return;
    const Steps steps(fabric_, tables_);
    std::vector<double> times(first.size() - 1);
    const unsigned threads = threads_ != 0 ? threads_ : count_threads(times.size() * order.size());
    for_each_slice(
        times.size(), threads, [&](std::size_t /*slice*/, std::size_t begin, std::size_t end) {
          IndexVector<PortIdx, std::uint32_t> load(fabric_.port_count(), 0);
          for (std::size_t by = begin; by < end; ++by) {
            for (std::size_t at = 0, to = first[by + 1]; at < order.size(); ++at) {
              steps.walk(switch_of(order[at]),
                         lids_.base[order[to]],
                         fabric_.peer[order[to]],
                         [&](PortIdx channel) { ++load[channel]; });
              to = to + 1 == order.size() ? 0 : to + 1;
            }
            times[by] = 1;
            for (const PortIdx channel : channels_)
              times[by] =
                  std::max(times[by], std::exchange(load[channel], 0u) / capacity_[channel]);
          }
        });
    double sum = 0;
    for (const double time : times) {
      sum += time;
      out_.worst_shift = std::min(out_.worst_shift, 1 / time);
    }
    out_.shifts = static_cast<double>(times.size()) / sum;
  }

  [[nodiscard]] SwitchIdx switch_of(PortIdx host) const {
    return fabric_.switch_at(fabric_.peer[host]);
  }

  const Fabric& fabric_;
  const LidMap& lids_;
  const ForwardingTables& tables_;
  std::vector<PortIdx> hosts_;
  std::vector<PortIdx> channels_;
  IndexVector<PortIdx, double> capacity_;
  unsigned threads_ = 0;
  RouteMeasures out_;
};

}  // namespace

RouteMeasures measure_routes(const Fabric& fabric,
                             const LidMap& lids,
                             const ForwardingTables& tables,
                             const MeasureOptions& options) {
  return RouteMeter(fabric, lids, tables).run(options);
}

}  // namespace smd
