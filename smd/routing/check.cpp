#include "smd/routing/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/routing/walk.h"

namespace smd {
namespace {

constexpr std::size_t kMaxFaults = 10;
constexpr std::uint32_t kFar = 0xffffffff;

class Checker {
 public:
  Checker(const Fabric& fabric,
          const LidMap& lids,
          const ForwardingTables& tables,
          const CheckOptions& options)
      : fabric_(fabric),
        lids_(lids),
        options_(options),
        walk_(fabric, tables),
        channels_(fabric, kVls),
        sources_(fabric.switch_count(), 0),
        island_(fabric.switch_count(), kFar),
        distance_(fabric.switch_count(), kFar) {}

  RouteReport run() {
    report_.vls = kVls;
    find_neighbours();
    count_sources();
    find_islands();
    for (std::size_t value = 0; value < lids_.owner.size(); ++value) {
      const PortIdx owner = lids_.owner[value];
      if (owner == kNone<PortIdx>) continue;
      const SwitchIdx sw = switch_by(owner);
      if (sw == kNone<SwitchIdx>) {
        check_lid_without_switch(owner);
      } else {
        check_lid(Lid{static_cast<std::uint16_t>(value)}, sw);
      }
    }
    report_.cycle = channels_.find_cycle();
    report_.acyclic = report_.cycle.empty();
    return std::move(report_);
  }

 private:
  static constexpr unsigned kVls = 1;  // every SL maps to VL 0

  // The switch that an end port is, or is cabled to; kNone for a host cabled to a host.
  SwitchIdx switch_by(PortIdx end) const {
    const SwitchIdx own = fabric_.switch_of[fabric_.node_of[end]];
    if (own != kNone<SwitchIdx>) return own;
    const PortIdx far = fabric_.peer[end];
    return far == kNone<PortIdx> ? kNone<SwitchIdx> : fabric_.switch_of[fabric_.node_of[far]];
  }

  void find_neighbours() {
    std::vector<SwitchIdx> around;
    for (const NodeIdx node : fabric_.switch_node) {
      around.clear();
      for (const PortIdx port : fabric_.external_ports(node)) {
        const PortIdx far = fabric_.peer[port];
        if (far == kNone<PortIdx> || fabric_.node_of[far] == node) continue;
        const SwitchIdx sw = fabric_.switch_of[fabric_.node_of[far]];
        if (sw != kNone<SwitchIdx>) around.push_back(sw);
      }
      std::sort(around.begin(), around.end());
      around.erase(std::unique(around.begin(), around.end()), around.end());
      num_ports_.push_back(static_cast<std::uint16_t>(fabric_.num_ports(node)));
      first_neighbour_.push_back(neighbours_.size());
      neighbours_.insert(neighbours_.end(), around.begin(), around.end());
    }
    first_neighbour_.push_back(neighbours_.size());
  }

  void count_sources() {
    for (const PortIdx port : fabric_.peer.indices()) {
      if (!fabric_.is_end_port(port)) continue;
      ++end_ports_;
      if (const SwitchIdx sw = switch_by(port); sw != kNone<SwitchIdx>) ++sources_[sw];
    }
  }

  void find_islands() {
    for (const SwitchIdx start : island_.indices()) {
      if (island_[start] != kFar) continue;
      island_[start] = start.value();
      queue_.assign(1, start);
      for (std::size_t at = 0; at < queue_.size(); ++at) {
        const std::size_t sw = queue_[at].value();
        for (std::size_t i = first_neighbour_[sw]; i < first_neighbour_[sw + 1]; ++i) {
          if (island_[neighbours_[i]] != kFar) continue;
          island_[neighbours_[i]] = start.value();
          queue_.push_back(neighbours_[i]);
        }
      }
    }
  }

  // Two hosts on one cable need no tables; nobody else can reach them.
  void check_lid_without_switch(PortIdx owner) {
    const bool cabled = fabric_.is_end_port(owner);
    report_.disconnected += end_ports_ - (cabled ? 2 : 0);
    if (!cabled) return;
    ++report_.pairs;
    if (options_.minimality) ++report_.minimal;
  }

  // LIDs of one switch mostly follow each other.
  void measure_distances(SwitchIdx destination) {
    if (measured_ == destination) return;
    measured_ = destination;
    distance_.assign(distance_.size(), kFar);
    distance_[destination] = 0;
    queue_.assign(1, destination);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const SwitchIdx sw = queue_[at];
      for (std::size_t i = first_neighbour_[sw.value()]; i < first_neighbour_[sw.value() + 1];
           ++i) {
        if (distance_[neighbours_[i]] != kFar) continue;
        distance_[neighbours_[i]] = distance_[sw] + 1;
        queue_.push_back(neighbours_[i]);
      }
    }
  }

  // In LID order, which is how the tables lie in memory.
  void check_lid(Lid lid, SwitchIdx destination) {
    const PortIdx owner = lids_.owner[lid.value()];
    walk_.follow(lid, owner);
    if (options_.minimality) measure_distances(destination);
    std::uint64_t attached = 0;
    for (const SwitchIdx sw : sources_.indices()) {
      if (const SwitchIdx onward = walk_.next(sw); onward != kNone<SwitchIdx>)
        depend(walk_.entered(sw), onward, walk_.exit(onward));
      attached += sources_[sw];
      const bool own = sw == destination && fabric_.is_end_port(owner);
      if (const std::uint64_t pairs = sources_[sw] - (own ? 1u : 0u); pairs != 0)
        judge(lid, owner, destination, sw, pairs);
    }
    report_.disconnected += end_ports_ - attached;
  }

  void depend(PortIdx in, SwitchIdx sw, PortNum out) {
    if (out.value() <= num_ports_[sw]) channels_.add(in, 0, out.value(), 0);
  }

  void judge(Lid lid, PortIdx owner, SwitchIdx destination, SwitchIdx sw, std::uint64_t pairs) {
    const Fate fate = walk_.fate(sw);
    const bool apart = island_[sw] != island_[destination];
    if (apart && fate != Fate::Loop) {
      report_.disconnected += pairs;
      return;
    }
    report_.pairs += pairs;
    if (fate == Fate::Arrives) {
      const std::uint32_t hops = walk_.hops(sw);
      report_.hops += pairs * hops;
      report_.max_hops = std::max<unsigned>(report_.max_hops, hops);
      if (options_.minimality && hops == distance_[sw]) report_.minimal += pairs;
      return;
    }
    (fate == Fate::Loop ? report_.loops : report_.unreachable) += pairs;
    if (report_.first_faults.size() < kMaxFaults)
      report_.first_faults.push_back(print_fault_at(lid, owner, sw));
  }

  std::string print_fault_at(Lid lid, PortIdx owner, SwitchIdx sw) const {
    const SwitchIdx end = walk_.end(sw);
    const PortNum exit = walk_.exit(end);
    const NodeIdx node = fabric_.switch_node[end];
    const std::string& name = fabric_.description[node];
    const std::string at = name.empty() ? fmt::format("{}", fabric_.node_guid[node]) : name;
    std::string what;
    switch (walk_.fate(sw)) {
      case Fate::Loop:
        what = fmt::format("loop through {}", at);
        break;
      case Fate::PortDown:
        what = fmt::format("port {} of {} is down", exit, at);
        break;
      case Fate::WrongPort:
        what = fmt::format("port {} of {} leads to another node", exit, at);
        break;
      default:
        what = exit == kNoRoute ? fmt::format("no route at {}", at)
                                : fmt::format("{} has no port {}", at, exit);
        break;
    }
    return fmt::format("{} to lid {}: {}", print_source(sw, owner), lid, what);
  }

  // The first host of the switch, else the switch itself.
  std::string print_source(SwitchIdx sw, PortIdx owner) const {
    const NodeIdx node = fabric_.switch_node[sw];
    for (const PortIdx port : fabric_.external_ports(node)) {
      const PortIdx far = fabric_.peer[port];
      if (far != kNone<PortIdx> && far != owner && !fabric_.is_switch(fabric_.node_of[far]))
        return print_port(fabric_, far);
    }
    return print_port(fabric_, fabric_.port_of(node, PortNum{0}));
  }

  const Fabric& fabric_;
  const LidMap& lids_;
  const CheckOptions& options_;
  Walk walk_;
  ChannelGraph channels_;
  IndexVector<SwitchIdx, std::uint32_t> sources_;  // end ports at a switch, itself included
  std::uint64_t end_ports_ = 0;
  IndexVector<SwitchIdx, std::uint32_t> island_;  // its first switch
  IndexVector<SwitchIdx, std::uint16_t> num_ports_;
  std::vector<std::size_t> first_neighbour_;
  std::vector<SwitchIdx> neighbours_;
  SwitchIdx measured_ = kNone<SwitchIdx>;
  IndexVector<SwitchIdx, std::uint32_t> distance_;  // to that switch
  std::vector<SwitchIdx> queue_;
  RouteReport report_;
};

}  // namespace

RouteReport check_routes(const Fabric& fabric,
                         const LidMap& lids,
                         const ForwardingTables& tables,
                         const CheckOptions& options) {
  return Checker{fabric, lids, tables, options}.run();
}

std::string print_cycle(const Fabric& fabric, const std::vector<ChannelStep>& cycle) {
  std::string text;
  for (const ChannelStep& step : cycle)
    text += fmt::format(
        "{}{}(VL{})", text.empty() ? "" : " -> ", print_port(fabric, step.port), step.vl);
  return text;
}

}  // namespace smd
