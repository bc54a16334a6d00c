#include "sim-backend/packet/sources.h"

#include <algorithm>

#include "sim-backend/packet/congestion_point.h"
#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/output_link.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr std::uint16_t kMostPayload = 4096;

/// Where the source has several per VL.
QueueSet& queues_of(const PartState& net, PortAt port, PortVl port_vl) {
  return net.source_queues[net.wiring.host_of[port] * net.vls + net.vl_of(port_vl)];
}

void push_source(PartState& net, PortAt port, PortVl port_vl_at, PacketAt at) {
  OutputVl& port_vl = net.outs[port_vl_at];
  net.packets[at].next = kNowhere;
  if (net.hooks.reaction != nullptr && net.packets[at].to != kNowhere) {
    net.hooks.reaction->on_queued(flow_of(net.packets[at]));
  }
  if (net.queues_per_vl == 1) {
    if (port_vl.head == kNowhere) {
      port_vl.head = at;
    } else {
      net.packets[port_vl.tail].next = at;
    }
    port_vl.tail = at;
    return;
  }
  // `head` and `tail` of the VL are a line of queues then.
  QueueSet& set = queues_of(net, port, port_vl_at);
  const HostNum to = net.destination_of(net.packets[at]);
  const std::uint32_t key =
      set.place.at((to == kNowhere ? net.packets[at].dlid : to) % net.queues_per_vl,
                   static_cast<std::uint32_t>(set.queues.size()));
  if (key == set.queues.size()) set.queues.emplace_back();
  SourceQueue& queue = set.queues[key];
  if (queue.head != kNowhere) {
    net.packets[queue.tail].next = at;
    queue.tail = at;
    return;
  }
  queue = {.head = at, .tail = at};
  if (port_vl.head == kNowhere) {
    port_vl.head = key;
  } else {
    set.queues[port_vl.tail].next = key;
  }
  port_vl.tail = key;
}

/// When the pace of the destination's link lets the next packet go there.
Picos allowed_at(const PartState& net, HostNum host, std::uint16_t dlid) {
  if (net.allowed.empty() || dlid >= net.lid_owner.size() || net.lid_owner[dlid] == kNowhere)
    return 0;
  const Picos* when = net.allowed[host].find(net.lid_owner[dlid]);
  return when == nullptr ? 0 : *when;
}

void hold_back(PartState& net, NetHost& host) {
  if (host.stalled) return;
  host.stalled = true;
  ++net.stats.held_messages;
  ++net.stats.held_hosts;
  net.stats.held_time -= static_cast<std::uint64_t>(net.now);
}

}  // namespace

void let_go_on(PartState& net, HostNum host) {
  NetHost& here = net.hosts[host];
  if (!here.stalled) return;
  here.stalled = false;
  --net.stats.held_hosts;
  net.stats.held_time += static_cast<std::uint64_t>(net.now);
  wake_host(net, host, net.now);
}

void wake_host(PartState& net, HostNum host, Picos at) {
  NetHost& here = net.hosts[host];
  if (at >= here.emit_at || at == kNever) return;
  here.emit_at = std::max(at, net.now);
  net.push(here.emit_at, NetStep::Emit, host, 0);
}

void on_emit(PartState& net, HostNum host, Picos at) {
  NetHost& here = net.hosts[host];
  if (here.emit_at != at) return;  // it was asked to come earlier
  here.emit_at = kNever;
  const unsigned most = net.options.adapters.most_waiting;
  if (net.workload->keeps_times()) {
    // Who sends then is told by the trace, not by whose clock this is.
    --net.stats.events;
  } else if (most > 0 && here.waiting >= most) {
    return hold_back(net, here);
  }
  wake_host(net, host, net.workload->emit(net.self, host, net.now));
}

void send_packet(PartState& net, HostNum source, const PacketRequest& sending) {
  SMD_CHECK(sending.payload <= kMostPayload && sending.sl < 16, "a packet that no header can tell");
  const PortAt port = net.wiring.host_port[source];
  const Wire& wire = net.wires[port];
  net.hosts[source].asked = true;
  if (net.full) return;  // a message may be thousands of packets
  const PacketAt at = net.take_packet();
  DataPacket& packet = net.packets[at];
  net.origins[at] = {.generated = net.now, .tag = sending.tag, .number = net.hosts[source].made++};
  packet.ready = net.now + net.options.adapters.latency;
  packet.source = source;
  packet.bytes = static_cast<std::uint16_t>(sending.payload + net.options.links.header_bytes);
  packet.payload = sending.payload;
  packet.dlid = sending.dlid.value();
  packet.sl = sending.sl;
  packet.blocks = static_cast<std::uint8_t>(blocks_of(sending.payload));
  if (sending.to != kNowhere) {
    packet.dlid = kByHostNumber;
    packet.to = sending.to;
  } else if (net.hooks.echo != nullptr || net.hooks.reaction != nullptr) {
    packet.to = net.lid_owner[packet.dlid];
  }
  packet.place = Place::Source;
  ++net.stats.generated;
  net.stats.wanted_bytes += std::uint64_t{packet.bytes} * sending.copies;
  ++net.stats.in_flight;
  const unsigned vl = net.nodes[wire.node].tables.map_sl(wire.number, 0, packet.sl);
  const bool mapped = vl != kDiscardVl && vl < net.ports[port].vls;
  if (!mapped || packet.payload > net.ports[port].mtu) {
    net.lose(at, wire.node, mapped ? Discard::TooLong : Discard::Unmappable);
    return net.free_packet(at);
  }
  ++net.hosts[source].waiting;
  ++net.stats.waiting;
  push_source(net, port, port * net.vls + vl, at);
  NetPort& here = net.ports[port];
  here.waiting = static_cast<std::uint16_t>(here.waiting | 1u << vl);
  if (!here.link_running) try_link(net, port);
}

PacketAt find_source(const PartState& net, PortAt port, PortVl port_vl_at, Picos& wake) {
  const OutputVl& port_vl = net.outs[port_vl_at];
  const HostNum host = net.wiring.host_of[port];
  const PacketAt feedback = first_feedback(net, port, net.vl_of(port_vl_at));
  if (feedback != kNowhere && net.packets[feedback].ready <= net.now) return feedback;
  if (feedback != kNowhere) wake = std::min(wake, net.packets[feedback].ready);
  if (port_vl.head == kNowhere) return kNowhere;
  const auto goes = [&](PacketAt at) {
    Picos when = std::max(net.packets[at].ready, allowed_at(net, host, net.packets[at].dlid));
    if (net.hooks.reaction != nullptr && net.packets[at].to != kNowhere) {
      when = std::max(when, net.hooks.reaction->allowed_at(flow_of(net.packets[at]), net.now));
    }
    if (when > net.now) wake = std::min(wake, when);
    return when <= net.now;
  };
  if (net.options.adapters.waiting == SourceQueues::Pool) {
    // The oldest that may go, of those that the pool holds.
    unsigned held = 0;
    for (PacketAt at = port_vl.head; at != kNowhere; at = net.packets[at].next) {
      held += net.packets[at].bytes;
      if (held > net.options.adapters.pool_bytes && at != port_vl.head) return kNowhere;
      if (goes(at)) return at;
    }
    return kNowhere;
  }
  if (net.queues_per_vl == 1) return goes(port_vl.head) ? port_vl.head : kNowhere;
  const std::vector<SourceQueue>& queues = queues_of(net, port, port_vl_at).queues;
  for (std::uint32_t key = port_vl.head; key != kNowhere; key = queues[key].next) {
    if (goes(queues[key].head)) return queues[key].head;
  }
  return kNowhere;
}

PacketAt pop_source(PartState& net, PortAt port, PortVl port_vl_at, PacketAt at) {
  OutputVl& port_vl = net.outs[port_vl_at];
  const HostNum host = net.wiring.host_of[port];
  if (at != kNowhere && net.packets[at].feedback != FeedbackKind::None) {
    pop_feedback(net, port, net.vl_of(port_vl_at));
    return at;
  }
  --net.hosts[host].waiting;
  --net.stats.waiting;
  if (net.queues_per_vl == 1) {
    PacketAt before = kNowhere;
    if (at == kNowhere) at = port_vl.head;
    for (PacketAt each = port_vl.head; each != at; each = net.packets[each].next) before = each;
    (before == kNowhere ? port_vl.head : net.packets[before].next) = net.packets[at].next;
    if (port_vl.tail == at) port_vl.tail = before;
  } else {
    std::vector<SourceQueue>& queues = queues_of(net, port, port_vl_at).queues;
    std::uint32_t before = kNowhere;
    std::uint32_t key = port_vl.head;
    while (at != kNowhere && queues[key].head != at) {
      before = key;
      key = queues[key].next;
    }
    SourceQueue& queue = queues[key];
    at = queue.head;
    queue.head = net.packets[at].next;
    // Out of the line; to its end, if it holds more.
    (before == kNowhere ? port_vl.head : queues[before].next) = queue.next;
    if (port_vl.tail == key) port_vl.tail = before;
    queue.next = kNowhere;
    if (queue.head == kNowhere) {
      queue.tail = kNowhere;
    } else {
      (port_vl.head == kNowhere ? port_vl.head : queues[port_vl.tail].next) = key;
      port_vl.tail = key;
    }
  }
  if (net.hooks.reaction != nullptr && net.packets[at].to != kNowhere) {
    net.hooks.reaction->on_unqueued(flow_of(net.packets[at]));
  }
  if (port_vl.head == kNowhere && first_feedback(net, port, net.vl_of(port_vl_at)) == kNowhere) {
    NetPort& here = net.ports[port];
    here.waiting = static_cast<std::uint16_t>(here.waiting & ~(1u << net.vl_of(port_vl_at)));
  }
  if (!net.allowed.empty() && net.packets[at].dlid < net.lid_owner.size()) {
    const HostNum to = net.lid_owner[net.packets[at].dlid];
    if (to != kNowhere) {
      // Inter-packet delay, a whole number of packet times (IBA 9.11.1): one part in IPD + 1. Of
      // the rates, which are whole numbers; the times of a byte are rounded.
      const std::uint32_t own = net.wiring.host_mbps[host];
      const std::uint32_t far = net.wiring.host_mbps[to];
      // One as fast is never held back: the link itself is busy for as long.
      if (far < own && far > 0) {
        const Picos times = (own + far - 1) / far;
        net.allowed[host].at(to) =
            net.now + times * transfer_time(net.wires[port].byte_time, net.packets[at].bytes);
      }
    }
  }
  return at;
}

}  // namespace smd::sim
