#include "sim-backend/congestion/ib_reaction.h"

#include <algorithm>
#include <cmath>

#include "smd/congestion/throttle.h"

namespace smd::sim {
namespace {

constexpr Picos kTimerUnit = 1'024'000;  // 1.024 us
constexpr std::uint16_t kPerSl = 1;

}  // namespace

void IbReaction::set(HostNum host, const IbCaRegisters& registers) {
  Port& port = ports_.at(host);
  const bool moved =
      ((port.registers.setting.port_control ^ registers.setting.port_control) & kPerSl) != 0;
  port.registers = registers;
  if (moved) port.flows = {};  // what an index belongs to is another
}

bool IbReaction::is_per_sl(HostNum host) const {
  return (ports_.at(host).registers.setting.port_control & kPerSl) != 0;
}

IbReaction::Throttle& IbReaction::find(const Flow& flow) {
  Port& port = ports_[flow.source];
  return port.flows[flow.sl].at(is_per_sl(flow.source) ? 0 : flow.destination);
}

/// The timer's ticks since it was last looked at.
void IbReaction::tick(const Port& port, std::uint8_t sl, Throttle& at, Picos now) const {
  const cc::CaEntry& entry = port.registers.setting.entries[sl];
  std::int64_t index = at.index;
  if (entry.timer > 0) {
    const Picos period = entry.timer * kTimerUnit;
    index -= now / period - at.looked / period;
  }
  at.looked = now;
  index = std::max<std::int64_t>(index, entry.min);
  at.index = static_cast<std::uint16_t>(std::min<std::int64_t>(index, port.registers.limit));
}

Picos IbReaction::allowed_at(const Flow& flow, Picos) { return find(flow).allowed; }

void IbReaction::on_injected(const Flow& flow, Picos begin, Picos end) {
  const Port& port = ports_[flow.source];
  Throttle& at = find(flow);
  tick(port, flow.sl, at, begin);
  at.allowed = end;
  if (at.index >= port.registers.table.size()) return;
  const double delay = cc::delay_of(port.registers.table[at.index]);
  at.allowed += std::llround(delay * static_cast<double>(end - begin));
}

void IbReaction::on_feedback(const Flow& flow, const Feedback& feedback, Picos now) {
  if ((feedback.marks & kFirstMark) == 0) return;
  Port& port = ports_[flow.source];
  Throttle& at = find(flow);
  const cc::CaEntry& entry = port.registers.setting.entries[flow.sl];
  ++port.becns;
  tick(port, flow.sl, at, now);
  const unsigned before = at.index;
  at.index =
      static_cast<std::uint16_t>(std::min<unsigned>(before + entry.increase, port.registers.limit));
  if (entry.trigger == 0 || before >= entry.trigger || at.index < entry.trigger) return;
  ++port.triggered;
  if (observer_) observer_(flow, now);
}

unsigned IbReaction::index(const Flow& flow, Picos now) {
  Throttle& at = find(flow);
  tick(ports_[flow.source], flow.sl, at, now);
  return at.index;
}

}  // namespace smd::sim
