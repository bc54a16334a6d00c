#include "sim-backend/management/packet.h"

namespace smd::sim {

Packet* PacketPool::take() {
  if (free_ == nullptr) {
    packets_.emplace_back();
    free_ = &packets_.back();
    free_->next = nullptr;
  }
  Packet* packet = free_;
  free_ = packet->next;
  packet->slid = packet->dlid = packet->origin = kPermissiveLid;
  packet->source_qp = packet->dest_qp = 0;
  packet->pkey_index = 0;
  packet->hops = 0;
  packet->sl = 0;
  packet->port = PortNum{};
  packet->step = Step::Arrive;
  packet->local = packet->by_lid = packet->corrupt = false;
  packet->live = true;
  packet->node = packet->node_epoch = packet->link_epoch = 0;
  packet->ready = {};
  packet->timer = TimerId::None;
  packet->next = nullptr;
  return packet;
}

void PacketPool::give_back(Packet* packet) {
  packet->live = false;
  packet->next = free_;
  free_ = packet;
}

}  // namespace smd::sim
