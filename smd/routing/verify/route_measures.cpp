#include "smd/routing/verify/route_measures.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "smd/base/parallel.h"

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

// Of a flow, so that it is split among the LIDs of any port without a remainder.
constexpr unsigned kParts = 128;

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
    out_.full_rate = find_full_rate(fabric_, hosts_);
    measure_uniform();
    const EffectiveBisection random = measure_effective_bisection(
        fabric_, lids_, tables_, hosts_, options.permutations, options.seed);
    out_.permutations = random.mean;
    threads_ = options.threads;
    if (options.shifts) std::tie(out_.shifts, out_.worst_shift) = measure_shifts(false);
    const bool several =
        std::ranges::any_of(hosts_, [&](PortIdx host) { return lids_.lmc[host] != 0; });
    if (!options.spread || !several) return out_;
    SpreadMeasures& spread = out_.spread.emplace();
    spread.uniform = measure_spread();
    if (options.shifts) std::tie(spread.shifts, spread.worst_shift) = measure_shifts(true);
    return out_;
  }

 private:
  void measure_uniform() {
    ChannelLoad load(fabric_, tables_);
    const auto senders = count_senders(1);
    for (const PortIdx host : hosts_) out_.lost += load.add_tree(lids_.base[host], host, senders);
    out_.load = summarise_load(fabric_, channels_, load.all());
    const auto count = static_cast<double>(hosts_.size());
    double hops = 0;
    for (const PortIdx channel : channels_) hops += static_cast<double>(load.of(channel));
    out_.uniform = find_share(load, count);
    const double pairs = count * (count - 1) - static_cast<double>(out_.lost);
    if (pairs > 0) out_.mean_hops = hops / pairs;
  }

  double measure_spread() {
    ChannelLoad load(fabric_, tables_);
    for (const PortIdx host : hosts_) {
      const auto senders = count_senders(kParts >> lids_.lmc[host]);
      for (unsigned offset = 0; offset < 1u << lids_.lmc[host]; ++offset)
        static_cast<void>(load.add_tree(lid_of(host, offset), host, senders));
    }
    return find_share(load, static_cast<double>(hosts_.size()) * kParts);
  }

  /// What everybody to everybody gets, where each host sends `all` in total.
  [[nodiscard]] double find_share(const ChannelLoad& load, double all) const {
    double busiest = 1;
    for (const PortIdx channel : channels_)
      busiest = std::max(busiest, static_cast<double>(load.of(channel)) / all / capacity_[channel]);
    return 1 / busiest;
  }

  [[nodiscard]] IndexVector<SwitchIdx, std::uint64_t> count_senders(std::uint64_t each) const {
    IndexVector<SwitchIdx, std::uint64_t> senders(fabric_.switch_count(), 0);
    for (const PortIdx host : hosts_) senders[switch_of(host)] += each;
    return senders;
  }

  [[nodiscard]] Lid lid_of(PortIdx host, unsigned offset) const {
    return Lid{static_cast<std::uint16_t>(lids_.base[host].value() + offset)};
  }

  /// All of them, and the worst.
  std::pair<double, double> measure_shifts(bool spread) const {
    std::vector<PortIdx> order;  // hosts, switch by switch
    std::vector<std::size_t> first;
    for (const auto& group : group_by_switch(fabric_, hosts_)) {
      first.push_back(order.size());
      for (const HostNum host : group) order.push_back(hosts_[host]);
    }
    if (first.size() < 2) return {1, 1};
    const Steps steps(fabric_, tables_);
    std::vector<double> times(first.size() - 1);
    const unsigned threads = threads_ != 0 ? threads_ : count_threads(times.size() * order.size());
    for_each_slice(
        times.size(), threads, [&](std::size_t /*slice*/, std::size_t begin, std::size_t end) {
          IndexVector<PortIdx, std::uint32_t> load(fabric_.port_count(), 0);
          for (std::size_t by = begin; by < end; ++by) {
            for (std::size_t at = 0, to = first[by + 1]; at < order.size(); ++at) {
              const unsigned lmc = spread ? lids_.lmc[order[to]] : 0;
              for (unsigned offset = 0; offset < 1u << lmc; ++offset) {
                steps.walk(switch_of(order[at]),
                           lid_of(order[to], offset),
                           fabric_.peer[order[to]],
                           [&](PortIdx channel) { load[channel] += kParts >> lmc; });
              }
              to = to + 1 == order.size() ? 0 : to + 1;
            }
            times[by] = 1;
            for (const PortIdx channel : channels_)
              times[by] = std::max(times[by],
                                   std::exchange(load[channel], 0u) / capacity_[channel] / kParts);
          }
        });
    double sum = 0, worst = 1;
    for (const double time : times) {
      sum += time;
      worst = std::min(worst, 1 / time);
    }
    return {static_cast<double>(times.size()) / sum, worst};
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
