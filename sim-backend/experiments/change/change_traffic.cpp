#include "sim-backend/experiments/change/change_traffic.h"

#include <algorithm>
#include <utility>

namespace smd::sim {
namespace {

constexpr std::uint16_t kPayload = 256;

}  // namespace

ChangeTraffic::ChangeTraffic(SimRuntime& runtime, SimFabric& fabric, double load)
    : spec_(fabric.spec()),
      net_(spec_, PacketOptions::thesis()),
      follow_(runtime, fabric, net_),
      meter_(net_),
      severed_(net_.host_count(), false) {
  net_.set_observer(this);
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
  meter_.begin(PeriodKind::Before);
}

/// The switch and whatever has a link to it: who may lose packets because it is gone.
void ChangeTraffic::blame(std::uint32_t node) {
  meter_.blame(node);
  for (const PortSpec& port : spec_.nodes[node].ports) {
    if (port.peer_node != kNoNode) meter_.blame(port.peer_node);
  }
}

/// Hosts that no cable leads to from the manager's node but through `node`.
void ChangeTraffic::sever(std::uint32_t node) {
  std::vector<bool> reached(spec_.nodes.size(), false);
  reached[node] = reached[spec_.sm_node] = true;
  for (std::vector<std::uint32_t> todo{spec_.sm_node}; !todo.empty();) {
    const NodeSpec& at = spec_.nodes[todo.back()];
    todo.pop_back();
    for (const PortSpec& port : at.ports) {
      if (port.peer_node == kNoNode || reached[port.peer_node]) continue;
      reached[port.peer_node] = true;
      todo.push_back(port.peer_node);
    }
  }
  for (HostNum host = 0; host < severed_.size(); ++host) {
    severed_[host] = !reached[net_.wiring().wires[net_.wiring().host_port[host]].node];
  }
}

void ChangeTraffic::on_discarded(const Loss& loss) {
  meter_.on_discarded(loss);
  if (severed_[loss.source] || severed_[loss.tag]) ++severed_losses_;
}

void ChangeTraffic::restart() {
  follow_.catch_up();
  meter_.begin(PeriodKind::Before);
  severed_of_.clear();
  severed_losses_ = 0;
}

void ChangeTraffic::change(std::uint32_t node, bool comes) {
  cut();
  meter_.turn(PeriodKind::During);
  changed_ = net_.now();
  if (!comes) {
    blame(node);
    sever(node);
  }
  follow_.set_node(node, comes);
}

void ChangeTraffic::cut() {
  follow_.catch_up();
  const std::size_t before = meter_.intervals().size();
  meter_.cut();
  if (meter_.intervals().size() == before) return;  // no time has passed
  severed_of_.push_back(std::exchange(severed_losses_, 0));
}

void ChangeTraffic::split() {
  cut();
  meter_.turn(PeriodKind::After);
}

const Period& ChangeTraffic::until_split() const {
  return *std::ranges::find(meter_.periods(), PeriodKind::During, &Period::kind);
}

double ChangeTraffic::unexplained() const {
  double sum = 0;
  for (const Period& period : meter_.periods()) sum += double(period.unexplained);
  return sum;
}

Result<void> ChangeTraffic::finish() {
  cut();
  meter_.finish();
  if (std::string why = net_.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  return {};
}

std::vector<ChangeInterval> ChangeTraffic::intervals() const {
  std::vector<ChangeInterval> out;
  for (const Interval& interval : meter_.intervals()) {
    out.push_back({interval, severed_of_[out.size()]});
    out.back().all.begin -= changed_;
    out.back().all.end -= changed_;
  }
  return out;
}

}  // namespace smd::sim
