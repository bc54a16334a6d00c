#include "sim-backend/scenario/offered_traffic.h"

#include <algorithm>
#include <fstream>
#include <functional>

#include "sim-backend/kernel/process_team.h"
#include "sim-backend/traffic/segmented.h"

namespace smd::sim {
namespace {

std::vector<Lid> lids_of(const DataNet& net) {
  std::vector<Lid> out;
  for (HostNum host = 0; host < net.host_count(); ++host) out.push_back(net.host_lid(host));
  return out;
}

std::vector<std::uint32_t> byte_times_of(const DataNet& net) {
  std::vector<std::uint32_t> out;
  for (HostNum host = 0; host < net.host_count(); ++host) out.push_back(net.host_byte_time(host));
  return out;
}

/// Empty where that is.
std::function<std::uint8_t(HostNum, HostNum)> to_base_lids(SyntheticTraffic::PathSl path_sl) {
  if (!path_sl) return {};
  return [sl = std::move(path_sl)](HostNum from, HostNum to) { return sl(from, to, 0); };
}

std::unique_ptr<CollectiveWorkload> make_collective(const CollectiveOptions& options,
                                                    const CollectiveRanks& ranks,
                                                    const InNetworkAllReduce::Tree& adders) {
  switch (options.kind) {
    case CollectiveKind::AllToAll:
    case CollectiveKind::RingAllReduce:
    case CollectiveKind::TreeAllReduce:
      return std::make_unique<Collective>(options, ranks);
    case CollectiveKind::BinomialBroadcast:
    case CollectiveKind::MulticastBroadcast:
    case CollectiveKind::MulticastAllReduce:
      return std::make_unique<SegmentedCollective>(options, ranks);
    case CollectiveKind::InNetworkAllReduce:
      break;
  }
  return std::make_unique<InNetworkAllReduce>(options, ranks, adders);
}

/// One in each rail, of ranks by host number; who is on a rail alone has done at once.
std::unique_ptr<CollectiveWorkload> make_in_rails(const CollectiveOptions& options,
                                                  const std::vector<Lid>& lids,
                                                  const HostPorts& ports) {
  std::vector<std::unique_ptr<CollectiveWorkload>> all;
  for (std::uint32_t rail = 0; rail < ports.rails; ++rail) {
    std::vector<HostNum> hosts;
    std::vector<Lid> own;
    for (HostNum host = 0; host < lids.size(); ++host) {
      if (ports.rail[host] != rail) continue;
      hosts.push_back(host);
      own.push_back(lids[host]);
    }
    CollectiveOptions in_rail = options;
    if (hosts.size() == 1) in_rail.kind = CollectiveKind::AllToAll;  // which is nothing to send
    all.push_back(make_collective(in_rail, CollectiveRanks(std::move(hosts), std::move(own)), {}));
  }
  return std::make_unique<RailCollective>(std::move(all), ports.rail);
}

std::vector<std::vector<GroupTarget>> targets_of(const std::vector<ProgrammedGroup>* groups,
                                                 HostNum hosts) {
  if (groups == nullptr || groups->empty()) return {};
  std::vector<std::vector<GroupTarget>> out(hosts);
  for (const ProgrammedGroup& group : *groups) {
    for (const HostNum host : group.members) {
      if (group.sender && host != *group.sender) continue;
      out[host].push_back({.mlid = group.mlid,
                           .sl = group.sl,
                           .copies = static_cast<std::uint32_t>(group.members.size() - 1)});
    }
  }
  return out;
}

}  // namespace

SyntheticOptions pattern_options(const TrafficSpec& spec,
                                 const TrafficInput& input,
                                 HostNum hosts,
                                 unsigned header_bytes) {
  return {.load = input.load,
          .arrivals = spec.arrivals,
          .sizes = spec.sizes,
          .mtu = input.mtu,
          .header_bytes = header_bytes,
          .sl_choice = spec.sl_choice,
          .sl = spec.sl,
          .lids = input.lids,
          .by_host_number = input.by_host_number,
          .destinations = spec.destinations,
          .groups = targets_of(input.groups, hosts),
          .multicast_share = spec.multicast_share,
          .send_to = input.send_to,
          .seed = input.seed};
}

OfferedTraffic::OfferedTraffic(DataNet& net, const TrafficSpec& spec, TrafficInput input)
    : net_(net), processes_(input.processes) {
  if (!spec.trace.empty()) {
    std::vector<std::unique_ptr<std::istream>> copies;
    for (unsigned i = 0; i < net.partitions(); ++i) {
      copies.push_back(std::make_unique<std::ifstream>(spec.trace));
    }
    std::function<std::uint8_t(HostNum, HostNum)> sl = to_base_lids(std::move(input.path_sl));
    if (spec.sl_choice == SlChoice::Fixed)
      sl = [fixed = spec.sl](HostNum, HostNum) { return fixed; };
    trace_ = std::make_unique<TraceTraffic>(
        net, std::move(copies), spec.trace, input.mtu, std::move(sl));
    net.set_workload(trace_.get());
  } else if (spec.collective) {
    CollectiveOptions options{.kind = *spec.collective,
                              .bytes = spec.bytes,
                              .mtu = input.mtu,
                              .sl = spec.sl_choice == SlChoice::Fixed ? spec.sl : std::uint8_t{0},
                              .path_sl = to_base_lids(std::move(input.path_sl)),
                              .segment = spec.segment};
    CollectiveRanks ranks(lids_of(net));
    if (input.groups != nullptr && !input.groups->empty()) {
      const ProgrammedGroup& group = input.groups->front();
      options.group = group.mlid;
      options.group_sl = group.sl;
      std::vector<HostNum> hosts = group.members;
      if (group.sender) {  // rank 0, which is who sends to the group
        const auto sender = std::ranges::find(hosts, *group.sender);
        std::rotate(hosts.begin(), sender, sender + 1);
      }
      std::vector<Lid> lids;
      for (const HostNum host : hosts) lids.push_back(net.host_lid(host));
      ranks = CollectiveRanks(std::move(hosts), std::move(lids));
    }
    const HostPorts& ports = input.pattern.ports;
    if (!ports.host.empty() && !ports.are_apart()) {
      for (const HostNum host : ranks.hosts) ranks.host_of.push_back(ports.host[host]);
    }
    collective_ = input.pattern.among_rails ? make_in_rails(options, ranks.lids, ports)
                                            : make_collective(options, ranks, input.adders);
    net.set_workload(collective_.get());
  } else {
    const PatternRow* row = find_pattern(spec.pattern);
    synthetic_ = std::make_unique<SyntheticTraffic>(
        pattern_options(spec, input, net.host_count(), net.header_bytes()),
        Destinations(build_pattern(*row, input.pattern).value(),
                     row->includes_self,
                     input.pattern.ports.host),
        byte_times_of(net),
        std::move(input.path_sl));
    net.set_workload(synthetic_.get());
  }
}

OfferedTraffic::~OfferedTraffic() { net_.set_workload(nullptr); }

bool OfferedTraffic::finished() const {
  if (!trace_) return completed_at() != kNever;
  if (processes_ == nullptr) return trace_->finished() && net_.stats().in_flight == 0;
  bool sends = false;
  for (unsigned i = 0; i < net_.partitions(); ++i) {
    sends = sends || (processes_->is_here(i) && !trace_->finished(i));
  }
  return processes_->most(sends ? 1 : 0) == 0 && net_.stats().in_flight == 0;
}

Picos OfferedTraffic::completed_at() const {
  if (trace_) return finished() ? net_.stats().last_out : kNever;
  if (!collective_) return kNever;
  if (processes_ == nullptr) return collective_->finished();
  Picos last = 0;
  for (HostNum host = 0; host < net_.host_count(); ++host) {
    if (!processes_->is_here(net_.partition_of(host))) continue;
    last = std::max(last, collective_->done_at(host));
  }
  return processes_->most(last);
}

}  // namespace smd::sim
