#include "sim-backend/experiments/congestion/pulse_watch.h"

#include <algorithm>

namespace smd::sim {
namespace {

bool has_two_bits(const CongestionSpec& mechanism) {
  return mechanism.marking == MarkingKind::Iopm || mechanism.marking == MarkingKind::Mvpm;
}

}  // namespace

PulseWatch::PulseWatch(const PacketNet& net,
                       const PulseTraffic& traffic,
                       const CongestionControl& control,
                       const CongestionSpec& mechanism)
    : net_(net),
      traffic_(traffic),
      hooks_(control.hooks()),
      inner_(hooks_.reaction),
      window_(control.window()),
      all_(has_two_bits(mechanism) ? kFirstMark | kSecondMark : kFirstMark) {
  const Wiring& wiring = net.wiring();
  const Wire& near = wiring.wires[wiring.wires[wiring.host_port[traffic.hot_spot()]].peer];
  link_node_ = near.node;
  link_port_ = PortNum{near.number};
}

CongestionHooks PulseWatch::hooks() {
  CongestionHooks out = hooks_;
  if (out.reaction != nullptr) out.reaction = this;
  return out;
}

/// What went over the link since the last look belongs to the bin that is open.
void PulseWatch::read_link() {
  const std::uint64_t bytes = net_.sent_bytes(link_node_, link_port_);
  if (!bins_.empty()) bins_.back().link_bytes += double(bytes - link_bytes_);
  link_bytes_ = bytes;
}

PulseBin* PulseWatch::bin_at(Picos now) {
  if (traffic_.began() == kNever || now < traffic_.began()) return nullptr;
  const auto at = static_cast<std::size_t>((now - traffic_.began()) / kPulseBin);
  if (at >= bins_.size()) {
    read_link();
    bins_.resize(at + 1);
  }
  return &bins_.back();
}

void PulseWatch::on_delivered(const Delivery& arrival) {
  PulseBin* bin = bin_at(arrival.tail);
  if (bin == nullptr) return;
  const bool hot = arrival.tag == kHotPacket;
  PulseBin::Of& of = hot ? bin->hot : bin->cold;
  ++of.packets;
  of.latency += double(arrival.tail - arrival.generated) / kNano;
  of.marked += arrival.marks != 0;
  of.fully_marked += arrival.marks == all_;
  if (!hot) return;
  if (last_hot_ != kNever) gap_ = std::max(gap_, arrival.tail - last_hot_);
  last_hot_ = arrival.tail;
}

void PulseWatch::on_notice(const Flow& flow, const Notice& notice, Picos now) {
  PulseBin* bin = notice.marks == 0 || window_ == nullptr ? nullptr : bin_at(now);
  if (bin == nullptr) return inner_->on_notice(flow, notice, now);
  const WindowReaction::View before = window_->view(flow);
  inner_->on_notice(flow, notice, now);
  const WindowReaction::View after = window_->view(flow);
  if (after.window == before.window && after.pace == before.pace) return;
  ++bin->actions;
  const bool hot = flow.destination == traffic_.hot_spot() &&
                   std::ranges::binary_search(traffic_.hot_sources(), flow.source);
  if (!hot) ++bin->wrong_actions;
}

std::vector<PulseBin> PulseWatch::take_bins() {
  read_link();
  return std::move(bins_);
}

}  // namespace smd::sim
