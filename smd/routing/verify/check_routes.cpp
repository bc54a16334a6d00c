#include "smd/routing/verify/check_routes.h"

#include <fmt/format.h>
#include <algorithm>
#include <memory>

#include "smd/base/parallel.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "smd/routing/verify/hop_distance.h"
#include "smd/routing/verify/vl_flow.h"
#include "smd/routing/verify/walk.h"

namespace smd {
namespace {

constexpr std::size_t kMaxFaults = 10;

class Checker {
 public:
  Checker(const Fabric& fabric,
          const LidMap& lids,
          const ForwardingTables& tables,
          const RoutingTables* routing,
          const CheckOptions& options)
      : fabric_(fabric),
        lids_(lids),
        tables_(tables),
        options_(options),
        walk_(fabric, tables),
        flow_(routing == nullptr
                  ? nullptr
                  : std::make_unique<VlFlow>(fabric, *routing, options.offered, options.any_sl)),
        distance_(fabric),
        sources_(fabric.switch_count(), 0) {}

  /// Of the LIDs [first, last) alone, and without a look for credit loops.
  RouteReport follow(std::size_t first, std::size_t last) {
    report_.minimality = options_.minimality;
    count_sources();
    for (std::size_t value = first; value < last && !options_.stop.stop_requested(); ++value) {
      const PortIdx owner = lids_.owner[value];
      if (owner == kNone<PortIdx>) continue;
      const SwitchIdx sw = switch_by(owner);
      if (sw == kNone<SwitchIdx>) {
        check_lid_without_switch(owner);
      } else {
        check_lid(Lid{static_cast<std::uint16_t>(value)}, sw);
      }
    }
    return std::move(report_);
  }

  /// With several VLs.
  RouteReport run() {
    report_ = follow(0, lids_.owner.size());
    if (options_.stop.stop_requested()) return {};
    ChannelGraph channels{fabric_, flow_->vls()};
    flow_->add_to(channels);
    report_.vls = flow_->count_used();
    find_credit_loop(channels, report_);
    return std::move(report_);
  }

  static void find_credit_loop(const ChannelGraph& channels, RouteReport& report) {
    report.cycle = channels.find_cycle();
    report.acyclic = report.cycle.empty();
  }

 private:
  // The switch that an end port is, or is linked to; kNone for a host linked to a host.
  SwitchIdx switch_by(PortIdx end) const {
    const SwitchIdx own = fabric_.switch_at(end);
    if (own != kNone<SwitchIdx>) return own;
    const PortIdx peer = fabric_.peer[end];
    return peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric_.switch_at(peer);
  }

  void count_sources() {
    for (const PortIdx port : fabric_.peer.indices()) {
      if (!fabric_.is_end_port(port)) continue;
      ++end_ports_;
      if (const SwitchIdx sw = switch_by(port); sw != kNone<SwitchIdx>) {
        ++sources_[sw.value()];
        ++attached_;
      }
    }
  }

  // Two hosts on one link need no tables; nobody else can reach them.
  void check_lid_without_switch(PortIdx owner) {
    const bool cabled = fabric_.is_end_port(owner);
    report_.disconnected += end_ports_ - (cabled ? 2 : 0);
    if (!cabled) return;
    ++report_.pairs;
    if (options_.minimality) ++report_.minimal;
  }

  // In LID order, which is how the tables lie in memory.
  void check_lid(Lid lid, SwitchIdx destination) {
    const PortIdx owner = lids_.owner[lid.value()];
    walk_.follow(lid, owner);
    if (flow_ != nullptr) flow_->follow(lid, walk_);
    report_.disconnected += end_ports_ - attached_;
    const bool own = fabric_.is_end_port(owner);
    const bool vls_pass = flow_ == nullptr || flow_->all_pass();
    if (distance_.one_island() && vls_pass && everybody_arrives()) {
      count_arrivals(destination, own);
      return;
    }
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
      const SwitchIdx sw{i};
      const std::uint64_t pairs = sources_[i] - (own && sw == destination ? 1u : 0u);
      if (pairs != 0) judge(lid, owner, destination, sw, pairs);
    }
  }

  bool everybody_arrives() const {
    std::uint32_t all = 0;
    for (const std::uint32_t outcome : walk_.outcomes()) all |= outcome;
    return all < Walk::kFailed;
  }

  // As judge() would, all switches at once.
  void count_arrivals(SwitchIdx destination, bool own) {
    const std::span<const std::uint32_t> hops = walk_.outcomes();
    std::uint64_t sum = 0;
    std::uint32_t most = 0;
    for (std::size_t sw = 0; sw < hops.size(); ++sw) {
      sum += std::uint64_t{sources_[sw]} * hops[sw];
      most = std::max(most, hops[sw]);
    }
    report_.pairs += attached_ - (own ? 1 : 0);
    report_.hops += sum;
    report_.max_hops = std::max<unsigned>(report_.max_hops, most);
    if (!options_.minimality) return;
    const std::span<const std::uint16_t> shortest = distance_.to(destination);
    std::uint64_t minimal = 0;
    for (std::size_t sw = 0; sw < hops.size(); ++sw)
      minimal += hops[sw] == shortest[sw] ? sources_[sw] : 0;
    report_.minimal += minimal - (own ? 1 : 0);
  }

  void judge(Lid lid, PortIdx owner, SwitchIdx destination, SwitchIdx sw, std::uint64_t pairs) {
    const PathResult result = walk_.result(sw);
    if (!distance_.joined(sw, destination) && result != PathResult::Loop) {
      report_.disconnected += pairs;
      return;
    }
    report_.pairs += pairs;
    if (result != PathResult::Arrives) {
      (result == PathResult::Loop ? report_.loops : report_.unreachable) += pairs;
      return report_fault(lid, owner, sw);
    }
    if (const std::uint32_t lost = flow_ == nullptr ? 0 : flow_->count_discarded(sw, walk_)) {
      report_.unreachable += lost;
      report_fault(lid, owner, sw);
      pairs -= lost;
      if (pairs == 0) return;
    }
    const std::uint32_t hops = walk_.hops(sw);
    report_.hops += pairs * hops;
    report_.max_hops = std::max<unsigned>(report_.max_hops, hops);
    if (options_.minimality && hops == distance_.to(destination)[sw.value()])
      report_.minimal += pairs;
  }

  void report_fault(Lid lid, PortIdx owner, SwitchIdx sw) {
    if (report_.first_faults.size() >= kMaxFaults) return;
    report_.first_faults.push_back(
        fmt::format("{} to lid {}: {}", print_source(sw, owner), lid, print_result(sw)));
  }

  std::string print_result(SwitchIdx sw) const {
    const SwitchIdx end = walk_.end(sw);
    const PortNum egress = walk_.egress(end);
    const std::string at = name_of(fabric_, fabric_.switch_node[end]);
    switch (walk_.result(sw)) {
      case PathResult::Arrives:
        return flow_->print_discard(sw, walk_);
      case PathResult::Loop:
        return fmt::format("loop through {}", at);
      case PathResult::PortDown:
        return fmt::format("port {} of {} is down", egress, at);
      case PathResult::WrongPort:
        return fmt::format("port {} of {} leads to another node", egress, at);
      case PathResult::NoRoute:
        break;
    }
    return egress == kNoRoute ? fmt::format("no route at {}", at)
                              : fmt::format("{} has no port {}", at, egress);
  }

  // The first host of the switch, else the switch itself.
  std::string print_source(SwitchIdx sw, PortIdx owner) const {
    const NodeIdx node = fabric_.switch_node[sw];
    for (const PortIdx port : fabric_.external_ports(node)) {
      const PortIdx peer = fabric_.peer[port];
      if (peer != kNone<PortIdx> && peer != owner && !fabric_.is_switch(fabric_.node_of[peer]))
        return print_port(fabric_, peer);
    }
    return print_port(fabric_, fabric_.port_of(node, PortNum{0}));
  }

  const Fabric& fabric_;
  const LidMap& lids_;
  const ForwardingTables& tables_;
  const CheckOptions& options_;
  Walk walk_;
  std::unique_ptr<VlFlow> flow_;  // null: one VL
  HopDistance distance_;
  std::vector<std::uint32_t> sources_;  // end ports at a switch, itself included
  std::uint64_t attached_ = 0;          // all of those
  std::uint64_t end_ports_ = 0;
  RouteReport report_;
};

void add_report(RouteReport& all, RouteReport&& some) {
  all.pairs += some.pairs;
  all.disconnected += some.disconnected;
  all.unreachable += some.unreachable;
  all.loops += some.loops;
  all.minimal += some.minimal;
  all.minimality = all.minimality && some.minimality;
  all.hops += some.hops;
  all.max_hops = std::max(all.max_hops, some.max_hops);
  for (std::string& fault : some.first_faults) {
    if (all.first_faults.size() < kMaxFaults) all.first_faults.push_back(std::move(fault));
  }
}

}  // namespace

// A slice of the LIDs is followed, and then the turns of a slice of the switches are marked, which
// are rows of the graph that no other switch marks.
RouteReport check_routes(const Fabric& fabric,
                         const LidMap& lids,
                         const ForwardingTables& tables,
                         const CheckOptions& options) {
  const std::size_t slices = std::max(1u, options.threads);
  const std::vector<std::uint16_t> owned = find_owned_lids(lids, tables);
  const std::size_t switches = std::min(fabric.switch_count(), tables.switches());
  ChannelGraph channels{fabric, 1};
  std::vector<RouteReport> reports(slices);
  for_each_slice(
      lids.owner.size(), slices, [&](std::size_t slice, std::size_t first, std::size_t last) {
        reports[slice] = Checker{fabric, lids, tables, nullptr, options}.follow(first, last);
        if (options.stop.stop_requested()) return;
        add_table_turns(fabric,
                        tables,
                        owned,
                        slice * switches / slices,
                        (slice + 1) * switches / slices,
                        channels);
      });
  if (options.stop.stop_requested()) return {};
  RouteReport report;
  for (RouteReport& some : reports) add_report(report, std::move(some));
  Checker::find_credit_loop(channels, report);
  return report;
}

RouteReport check_routes(const Fabric& fabric,
                         const LidMap& lids,
                         const RoutingTables& routing,
                         const CheckOptions& options) {
  const bool one_vl = routing.vls <= 1 && routing.sl_to_vl.empty();
  if (one_vl) return check_routes(fabric, lids, routing.lft, options);
  return Checker{fabric, lids, routing.lft, &routing, options}.run();
}

std::string print_cycle(const Fabric& fabric, const std::vector<ChannelStep>& cycle) {
  std::string text;
  for (const ChannelStep& step : cycle)
    text += fmt::format(
        "{}{}(VL{})", text.empty() ? "" : " -> ", print_port(fabric, step.port), step.vl);
  return text;
}

}  // namespace smd
