#include "sim-backend/congestion/ib_marking.h"

#include <algorithm>

#include "smd/congestion/throttle.h"

namespace smd::sim {
namespace {

const cc::PortSetting* find_port(const IbSwitchRegisters& at, std::uint8_t port) {
  if (port >= at.ports.size() || !at.ports[port].valid) return nullptr;
  return &at.ports[port];
}

bool is_above_threshold(unsigned behind, unsigned capacity, std::uint8_t threshold) {
  return threshold != 0 && behind > cc::fraction_of(threshold) * capacity;
}

}  // namespace

void IbMarking::set(std::uint32_t node, const IbSwitchRegisters& registers) {
  registers_.at(node) = registers;
}

std::uint64_t IbMarking::marked(std::uint32_t node) const {
  return node < marked_.size() ? marked_[node] : 0;
}

bool IbMarking::is_congested(const IbSwitchRegisters& at, const MarkPoint& point) const {
  const cc::PortSetting* own = find_port(at, point.out_port);
  const PortNum port{point.out_port};
  // Packets of the switch's own stand in no buffer.
  const unsigned behind = point.used - std::min(point.used, point.blocks);
  if (point.held && at.setting.credit_mask.test(port)) {
    const std::uint8_t threshold =
        own != nullptr && own->starvation ? own->threshold : at.setting.cs_threshold;
    if (is_above_threshold(behind, point.capacity, threshold)) return true;
  }
  if (point.held && !at.setting.victim_mask.test(port)) return false;
  const std::uint8_t threshold =
      own != nullptr && !own->starvation ? own->threshold : at.setting.threshold;
  return is_above_threshold(behind, point.capacity, threshold);
}

void IbMarking::on_departure(const MarkPoint& point, Marks& marks) {
  const IbSwitchRegisters& at = registers_.at(point.node);
  const cc::PortSetting* own = find_port(at, point.out_port);
  const bool is_own = own != nullptr && !own->starvation;
  if (point.blocks < (is_own ? own->packet_size : at.setting.packet_size)) return;
  if (!is_congested(at, point)) return;
  if (since_marked_.size() <= point.out) since_marked_.resize(point.out + 1, 0);
  std::uint32_t& left = since_marked_[point.out];
  if (left > 0) {
    --left;
    return;
  }
  left = is_own ? own->marking_rate : at.setting.marking_rate;
  marks |= kFirstMark;
  if (marked_.empty()) marked_.resize(registers_.size(), 0);
  ++marked_[point.node];
  if (observer_) observer_(point);
}

}  // namespace smd::sim
