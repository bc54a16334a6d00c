#include "sim-backend/scenario/period_meter.h"

#include "sim-backend/measure/steady.h"

namespace smd::sim {

PeriodMeter::PeriodMeter(PacketNet& net)
    : net_(net),
      meter_(net),
      blamed_(net.wiring().is_switch.size(), false),
      bytes_of_(net.host_count(), 0) {
  net_.set_observer(this);
}

PeriodMeter::~PeriodMeter() { net_.set_observer(nullptr); }

void PeriodMeter::blame(std::uint32_t node) { blamed_[node] = true; }

void PeriodMeter::on_discarded(const Loss& loss) {
  const bool gone = loss.cause == Discard::InactivePort || loss.cause == Discard::OnTheWire ||
                    loss.cause == Discard::ClearedWithNode;
  if (!gone || !blamed_[loss.node]) ++now_.unexplained;
}

void PeriodMeter::begin(PeriodKind kind) {
  meter_.restart();
  intervals_.clear();
  now_ = {.kind = kind, .begin = net_.now()};
  wire_bytes_ = 0;
}

void PeriodMeter::cut() {
  const Interval last = meter_.cut();
  if (last.end == last.begin) return;
  now_.generated += last.generated;
  now_.delivered += last.delivered;
  wire_bytes_ += last.wire_bytes;
  for (std::size_t i = 0; i < kDiscards; ++i) now_.discarded[i] += last.discarded[i];
  intervals_.push_back(last);
}

void PeriodMeter::finish() {
  cut();
  now_.end = net_.now();
  now_.latency = read_latency(meter_.latency());
  now_.network_latency = read_latency(meter_.network_latency());
  const double whole = link_capacity(net_, now_.end - now_.begin);
  now_.accepted_load = whole == 0 ? 0 : static_cast<double>(wire_bytes_) / whole;
  hops_ += meter_.mean_hops() * static_cast<double>(meter_.latency().count());
  latency_.add(meter_.latency());
  network_latency_.add(meter_.network_latency());
  head_latency_.add(meter_.head_latency());
  const std::vector<double> bytes = meter_.bytes_of();
  for (HostNum host = 0; host < bytes.size(); ++host) bytes_of_[host] += bytes[host];
  if (now_.end > now_.begin) periods_.push_back(now_);
}

void PeriodMeter::turn(PeriodKind next) {
  finish();
  meter_.restart();
  now_ = {.kind = next, .begin = net_.now()};
  wire_bytes_ = 0;
}

double PeriodMeter::mean_hops() const {
  return latency_.count() == 0 ? 0 : hops_ / static_cast<double>(latency_.count());
}

}  // namespace smd::sim
