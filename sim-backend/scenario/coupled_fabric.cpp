#include "sim-backend/scenario/coupled_fabric.h"

#include <algorithm>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/management/packet.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kFirstQp = 2;  // 0 and 1 are management's

}  // namespace

CoupledFabric::CoupledFabric(Runtime& runtime, SimFabric& fabric, PacketNet& net, TimePoint origin)
    : runtime_(runtime),
      fabric_(fabric),
      net_(net),
      origin_(origin),
      off_(fabric.spec().nodes.size(), false) {
  catch_up();
  for (std::uint32_t node = 0; node < off_.size(); ++node) reload(node);
  // The registers have changed already; the net still works by its copy until it is told.
  observer_ = fabric_.on_change([this](std::uint32_t node, FabricChange what) {
    catch_up();
    if (what != FabricChange::Congestion) reload(node);
    reload_congestion(node);
  });
  net_.set_management_handler(this);
  fabric_.set_carrier(this);
  fabric_.before_performance([this](std::uint32_t node) { count_data(node); });
}

CoupledFabric::~CoupledFabric() {
  if (marking_ != nullptr) {
    fabric_.before_congestion({});
    marking_->set_observer({});
    reaction_->set_observer({});
  }
  fabric_.before_performance({});
  fabric_.set_carrier(nullptr);
  fabric_.stop_observing(observer_);
  net_.set_management_handler(nullptr);
  for (const auto& [ticket, smp] : underway_) fabric_.lose_carried(ticket);
}

/// The runtime counts nanoseconds: not before `time`.
TimePoint CoupledFabric::to_runtime(Picos time) const {
  return origin_ + Duration{(time + kNano - 1) / kNano};
}

void CoupledFabric::catch_up() { net_.run_until(to_net(runtime_.now())); }

void CoupledFabric::reload(std::uint32_t node) {
  if (!off_[node]) net_.load(node, fabric_.node_state(node));
}

/// What has passed the node's ports since its agent was asked the last time.
void CoupledFabric::count_data(std::uint32_t node) {
  catch_up();
  const Wiring& wiring = net_.wiring();
  for (unsigned number = 1; number <= wiring.num_ports[node]; ++number) {
    const auto port = static_cast<std::uint8_t>(number);
    const Wire& wire = wiring.wires[wiring.port_of(node, number)];
    if (wire.byte_time == 0) continue;  // no cable
    const auto tick = static_cast<std::uint64_t>(transfer_time(wire.byte_time, 4));
    PortCount& counted = counted_[{node, port}];
    const std::uint64_t bytes = net_.sent_bytes(node, PortNum{port}) - counted.smp_bytes;
    const std::uint64_t ticks =
        static_cast<std::uint64_t>(net_.blocked_time(node, PortNum{port})) / tick;
    fabric_.count_data(node, PortNum{port}, bytes / 4 - counted.bytes / 4, ticks - counted.ticks);
    counted.bytes = bytes;
    counted.ticks = ticks;
  }
}

void CoupledFabric::follow_congestion(IbMarking& marking, IbReaction& reaction) {
  marking_ = &marking;
  reaction_ = &reaction;
  for (std::uint32_t node = 0; node < off_.size(); ++node) reload_congestion(node);
  marking.set_observer([this](const MarkPoint& point) { log_mark(point); });
  reaction.set_observer([this](const Flow& flow, Picos at) { log_trigger(flow, at); });
  fabric_.before_congestion([this] { catch_up(); });
}

void CoupledFabric::log_mark(const MarkPoint& point) {
  fabric_.log_mark(point.node,
                   PortNum{point.out_port},
                   {.source = net_.host_lid(point.source),
                    .destination = point.destination,
                    .sl = Sl{point.sl},
                    .time = congestion_ticks(to_runtime(point.at))});
}

void CoupledFabric::log_trigger(const Flow& flow, Picos at) {
  const Wiring& wiring = net_.wiring();
  const Wire& wire = wiring.wires[wiring.host_port[flow.source]];
  cc::CaLogEvent event{.sl = Sl{flow.sl},
                       .local = net_.host_lid(flow.source),
                       .remote = net_.host_lid(flow.destination),
                       .time = congestion_ticks(to_runtime(at))};
  // An index of a whole port and SL belongs to no QP.
  if (!reaction_->is_per_sl(flow.source)) {
    event.local_qp = kFirstQp + flow.destination;
    event.remote_qp = kFirstQp + flow.source;
  }
  fabric_.log_trigger(wire.node, PortNum{wire.number}, event);
}

void CoupledFabric::reload_congestion(std::uint32_t node) {
  if (marking_ == nullptr) return;
  const NodeState& state = fabric_.node_state(node);
  if (state.is_switch()) return marking_->set(node, read_switch(state.congestion(PortNum{})));
  const Wiring& wiring = net_.wiring();
  for (unsigned number = 1; number <= wiring.num_ports[node]; ++number) {
    const HostNum host = wiring.host_of[wiring.port_of(node, number)];
    if (host == kNowhere) continue;
    reaction_->set(host, read_ca(state.congestion(PortNum{static_cast<std::uint8_t>(number)})));
  }
}

void CoupledFabric::set_node(std::uint32_t node, bool up) {
  if (!up) {
    catch_up();
    net_.switch_off(node);
  }
  off_[node] = !up;
  fabric_.set_node(node, up);
  if (up) reload(node);
}

void CoupledFabric::set_link(std::uint32_t node, PortNum port, bool up) {
  catch_up();
  fabric_.set_link(node, port, up);
}

bool CoupledFabric::carry(
    std::uint32_t node, PortNum port, TimePoint ready, TimePoint whole, Ticket ticket) {
  catch_up();
  if (!net_.send_management(node, port, kWireBytes, to_net(ready), to_net(whole), ticket)) {
    return false;
  }
  underway_.emplace(ticket, Underway{.node = node, .port = port, .ready = to_net(ready)});
  look_again(ticket);
  return true;
}

/// Arms the next look at a SMP: never later than it comes in.
void CoupledFabric::look_again(Ticket ticket) {
  const auto found = underway_.find(ticket);
  if (found == underway_.end()) return;
  Underway& smp = found->second;
  const Picos due =
      smp.head ? *smp.head : std::max(smp.ready, net_.management_due(smp.node, smp.port));
  // Where cables take no time, a nanosecond must pass for something to happen.
  const TimePoint when = std::max(to_runtime(due), runtime_.now() + Duration{1});
  smp.timer = Timer(runtime_, when, [this, ticket] {
    catch_up();
    look_again(ticket);
  });
}

void CoupledFabric::on_sent(std::uint64_t cookie, Picos head) {
  if (const auto found = underway_.find(cookie); found != underway_.end()) {
    found->second.head = head;
    counted_[{found->second.node, found->second.port.value()}].smp_bytes += kWireBytes;
  }
}

void CoupledFabric::on_head(std::uint64_t cookie, std::uint32_t, PortNum, Picos head, Picos tail) {
  underway_.erase(cookie);
  fabric_.take_carried(cookie, to_runtime(head), to_runtime(tail));
}

void CoupledFabric::on_lost(std::uint64_t cookie) {
  underway_.erase(cookie);
  fabric_.lose_carried(cookie);
}

}  // namespace smd::sim
