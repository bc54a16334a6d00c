// Where congestion control acts: marks in switches, notices back to the source of a flow.
#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_part.h"

namespace smd::sim {
namespace {

constexpr unsigned kDiscardVl = 15;

}  // namespace

MarkPoint NetPart::mark_point(const Cell& cell, LaneAt buffer) const {
  const PortAt exit = port_of_lane(cell.out);
  return {.node = wiring_.wires[exit].node,
          .lane = buffer,
          .out = cell.out,
          .out_port = wiring_.wires[exit].number,
          .blocks = cell.blocks};
}

void NetPart::mark_input(CellAt at) {
  Cell& cell = cells_[at];
  if (cell.notice != NoticeKind::None) return;
  MarkPoint point = mark_point(cell, cell.in);
  point.capacity = ins_[cell.in].capacity;
  point.used = point.capacity - ins_[cell.in].free;
  hooks_.marking->on_input(point, *this, cell.marks);
}

void NetPart::mark_output(CellAt at) {
  Cell& cell = cells_[at];
  if (cell.notice != NoticeKind::None) return;
  MarkPoint point = mark_point(cell, cell.out);
  point.capacity = options_.switches.output_buffer_bytes / kBlockBytes;
  point.used = point.capacity - outs_[cell.out].room;
  hooks_.marking->on_output(point, cell.marks);
}

/// Requires: the packet has been taken out of its queue and still holds its buffer.
void NetPart::mark_departure(PortAt port, unsigned vl, CellAt at) {
  Cell& cell = cells_[at];
  if (cell.notice != NoticeKind::None) return;
  const bool buffered = options_.switches.output_buffers;
  MarkPoint point = mark_point(cell, buffered ? cell.out : cell.in);
  point.capacity = buffered ? options_.switches.output_buffer_bytes / kBlockBytes
                            : unsigned{ins_[cell.in].capacity};
  point.used = point.capacity - (buffered ? outs_[cell.out].room : ins_[cell.in].free);
  for (LaneAt ask = outs_[cell.out].asks_head; ask != kNowhere; ask = ins_[ask].next_ask) {
    point.used += unsigned{ins_[ask].capacity} - ins_[ask].free;
  }
  point.held = (ports_[port].held >> vl & 1) != 0;
  point.source = cell.source;
  point.destination = Lid{cell.dlid};
  point.sl = cell.sl;
  point.at = now_;
  hooks_.marking->on_departure(point, cell.marks);
}

void NetPart::answer(HostNum host, const Cell& data) {
  if (data.to != host) return;  // multicast, or the LID has moved
  const std::optional<Notice> notice = hooks_.echo->on_data(flow_of(data), data.marks);
  if (!notice) return;
  const PortAt port = wiring_.host_port[host];
  const Wire& wire = wiring_.wires[port];
  const CellAt at = take_cell();
  Cell& cell = cells_[at];
  origins_[at] = {.generated = now_, .tag = data.sl};
  cell.ready = now_ + options_.adapters.latency;
  cell.source = host;
  cell.bytes = static_cast<std::uint16_t>(notice->payload + options_.cables.header_bytes);
  cell.payload = notice->payload;
  cell.dlid = host_lids_[data.source].lid;
  cell.sl = notice->sl;
  cell.blocks = static_cast<std::uint8_t>(blocks_of(notice->payload));
  cell.place = Place::Source;
  cell.marks = notice->marks;
  cell.notice = notice->acknowledges ? NoticeKind::Acknowledges : NoticeKind::Plain;
  ++stats_.notices.made;
  ++stats_.notices.in_flight;
  stats_.notices.bytes += cell.bytes;
  const unsigned vl = nodes_[wire.node].tables.map_sl(wire.number, 0, cell.sl);
  if (vl == kDiscardVl || vl >= ports_[port].vls) {
    lose_notice(cell, data.sl);
    return free_cell(at);
  }
  push_notice(port, vl, at);
}

void NetPart::push_notice(PortAt port, unsigned vl, CellAt at) {
  NoticeQueue& queue = notices_[wiring_.host_of[port] * vls_ + vl];
  cells_[at].next = kNowhere;
  (queue.head == kNowhere ? queue.head : cells_[queue.tail].next) = at;
  queue.tail = at;
  NetPort& here = ports_[port];
  here.waiting = static_cast<std::uint16_t>(here.waiting | 1u << vl);
  if (!here.link_running) try_link(port);
}

CellAt NetPart::first_notice(PortAt port, unsigned vl) const {
  if (notices_.empty() || wiring_.host_of[port] == kNowhere) return kNowhere;
  return notices_[wiring_.host_of[port] * vls_ + vl].head;
}

void NetPart::pop_notice(PortAt port, unsigned vl) {
  NoticeQueue& queue = notices_[wiring_.host_of[port] * vls_ + vl];
  queue.head = cells_[queue.head].next;
  if (queue.head != kNowhere) return;
  queue.tail = kNowhere;
  NetPort& here = ports_[port];
  if (outs_[port * vls_ + vl].head == kNowhere) {
    here.waiting = static_cast<std::uint16_t>(here.waiting & ~(1u << vl));
  }
}

void NetPart::drop_notices(PortAt port, unsigned vl, Discard cause) {
  for (CellAt at = first_notice(port, vl); at != kNowhere; at = first_notice(port, vl)) {
    pop_notice(port, vl);
    lose(at, wiring_.wires[port].node, cause);
    free_cell(at);
  }
}

/// It has come back to the flow's source.
void NetPart::on_notice(HostNum host, const Cell& notice, std::uint32_t sl) {
  ++stats_.notices.delivered;
  --stats_.notices.in_flight;
  digest(std::uint64_t{host} << 32 | notice.source, notice.marks);
  if (hooks_.reaction == nullptr) return;
  hooks_.reaction->on_notice({host, notice.source, static_cast<std::uint8_t>(sl)},
                             {.marks = notice.marks,
                              .acknowledges = notice.notice == NoticeKind::Acknowledges,
                              .payload = notice.payload,
                              .sl = notice.sl},
                             now_);
  try_link(wiring_.host_port[host]);
}

void NetPart::lose_notice(const Cell& cell, std::uint32_t sl) {
  ++stats_.notices.lost;
  --stats_.notices.in_flight;
  digest(cell.source, cell.dlid);
  const HostNum to = cell.dlid < lid_owner_.size() ? lid_owner_[cell.dlid] : kNowhere;
  if (hooks_.reaction == nullptr || to == kNowhere || cell.notice != NoticeKind::Acknowledges) {
    return;
  }
  tell_loss({to, cell.source, static_cast<std::uint8_t>(sl)});
}

/// After the longest cable's time: whoever simulates the source needs a moment's notice.
void NetPart::tell_loss(const Flow& flow) {
  const std::uint32_t node = wiring_.wires[wiring_.host_port[flow.source]].node;
  const std::uint32_t argument = flow.destination << 4 | flow.sl;
  const Picos when = now_ + longest_cable_;
  if (part_of_node_[node] == number_) return push(when, NetStep::Told, flow.source, argument);
  post(node,
       {.at = when, .step = NetStep::Told, .index = flow.source, .argument = argument, .cell = {}});
}

void NetPart::on_told(HostNum source, std::uint32_t argument) {
  hooks_.reaction->on_lost({source, argument >> 4, static_cast<std::uint8_t>(argument & 15)});
  try_link(wiring_.host_port[source]);
}

void NetPart::list_wanted(std::uint32_t input, std::vector<std::uint32_t>& out) const {
  for (CellAt at = ins_[input].head; at != kNowhere; at = cells_[at].next) {
    out.push_back(cells_[at].out);
  }
}

unsigned NetPart::count_bound(std::uint32_t output) const {
  unsigned count = 0;
  if (options_.switches.output_buffers) {
    for (CellAt at = outs_[output].head; at != kNowhere; at = cells_[at].next) ++count;
  }
  const std::uint32_t node = wiring_.wires[port_of_lane(output)].node;
  for (unsigned number = 1; number <= wiring_.num_ports[node]; ++number) {
    for (unsigned vl = 0; vl < vls_; ++vl) {
      const InLane& in = ins_[wiring_.port_of(node, number) * vls_ + vl];
      for (CellAt at = in.head; at != kNowhere; at = cells_[at].next) {
        count += cells_[at].out == output;
      }
    }
  }
  return count;
}

}  // namespace smd::sim
