#include "sim-backend/experiments/change_traffic.h"

namespace smd::sim {
namespace {

constexpr std::uint16_t kPayload = 256;

}  // namespace

ChangeTraffic::ChangeTraffic(SimRuntime& runtime, SimFabric& fabric, double load)
    : spec_(fabric.spec()),
      net_(spec_, PacketOptions::thesis()),
      follow_(runtime, fabric, net_),
      meter_(net_) {
  std::vector<std::uint32_t> byte_time;
  TrafficPattern among{.target = std::vector(net_.host_count(), 0u), .sets = {{}}};
  for (HostNum host = 0; host < net_.host_count(); ++host) {
    const Wire& wire = net_.wiring().wires[net_.wiring().host_port[host]];
    if (fabric.port_info(wire.node, PortNum{wire.number}).state() == PortState::Active) {
      among.sets[0].push_back(host);
    } else {
      among.target[host] = TrafficPattern::kSilent;
    }
    byte_time.push_back(wire.byte_time);
  }
  traffic_ = std::make_unique<SyntheticTraffic>(SyntheticOptions{.load = load,
                                                                 .sizes = {{kPayload, 1}},
                                                                 .mtu = kPayload,
                                                                 .sl_choice = SlChoice::Random,
                                                                 .sl = 15,
                                                                 .start = net_.now()},
                                                Destinations({{1, std::move(among)}}, false),
                                                byte_time);
  net_.set_workload(traffic_.get());
  net_.start();
  meter_.begin(StretchKind::Before);
}

/// The switch and whatever has a link to it: who may lose packets because it is gone.
void ChangeTraffic::blame(std::uint32_t node) {
  meter_.blame(node);
  for (const PortSpec& port : spec_.nodes[node].ports) {
    if (port.peer_node != kNoNode) meter_.blame(port.peer_node);
  }
}

void ChangeTraffic::change(std::uint32_t node, bool comes) {
  follow_.catch_up();
  meter_.turn(StretchKind::During);
  changed_ = net_.now();
  if (!comes) blame(node);
  follow_.set_node(node, comes);
}

void ChangeTraffic::cut() {
  follow_.catch_up();
  meter_.cut();
}

Result<void> ChangeTraffic::finish() {
  follow_.catch_up();
  meter_.finish();
  if (std::string why = net_.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  return {};
}

std::vector<Interval> ChangeTraffic::intervals() const {
  std::vector<Interval> out = meter_.intervals();
  for (Interval& interval : out) {
    interval.begin -= changed_;
    interval.end -= changed_;
  }
  return out;
}

}  // namespace smd::sim
