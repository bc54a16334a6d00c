// Partitions run side by side in windows of time: as far beyond the earliest event of all as
// nothing can reach from one to another. What crossed meanwhile is taken in before the next window.
#include <algorithm>

#include "sim-backend/kernel/team.h"
#include "sim-backend/packet/net_impl.h"

namespace smd::sim {

void PacketNet::Impl::link_partitions() {
  for (Wire& wire : wiring_.wires) {
    if (wire.peer == kNowhere) continue;
    wire.crosses = part_of_node_[wire.node] != part_of_node_[wiring_.wires[wire.peer].node];
    if (wire.crosses) lookahead_ = std::min<Picos>(lookahead_, wire.propagation);
  }
}

/// One after the other, for whoever has no team: the same windows, the same results.
void PacketNet::Impl::run_windows(Picos until) {
  for (Picos begin = next_due(); begin <= until; begin = next_due()) {
    const Picos horizon = lookahead_ > until - begin ? until + 1 : begin + lookahead_;
    for (const auto& part : parts_) part->run_before(horizon);
    for (const auto& part : parts_) part->state.close_links();
    for (const auto& part : parts_) part->state.take_in();
  }
}

void PacketNet::Impl::run_team(Picos until) {
  team_->run(static_cast<unsigned>(parts_.size()), [this, until](unsigned number) {
    NetPart& part = *parts_[number];
    Picos begin = team_->least(part.next_due());
    while (begin <= until) {
      part.run_before(lookahead_ > until - begin ? until + 1 : begin + lookahead_);
      const Picos next = part.next_due();
      part.state.close_links();
      begin = team_->least(next);
      part.state.take_in();
    }
  });
}

}  // namespace smd::sim
