// Building the net, its events, the cells and what is counted.
#include "sim-backend/packet/net_impl.h"

#include <algorithm>
#include <numeric>

#include "sim-backend/packet/credits.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

// What an event is: its step, what it is of, an argument. Where that is a packet's cell, a number
// comes before it that the packet has from its port: cells are given out in an order that must not
// show.
constexpr unsigned kStepShift = 60;
constexpr unsigned kIndexShift = 32;
constexpr std::uint32_t kIndexMask = (1u << 28) - 1;
constexpr unsigned kPortShift = 38;
constexpr std::uint32_t kPortMask = (1u << 22) - 1;
constexpr unsigned kSequenceShift = 26;
constexpr std::uint64_t kSequenceMask = (1u << 12) - 1;
constexpr std::uint32_t kCellMask = (1u << 26) - 1;

}  // namespace

PacketNet::Impl::Impl(PacketNet& self, const FabricSpec& spec, const PacketOptions& options)
    : self_(self), options_(options), wiring_(spec, options.cables), vls_(options.vls) {
  const SwitchModel& sw = options_.switches;
  input_latency_ = sw.routing + sw.mapping + sw.crossbar_arbitration;
  nodes_.resize(spec.nodes.size());
  ports_.resize(wiring_.wires.size());
  SMD_CHECK(ports_.size() <= kPortMask, "a fabric of too many ports for one net");
  outs_.resize(ports_.size() * vls_);
  ins_.resize(ports_.size() * vls_);
  hosts_.resize(wiring_.host_port.size());
  arbitration_.push_back({});
  for (PortAt port = 0; port < ports_.size(); ++port) {
    const bool on_switch = is_switch_port(port);
    const unsigned bytes = on_switch ? sw.input_buffer_bytes : options_.adapters.buffer_bytes;
    for (unsigned vl = 0; vl < vls_; ++vl) {
      InLane& in = ins_[port * vls_ + vl];
      in.capacity = in.free = static_cast<std::uint16_t>(bytes / kBlockBytes);
      outs_[port * vls_ + vl].room =
          static_cast<std::uint16_t>(on_switch ? sw.output_buffer_bytes / kBlockBytes : 0);
    }
    longest_cable_ = std::max<Picos>(longest_cable_, wiring_.wires[port].propagation);
    NetNode& node = nodes_[wiring_.wires[port].node];
    const std::uint32_t byte_time = wiring_.wires[port].byte_time;
    if (byte_time == 0) continue;
    const auto crossing = static_cast<std::uint32_t>(std::uint64_t{byte_time} * 100 /
                                                     options_.switches.speed_up_percent);
    if (node.crossbar_byte == 0 || crossing < node.crossbar_byte) node.crossbar_byte = crossing;
  }
  const AdapterModel& adapters = options_.adapters;
  if (adapters.waiting != SourceQueues::Shared && adapters.waiting != SourceQueues::Pool) {
    queues_per_lane_ = adapters.waiting == SourceQueues::Hashed
                           ? adapters.queues
                           : std::max<std::uint32_t>(1, static_cast<std::uint32_t>(hosts_.size()));
    source_queues_.resize(hosts_.size() * vls_ * queues_per_lane_);
  }
  if (adapters.static_rate) allowed_.assign(hosts_.size() * hosts_.size(), 0);
}

void PacketNet::Impl::push(Picos at, NetStep step, std::uint32_t index, std::uint32_t argument) {
  queue_.push({at,
               std::uint64_t{static_cast<std::uint8_t>(step)} << kStepShift |
                   std::uint64_t{index} << kIndexShift | argument});
}

void PacketNet::Impl::push_cell(
    Picos at, NetStep step, PortAt port, std::uint16_t sequence, CellAt cell) {
  queue_.push({at,
               std::uint64_t{static_cast<std::uint8_t>(step)} << kStepShift |
                   std::uint64_t{port} << kPortShift |
                   (sequence & kSequenceMask) << kSequenceShift | cell});
}

void PacketNet::Impl::run(const Event& event) {
  const auto step = static_cast<NetStep>(event.what >> kStepShift);
  const auto index = static_cast<std::uint32_t>(event.what >> kIndexShift) & kIndexMask;
  const auto argument = static_cast<std::uint32_t>(event.what);
  const auto port = static_cast<PortAt>(event.what >> kPortShift) & kPortMask;
  const CellAt cell = static_cast<CellAt>(event.what) & kCellMask;
  ++stats_.events;
  switch (step) {
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

CellAt PacketNet::Impl::take_cell() {
  if (free_cells_ == kNowhere) {
    cells_.emplace_back();
    SMD_CHECK(cells_.size() <= kCellMask, "more packets in flight than events can name");
    return static_cast<CellAt>(cells_.size() - 1);
  }
  const CellAt at = free_cells_;
  free_cells_ = cells_[at].next;
  cells_[at] = {};
  return at;
}

void PacketNet::Impl::free_cell(CellAt at) {
  cells_[at].place = Place::Free;
  cells_[at].next = free_cells_;
  free_cells_ = at;
}

/// Counts the loss; the cell stays with the caller.
void PacketNet::Impl::lose(CellAt at, std::uint32_t node, Discard cause) {
  const Cell& cell = cells_[at];
  if (cell.notice != NoticeKind::None) return lose_notice(cell);
  if (hooks_.reaction != nullptr && cell.to != kNowhere && cell.place != Place::Source) {
    tell_loss(flow_of(cell));
  }
  ++stats_.discarded[static_cast<std::size_t>(cause)];
  --stats_.in_flight;
  digest(std::uint64_t{node} << 32 | cell.source,
         static_cast<std::uint64_t>(cell.generated) << 4 | static_cast<std::uint64_t>(cause));
  if (observer_ == nullptr) return;
  observer_->on_discarded({.source = cell.source,
                           .node = node,
                           .cause = cause,
                           .at = now_,
                           .generated = cell.generated,
                           .tag = cell.tag});
}

/// A sum: what happens at one instant in two places has no order.
void PacketNet::Impl::digest(std::uint64_t place, std::uint64_t what) {
  std::uint64_t word = 0;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(now_), place, what}) {
    word = (word ^ part) * 0x9e3779b97f4a7c15u;
    word ^= word >> 29;
  }
  stats_.digest += word;
}

std::uint64_t NetStats::discards() const {
  return std::accumulate(discarded.begin(), discarded.end(), std::uint64_t{0});
}

PacketNet::PacketNet(const FabricSpec& spec, const PacketOptions& options)
    : impl_(std::make_unique<Impl>(*this, spec, options)) {}

PacketNet::~PacketNet() = default;

void PacketNet::load(std::uint32_t node, const NodeState& registers) {
  impl_->load(node, registers);
}

void PacketNet::switch_off(std::uint32_t node) { impl_->clear_node(node); }

void PacketNet::set_workload(Workload* workload) { impl_->workload_ = workload; }

void PacketNet::set_observer(PacketObserver* observer) { impl_->observer_ = observer; }

void PacketNet::set_congestion_control(const CongestionHooks& hooks) {
  SMD_CHECK(impl_->stats_.generated == 0, "congestion control is set before the first packet");
  impl_->hooks_ = hooks;
  impl_->notices_.clear();
  if (hooks.echo != nullptr) impl_->notices_.resize(impl_->hosts_.size() * impl_->vls_);
}

void PacketNet::set_management_handler(ManagementHandler* handler) {
  impl_->management_handler_ = handler;
}

void PacketNet::start() {
  SMD_CHECK(impl_->workload_ != nullptr, "a net that starts has a workload");
  for (HostNum host = 0; host < impl_->hosts_.size(); ++host) {
    impl_->wake_host(host, impl_->workload_->first(host));
  }
}

void PacketNet::run_until(Picos until) {
  EventWheel& queue = impl_->queue_;
  while (!queue.empty()) {
    const Event event = queue.top();
    if (event.at > until) break;
    queue.pop();
    impl_->now_ = event.at;
    impl_->run(event);
  }
  impl_->now_ = std::max(impl_->now_, until);
}

bool PacketNet::run_one() {
  if (impl_->queue_.empty()) return false;
  const Event event = impl_->queue_.top();
  impl_->queue_.pop();
  impl_->now_ = event.at;
  impl_->run(event);
  return true;
}

Picos PacketNet::next_event() const {
  return impl_->queue_.empty() ? kNever : impl_->queue_.top().at;
}

Picos PacketNet::now() const { return impl_->now_; }

void PacketNet::send(HostNum source, const Sending& sending) { impl_->send(source, sending); }

void PacketNet::wake(HostNum host, Picos at) { impl_->wake_host(host, at); }

const NetStats& PacketNet::stats() const { return impl_->stats_; }

const Wiring& PacketNet::wiring() const { return impl_->wiring_; }

const PacketOptions& PacketNet::options() const { return impl_->options_; }

HostNum PacketNet::host_count() const { return static_cast<HostNum>(impl_->hosts_.size()); }

Lid PacketNet::host_lid(HostNum host) const {
  return Lid{impl_->ports_[impl_->wiring_.host_port[host]].lid};
}

LaneView PacketNet::view_lane(std::uint32_t node, PortNum port, Vl vl) const {
  const LaneAt lane = impl_->wiring_.port_of(node, port.value()) * impl_->vls_ + vl.value();
  const InLane& in = impl_->ins_[lane];
  const OutLane& out = impl_->outs_[lane];
  const bool buffered =
      impl_->wiring_.is_switch[node] != 0 && impl_->options_.switches.output_buffers;
  const unsigned capacity =
      buffered ? impl_->options_.switches.output_buffer_bytes / kBlockBytes : 0;
  return {.input_used = unsigned{in.capacity} - in.free,
          .input_capacity = in.capacity,
          .output_used = buffered ? capacity - out.room : 0,
          .output_capacity = capacity,
          .credit = credit_left(impl_->known_limit(lane), out.fctbs)};
}

Picos PacketNet::blocked_time(std::uint32_t node, PortNum port) const {
  const NetPort& at = impl_->ports_[impl_->wiring_.port_of(node, port.value())];
  return at.blocked + (at.blocked_since == kNever ? 0 : impl_->now_ - at.blocked_since);
}

std::uint64_t PacketNet::sent_bytes(std::uint32_t node, PortNum port) const {
  return impl_->ports_[impl_->wiring_.port_of(node, port.value())].sent_bytes;
}

std::vector<WaitingHop> PacketNet::find_deadlock() const { return impl_->find_deadlock(); }

std::string PacketNet::audit() const { return impl_->audit(); }

std::size_t PacketNet::memory() const {
  const auto of = [](const auto& values) {
    return values.capacity() * sizeof(typename std::decay_t<decltype(values)>::value_type);
  };
  return of(impl_->nodes_) + of(impl_->ports_) + of(impl_->outs_) + of(impl_->ins_) +
         of(impl_->hosts_) + of(impl_->cells_) + of(impl_->source_queues_) + of(impl_->allowed_) +
         of(impl_->wiring_.wires);
}

}  // namespace smd::sim
