// Adapters: how packets are made and wait for their port.
#include <algorithm>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_part.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr unsigned kDiscardVl = 15;
constexpr std::uint16_t kMostPayload = 4096;

}  // namespace

void NetPart::wake_host(HostNum host, Picos at) {
  NetHost& here = hosts_[host];
  if (at >= here.emit_at || at == kNever) return;
  here.emit_at = std::max(at, now_);
  push(here.emit_at, NetStep::Emit, host, 0);
}

void NetPart::on_emit(HostNum host, Picos at) {
  NetHost& here = hosts_[host];
  if (here.emit_at != at) return;  // it was asked to come earlier
  here.emit_at = kNever;
  const unsigned most = options_.adapters.most_waiting;
  if (times_given_) {
    // Who sends then is told by the trace, not by whose clock this is.
    --stats_.events;
  } else if (most > 0 && here.waiting >= most) {
    here.stalled = true;
    return;
  }
  wake_host(host, workload_->emit(self_, host, now_));
}

void NetPart::send(HostNum source, const PacketRequest& sending) {
  SMD_CHECK(sending.payload <= kMostPayload && sending.sl < 16, "a packet that no header can tell");
  const PortAt port = wiring_.host_port[source];
  const Wire& wire = wiring_.wires[port];
  const CellAt at = take_cell();
  Cell& cell = cells_[at];
  origins_[at] = {.generated = now_, .tag = sending.tag};
  cell.ready = now_ + options_.adapters.latency;
  cell.source = source;
  cell.bytes = static_cast<std::uint16_t>(sending.payload + options_.cables.header_bytes);
  cell.payload = sending.payload;
  cell.dlid = sending.dlid.value();
  cell.sl = sending.sl;
  cell.blocks = static_cast<std::uint8_t>(blocks_of(sending.payload));
  if (hooks_.echo != nullptr || hooks_.reaction != nullptr) {
    cell.to = cell.dlid < lid_owner_.size() ? lid_owner_[cell.dlid] : kNowhere;
  }
  cell.place = Place::Source;
  ++stats_.generated;
  ++stats_.in_flight;
  const unsigned vl = nodes_[wire.node].tables.map_sl(wire.number, 0, cell.sl);
  const bool mapped = vl != kDiscardVl && vl < ports_[port].vls;
  if (!mapped || cell.payload > ports_[port].mtu) {
    lose(at, wire.node, mapped ? Discard::TooLong : Discard::Unmappable);
    return free_cell(at);
  }
  ++hosts_[source].waiting;
  ++stats_.waiting;
  push_source(port, port * vls_ + vl, at);
  NetPort& here = ports_[port];
  here.waiting = static_cast<std::uint16_t>(here.waiting | 1u << vl);
  if (!here.link_running) try_link(port);
}

void NetPart::push_source(PortAt port, LaneAt lane_at, CellAt at) {
  OutLane& lane = outs_[lane_at];
  cells_[at].next = kNowhere;
  if (hooks_.reaction != nullptr && cells_[at].to != kNowhere) {
    hooks_.reaction->on_queued(flow_of(cells_[at]));
  }
  if (queues_per_lane_ == 1) {
    if (lane.head == kNowhere) {
      lane.head = at;
    } else {
      cells_[lane.tail].next = at;
    }
    lane.tail = at;
    return;
  }
  // `head` and `tail` of the lane are a line of queues then.
  const HostNum source = wiring_.host_of[port];
  const std::uint32_t first = (source * vls_ + vl_of_lane(lane_at)) * queues_per_lane_;
  const HostNum to = lid_owner_.size() > cells_[at].dlid ? lid_owner_[cells_[at].dlid] : 0;
  const std::uint32_t key = first + (to == kNowhere ? cells_[at].dlid : to) % queues_per_lane_;
  SourceQueue& queue = source_queues_[key];
  if (queue.head != kNowhere) {
    cells_[queue.tail].next = at;
    queue.tail = at;
    return;
  }
  queue = {.head = at, .tail = at};
  if (lane.head == kNowhere) {
    lane.head = key;
  } else {
    source_queues_[lane.tail].next = key;
  }
  lane.tail = key;
}

/// When the pace of the destination's link lets the next packet go there.
Picos NetPart::allowed_at(HostNum host, std::uint16_t dlid) const {
  if (allowed_.empty() || dlid >= lid_owner_.size() || lid_owner_[dlid] == kNowhere) return 0;
  return allowed_[std::size_t{host} * hosts_.size() + lid_owner_[dlid]];
}

CellAt NetPart::find_source(PortAt port, LaneAt lane_at, Picos& wake) {
  OutLane& lane = outs_[lane_at];
  const HostNum host = wiring_.host_of[port];
  if (!notices_.empty()) {
    const CellAt notice = first_notice(port, vl_of_lane(lane_at));
    if (notice != kNowhere && cells_[notice].ready <= now_) return notice;
    if (notice != kNowhere) wake = std::min(wake, cells_[notice].ready);
    if (lane.head == kNowhere) return kNowhere;
  }
  const auto goes = [&](CellAt at) {
    Picos when = std::max(cells_[at].ready, allowed_at(host, cells_[at].dlid));
    if (hooks_.reaction != nullptr && cells_[at].to != kNowhere) {
      when = std::max(when, hooks_.reaction->allowed_at(flow_of(cells_[at]), now_));
    }
    if (when > now_) wake = std::min(wake, when);
    return when <= now_;
  };
  if (options_.adapters.waiting == SourceQueues::Pool) {
    // The oldest that may go, of those that the pool holds.
    unsigned held = 0;
    for (CellAt at = lane.head; at != kNowhere; at = cells_[at].next) {
      held += cells_[at].bytes;
      if (held > options_.adapters.pool_bytes && at != lane.head) return kNowhere;
      if (goes(at)) return at;
    }
    return kNowhere;
  }
  if (queues_per_lane_ == 1) return goes(lane.head) ? lane.head : kNowhere;
  for (std::uint32_t key = lane.head; key != kNowhere; key = source_queues_[key].next) {
    if (goes(source_queues_[key].head)) return source_queues_[key].head;
  }
  return kNowhere;
}

/// Takes out `at`, which is the first of its queue; kNowhere: any.
CellAt NetPart::pop_source(PortAt port, LaneAt lane_at, CellAt at) {
  OutLane& lane = outs_[lane_at];
  const HostNum host = wiring_.host_of[port];
  if (at != kNowhere && cells_[at].notice != NoticeKind::None) {
    pop_notice(port, vl_of_lane(lane_at));
    return at;
  }
  --hosts_[host].waiting;
  --stats_.waiting;
  if (queues_per_lane_ == 1) {
    CellAt before = kNowhere;
    if (at == kNowhere) at = lane.head;
    for (CellAt each = lane.head; each != at; each = cells_[each].next) before = each;
    (before == kNowhere ? lane.head : cells_[before].next) = cells_[at].next;
    if (lane.tail == at) lane.tail = before;
  } else {
    std::uint32_t before = kNowhere;
    std::uint32_t key = lane.head;
    while (at != kNowhere && source_queues_[key].head != at) {
      before = key;
      key = source_queues_[key].next;
    }
    SourceQueue& queue = source_queues_[key];
    at = queue.head;
    queue.head = cells_[at].next;
    // Out of the line; to its end, if it holds more.
    (before == kNowhere ? lane.head : source_queues_[before].next) = queue.next;
    if (lane.tail == key) lane.tail = before;
    queue.next = kNowhere;
    if (queue.head == kNowhere) {
      queue.tail = kNowhere;
    } else {
      (lane.head == kNowhere ? lane.head : source_queues_[lane.tail].next) = key;
      lane.tail = key;
    }
  }
  if (hooks_.reaction != nullptr && cells_[at].to != kNowhere) {
    hooks_.reaction->on_unqueued(flow_of(cells_[at]));
  }
  if (lane.head == kNowhere && first_notice(port, vl_of_lane(lane_at)) == kNowhere) {
    NetPort& here = ports_[port];
    here.waiting = static_cast<std::uint16_t>(here.waiting & ~(1u << vl_of_lane(lane_at)));
  }
  if (!allowed_.empty() && cells_[at].dlid < lid_owner_.size()) {
    const HostNum to = lid_owner_[cells_[at].dlid];
    if (to != kNowhere) {
      // Inter-packet delay, a whole number of packet times (IBA 9.11.1): one part in IPD + 1.
      const std::uint32_t own = wiring_.wires[port].byte_time;
      const std::uint32_t far = wiring_.wires[wiring_.host_port[to]].byte_time;
      const Picos times = (far + own - 1) / own;
      allowed_[std::size_t{host} * hosts_.size() + to] =
          now_ + times * transfer_time(own, cells_[at].bytes);
    }
  }
  return at;
}

}  // namespace smd::sim
