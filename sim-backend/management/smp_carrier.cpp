// SMPs that somebody else carries over a link.
#include <algorithm>

#include "sim-backend/management/fabric_impl.h"
#include "smd/base/check.h"

namespace smd::sim {

void SimFabric::Impl::hand_over(Packet* packet, PortNum out, TimePoint earliest) {
  const std::uint32_t node = packet->node;
  const LinkEnd& end = link(node, out);
  const TimePoint whole = packet->ready;
  const SmpCarrier::Ticket ticket = next_ticket_++;
  head_to(packet, end);
  carried_.emplace(ticket, packet);
  if (carrier_->carry(node, out, std::max(earliest, runtime_.now()), whole, ticket)) {
    return counters(node, out).count_xmit(kCountedWords);
  }
  carried_.erase(ticket);
  add_sticky(counters(node, out).xmit_discards);
  drop(packet, stats_.dropped_vl15);
}

Packet* SimFabric::Impl::find_carried(SmpCarrier::Ticket ticket) {
  const auto found = carried_.find(ticket);
  SMD_CHECK(found != carried_.end(), "a SMP that nobody carries");
  Packet* packet = found->second;
  carried_.erase(found);
  return packet;
}

void SimFabric::set_carrier(SmpCarrier* carrier) { impl_->carrier_ = carrier; }

void SimFabric::take_carried(SmpCarrier::Ticket ticket, TimePoint head, TimePoint whole) {
  Packet* packet = impl_->find_carried(ticket);
  packet->carried = true;
  packet->ready = whole;
  impl_->schedule(std::max(head, impl_->runtime_.now()), packet, Step::Arrive);
}

void SimFabric::lose_carried(SmpCarrier::Ticket ticket) {
  impl_->drop(impl_->find_carried(ticket), impl_->stats_.dropped_link);
}

}  // namespace smd::sim
