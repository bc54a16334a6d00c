// A partition: its events, its cells and what it counts.
#include "sim-backend/packet/net_part.h"

#include <algorithm>

#include "smd/base/check.h"

namespace smd::sim {
NetPart::NetPart(PacketNet& self,
                 NetState& state,
                 const Wiring& wiring,
                 const PacketOptions& options,
                 const std::vector<std::uint32_t>& part_of_node,
                 unsigned number)
    : self_(self),
      number_(number),
      options_(options),
      wiring_(wiring),
      vls_(options.vls),
      nodes_(state.nodes),
      ports_(state.ports),
      extras_(state.extras),
      outs_(state.outs),
      ins_(state.ins),
      hosts_(state.hosts),
      host_lids_(state.host_lids),
      source_queues_(state.source_queues),
      queues_per_lane_(state.queues_per_lane),
      allowed_(state.allowed),
      lid_owner_(state.lid_owner),
      part_of_node_(part_of_node) {
  SMD_CHECK(ports_.size() <= kPortMask && outs_.size() <= kIndexMask,
            "a fabric of too many ports for one net");
  const SwitchModel& sw = options_.switches;
  input_latency_ = sw.routing + sw.mapping + sw.crossbar_arbitration;
  arbitration_.push_back({});
  const std::size_t bytes = ports_.size_bytes() + outs_.size_bytes() + ins_.size_bytes() +
                            wiring_.wires.size() * sizeof(Wire);
  looks_ahead_ = bytes > options_.cache_bytes;
  for (const Wire& wire : wiring_.wires) {
    longest_cable_ = std::max<Picos>(longest_cable_, wire.propagation);
  }
}

void NetPart::run_before(Picos horizon) {
  while (!queue_.empty()) {
    if (const auto soon = queue_.refill(); looks_ahead_ && !soon.empty()) look_ahead(soon);
    const Event event = queue_.top();
    if (event.at >= horizon) return;
    queue_.pop();
    now_ = event.at;
    run(event);
  }
}

Picos NetPart::next_due() {
  return std::min(queue_.empty() ? kNever : queue_.top().at, least_posted_);
}

void NetPart::push(Picos at, NetStep step, std::uint32_t index, std::uint32_t argument) {
  queue_.push({at,
               std::uint64_t{static_cast<std::uint8_t>(step)} << kStepShift |
                   std::uint64_t{index} << kIndexShift | argument});
}

void NetPart::push_cell(Picos at, NetStep step, PortAt port, std::uint16_t sequence, CellAt cell) {
  queue_.push({at,
               std::uint64_t{static_cast<std::uint8_t>(step)} << kStepShift |
                   std::uint64_t{port} << kPortShift |
                   (sequence & kSequenceMask) << kSequenceShift | cell});
}

void NetPart::run(const Event& event) {
  const std::uint32_t index = index_of(event);
  const auto argument = static_cast<std::uint32_t>(event.what);
  const PortAt port = port_of(event);
  const CellAt cell = cell_of(event);
  ++stats_.events;
  switch (step_of(event)) {
    case NetStep::CreditLeaves:
      --stats_.events;
      return on_credit_leaves(index, static_cast<std::uint16_t>(argument));
    case NetStep::CreditArrives:
      --stats_.events;
      return on_credit_arrives(index, argument);
    case NetStep::LinkDone:
      return on_link_done(index, static_cast<std::uint16_t>(argument));
    case NetStep::CrossDone:
      return on_cross_done(index, static_cast<std::uint16_t>(argument));
    case NetStep::FreeInput:
      return on_free_input(cell);
    case NetStep::Management:
      return on_management(index, argument);
    case NetStep::Enqueue:
      return on_enqueue(cell);
    case NetStep::Arrive:
      return on_arrive(port, cell);
    case NetStep::Deliver:
      return on_deliver(port, cell);
    case NetStep::Told:
      return on_told(index, argument);
    case NetStep::Emit:
      return on_emit(index, event.at);
    case NetStep::Expire:
      --stats_.events;
      return on_expire(index);
    case NetStep::Wake:
      --stats_.events;
      if (ports_[index].wake_at <= now_) ports_[index].wake_at = kNever;
      return try_link(index);
  }
}

CellAt NetPart::take_cell() {
  if (free_cells_ == kNowhere) {
    cells_.emplace_back();
    origins_.emplace_back();
    SMD_CHECK(cells_.size() <= kCellMask, "more packets in flight than events can name");
    return static_cast<CellAt>(cells_.size() - 1);
  }
  const CellAt at = free_cells_;
  free_cells_ = cells_[at].next;
  cells_[at] = {};
  origins_[at] = {};
  return at;
}

void NetPart::free_cell(CellAt at) {
  cells_[at].place = Place::Free;
  cells_[at].next = free_cells_;
  free_cells_ = at;
}

/// Counts the loss; the cell stays with the caller.
void NetPart::lose(CellAt at, std::uint32_t node, Discard cause) {
  const Cell& cell = cells_[at];
  const Origin& origin = origins_[at];
  if (cell.notice != NoticeKind::None) return lose_notice(cell, origin.tag);
  if (hooks_.reaction != nullptr && cell.to != kNowhere && cell.place != Place::Source) {
    tell_loss(flow_of(cell));
  }
  ++stats_.discarded[static_cast<std::size_t>(cause)];
  --stats_.in_flight;
  digest(std::uint64_t{node} << 32 | cell.source,
         static_cast<std::uint64_t>(origin.generated) << 4 | static_cast<std::uint64_t>(cause));
  if (observer_ == nullptr) return;
  observer_->on_discarded({.source = cell.source,
                           .node = node,
                           .cause = cause,
                           .at = now_,
                           .generated = origin.generated,
                           .tag = origin.tag,
                           .partition = static_cast<std::uint8_t>(number_)});
}

/// A sum: what happens at one instant in two places has no order.
void NetPart::digest(std::uint64_t place, std::uint64_t what) {
  std::uint64_t word = 0;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(now_), place, what}) {
    word = (word ^ part) * 0x9e3779b97f4a7c15u;
    word ^= word >> 29;
  }
  stats_.digest += word;
}

}  // namespace smd::sim
