// What goes to other partitions and comes from them: packets and credits on cables, news of losses.
#include <algorithm>

#include "sim-backend/packet/net_part.h"

namespace smd::sim {

void NetPart::post(std::uint32_t node, const Crossing& crossing) {
  least_posted_ = std::min(least_posted_, crossing.at);
  outgoing_[part_of_node_[node]]->post(crossing);
}

/// The packet is the other partition's from now on.
void NetPart::post_cell(Picos at, NetStep step, PortAt port, std::uint16_t sequence, CellAt cell) {
  post(wiring_.wires[port].node,
       {.at = at,
        .step = step,
        .index = port,
        .argument = sequence,
        .cell = cells_[cell],
        .origin = origins_[cell]});
  free_cell(cell);
}

void NetPart::close_links() {
  least_posted_ = kNever;
  for (PartitionLink* link : outgoing_) {
    if (link != nullptr) link->close();
  }
}

void NetPart::take_in() {
  for (PartitionLink* link : incoming_) {
    if (link == nullptr) continue;
    for (const Crossing& crossing : link->take()) {
      if (crossing.step != NetStep::Arrive && crossing.step != NetStep::Deliver) {
        push(crossing.at, crossing.step, crossing.index, crossing.argument);
        continue;
      }
      const CellAt at = take_cell();
      cells_[at] = crossing.cell;
      origins_[at] = crossing.origin;
      push_cell(crossing.at,
                crossing.step,
                crossing.index,
                static_cast<std::uint16_t>(crossing.argument),
                at);
    }
  }
}

}  // namespace smd::sim
