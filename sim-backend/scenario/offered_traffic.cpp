#include "sim-backend/scenario/offered_traffic.h"

#include <fstream>
#include <functional>

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

}  // namespace

OfferedTraffic::OfferedTraffic(DataNet& net, const TrafficSpec& spec, TrafficInput input)
    : net_(net) {
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
    collective_ = std::make_unique<Collective>(
        CollectiveOptions{.kind = *spec.collective,
                          .bytes = spec.bytes,
                          .mtu = input.mtu,
                          .sl = spec.sl_choice == SlChoice::Fixed ? spec.sl : std::uint8_t{0},
                          .path_sl = to_base_lids(std::move(input.path_sl))},
        lids_of(net));
    net.set_workload(collective_.get());
  } else {
    const PatternRow* row = find_pattern(spec.pattern);
    synthetic_ = std::make_unique<SyntheticTraffic>(
        SyntheticOptions{.load = input.load,
                         .arrivals = spec.arrivals,
                         .sizes = spec.sizes,
                         .mtu = input.mtu,
                         .header_bytes = net.header_bytes(),
                         .sl_choice = spec.sl_choice,
                         .sl = spec.sl,
                         .lids = input.lids,
                         .destinations = spec.destinations,
                         .multicast_share = spec.multicast_share,
                         .send_to = std::move(input.send_to),
                         .seed = input.seed},
        Destinations(row->build(input.pattern).value(), row->includes_self),
        byte_times_of(net),
        std::move(input.path_sl));
    net.set_workload(synthetic_.get());
  }
}

OfferedTraffic::~OfferedTraffic() { net_.set_workload(nullptr); }

bool OfferedTraffic::finished() const {
  if (trace_) return trace_->finished() && net_.stats().in_flight == 0;
  return completed_at() != kNever;
}

Picos OfferedTraffic::completed_at() const {
  return collective_ ? collective_->finished() : kNever;
}

}  // namespace smd::sim
