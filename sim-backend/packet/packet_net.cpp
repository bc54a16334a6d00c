// PacketNet: its partitions as one.
#include <algorithm>
#include <numeric>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_impl.h"
#include "sim-backend/packet/partition_split.h"
#include "sim-backend/packet/sources.h"
#include "sim-backend/packet/switch_port.h"
#include "sim-backend/packet/vl15.h"
#include "smd/base/check.h"

namespace smd::sim {

NetStats& NetStats::operator+=(const NetStats& other) {
  for (std::uint64_t NetStats::*count : {&NetStats::generated,
                                         &NetStats::wanted_bytes,
                                         &NetStats::replicated,
                                         &NetStats::taken_in,
                                         &NetStats::delivered,
                                         &NetStats::delivered_bytes,
                                         &NetStats::in_flight,
                                         &NetStats::waiting,
                                         &NetStats::injected,
                                         &NetStats::held_messages,
                                         &NetStats::held_hosts,
                                         &NetStats::held_time,
                                         &NetStats::hops,
                                         &NetStats::events,
                                         &NetStats::vl15_sent,
                                         &NetStats::vl15_dropped,
                                         &NetStats::marked,
                                         &NetStats::impossible_marks,
                                         &NetStats::digest}) {
    this->*count += other.*count;
  }
  for (std::size_t i = 0; i < discarded.size(); ++i) discarded[i] += other.discarded[i];
  for (std::uint64_t FeedbackStats::*count : {&FeedbackStats::made,
                                              &FeedbackStats::delivered,
                                              &FeedbackStats::lost,
                                              &FeedbackStats::in_flight,
                                              &FeedbackStats::bytes}) {
    feedback.*count += other.feedback.*count;
  }
  last_out = std::max(last_out, other.last_out);
  return *this;
}

std::uint64_t NetStats::discards() const {
  return std::accumulate(discarded.begin(), discarded.end(), std::uint64_t{0});
}

PacketNet::Impl::Impl(PacketNet& self,
                      const FabricSpec& spec,
                      const PacketOptions& options,
                      ProcessTeam* processes)
    : options_(options),
      processes_(processes),
      part_of_node_(split_nodes(spec, options.partitions)),
      wiring_(spec, options),
      vls_(options.vls),
      state_(wiring_, options, nodes_here()) {
  link_partitions();
  SMD_CHECK(lookahead_ > 0, "partitions need cables that take time");
  const unsigned count = options.partitions;
  for (unsigned i = 0; i < count; ++i) {
    parts_.push_back(std::make_unique<NetPart>(self, state_, wiring_, options_, part_of_node_, i));
    parts_.back()->state.outgoing.resize(count);
    parts_.back()->state.incoming.resize(count);
    part_states_.push_back(&parts_.back()->state);
  }
  for (PartState* part : part_states_) part->parts = part_states_;
  for (unsigned from = 0; from < count; ++from) {
    for (unsigned to = 0; to < count; ++to) {
      if (from == to) continue;
      links_.push_back(std::make_unique<MemoryLink>());
      parts_[from]->state.outgoing[to] = links_.back().get();
      parts_[to]->state.incoming[from] = links_.back().get();
    }
  }
  join_processes();
}

/// What each has counted. Sums of differences modulo 2^64 are right.
const NetStats& PacketNet::Impl::stats() const {
  if (!is_split()) return parts_[0]->state.stats;
  sum_ = {};
  for (const auto& part : parts_) sum_ += part->state.stats;
  return sum_;
}

PacketNet::PacketNet(const FabricSpec& spec, const PacketOptions& options, ProcessTeam* processes)
    : impl_(std::make_unique<Impl>(*this, spec, options, processes)) {}

PacketNet::~PacketNet() = default;

void PacketNet::load(std::uint32_t node, const NodeState& registers) {
  SMD_CHECK(impl_->takes_changes(), "registers change before several processes start");
  impl_->note_loaded(node);
  impl_->part_of(node).load(node, registers);
}

void PacketNet::open_all(unsigned mtu) {
  const auto nodes = static_cast<std::uint32_t>(impl_->state_.nodes.size());
  for (std::uint32_t node = 0; node < nodes; ++node) impl_->part_of(node).open(node, mtu);
}

void PacketNet::switch_off(std::uint32_t node) {
  SMD_CHECK(impl_->takes_changes(), "registers change before several processes start");
  impl_->part_of(node).switch_off(node);
}

void PacketNet::set_workload(Workload* workload) {
  for (const auto& part : impl_->parts_) part->state.workload = workload;
}

void PacketNet::set_observer(PacketObserver* observer) {
  for (const auto& part : impl_->parts_) part->state.observer = observer;
}

void PacketNet::set_team(Team* team) {
  SMD_CHECK(impl_->processes_ == nullptr, "several processes are a team already");
  impl_->team_ = team;
}

void PacketNet::set_congestion_control(const CongestionHooks& hooks) {
  set_congestion_control(std::span(&hooks, 1));
}

void PacketNet::set_congestion_control(std::span<const CongestionHooks> hooks) {
  SMD_CHECK(stats().generated == 0, "congestion control is set before the first packet");
  SMD_CHECK(hooks.size() == partitions(), "each partition has mechanisms of its own");
  NetState& state = impl_->state_;
  state.feedback.clear();
  if (hooks[0].echo != nullptr) state.feedback.resize(state.hosts.size() * impl_->vls_);
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    impl_->parts_[i]->state.hooks = hooks[i];
    impl_->parts_[i]->state.feedback = state.feedback;
  }
}

void PacketNet::set_route_choice(const RouteChoice* choice) {
  SMD_CHECK(stats().generated == 0, "routes are chosen from the first packet on");
  SMD_CHECK(choice == nullptr || !choice->looks_far() || !impl_->is_split(),
            "a rule that looks at other switches needs one partition");
  for (const auto& part : impl_->parts_) part->state.route_choice = choice;
}

void PacketNet::set_management_handler(ManagementHandler* handler) {
  SMD_CHECK(!impl_->is_split() || handler == nullptr, "management packets need one partition");
  impl_->parts_[0]->state.management_handler = handler;
}

void PacketNet::set_switch_port_handler(SwitchPortHandler* handler) {
  for (const auto& part : impl_->parts_) part->state.switch_port_handler = handler;
}

void PacketNet::send_from_switch(const SwitchSending& sending) {
  PartState& part = impl_->part_of(sending.node).state;
  SMD_CHECK(impl_->processes_ == nullptr || (impl_->runs_ && impl_->is_here(part.number)),
            "a switch of several processes sends while its partition runs");
  smd::sim::send_from_switch(part, sending);
}

void PacketNet::start() {
  const auto& parts = impl_->parts_;
  Workload* workload = parts[0]->state.workload;
  SMD_CHECK(workload != nullptr, "a net that starts has a workload");
  SMD_CHECK(!impl_->is_split() || workload->splits(), "a workload that needs one partition");
  for (HostNum host = 0; host < host_count(); ++host) {
    if (impl_->is_here(partition_of(host))) wake(host, workload->first(host));
  }
  impl_->started_ = true;
  impl_->share_parts();
}

void PacketNet::run_until(Picos until) {
  impl_->runs_ = true;
  if (!impl_->is_split()) {
    impl_->parts_[0]->run_before(until + 1);
  } else if (impl_->team_ == nullptr) {
    impl_->run_windows(until);
  } else {
    impl_->run_team(until);
  }
  for (const auto& part : impl_->parts_) part->state.now = std::max(part->state.now, until);
  impl_->runs_ = false;
  impl_->share_parts();
}

bool PacketNet::is_full() const {
  return std::ranges::any_of(impl_->parts_, [](const auto& part) { return part->state.full; });
}

bool PacketNet::run_one() {
  SMD_CHECK(!impl_->is_split(), "one event at a time needs one partition");
  return impl_->parts_[0]->run_one();
}

Picos PacketNet::next_event() const { return impl_->next_due(); }

Picos PacketNet::now() const { return impl_->parts_[0]->state.now; }

void PacketNet::send(HostNum source, const PacketRequest& sending) {
  send_packet(impl_->part_of_host(source).state, source, sending);
}

void PacketNet::wake(HostNum host, Picos at) {
  wake_host(impl_->part_of_host(host).state, host, at);
}

unsigned PacketNet::partitions() const { return static_cast<unsigned>(impl_->parts_.size()); }

std::uint32_t PacketNet::partition_of(HostNum host) const {
  return impl_->part_of_host(host).state.number;
}

bool PacketNet::send_management(std::uint32_t node,
                                PortNum port,
                                unsigned bytes,
                                Picos ready,
                                Picos tail_in,
                                std::uint64_t cookie) {
  return send_vl15(impl_->part_of(node).state,
                   impl_->wiring_.port_of(node, port.value()),
                   bytes,
                   ready,
                   tail_in,
                   cookie);
}

Picos PacketNet::management_due(std::uint32_t node, PortNum port) const {
  return vl15_due(impl_->part_of(node).state, impl_->wiring_.port_of(node, port.value()));
}

const NetStats& PacketNet::stats() const { return impl_->stats(); }

const Wiring& PacketNet::wiring() const { return impl_->wiring_; }

const PacketOptions& PacketNet::options() const { return impl_->options_; }

HostNum PacketNet::host_count() const { return static_cast<HostNum>(impl_->state_.hosts.size()); }

Lid PacketNet::host_lid(HostNum host) const { return Lid{impl_->state_.host_lids[host].lid}; }

VlOccupancy PacketNet::read_vl_occupancy(std::uint32_t node, PortNum port, Vl vl) const {
  SMD_CHECK(impl_->processes_ == nullptr, "buffers are read where one process has all of them");
  const PortVl port_vl = impl_->wiring_.port_of(node, port.value()) * impl_->vls_ + vl.value();
  const InputVl& in = impl_->state_.ins[port_vl];
  const OutputVl& out = impl_->state_.outs[port_vl];
  const bool buffered =
      impl_->wiring_.is_switch[node] != 0 && impl_->options_.switches.output_buffers;
  const unsigned capacity =
      buffered ? impl_->options_.switches.output_buffer_bytes / kBlockBytes : 0;
  return {.input_used = unsigned{in.capacity} - in.free,
          .input_capacity = in.capacity,
          .output_used = buffered ? capacity - out.room : 0,
          .output_capacity = capacity,
          .credit = credit_left(impl_->known_limit(port_vl, {}), out.fctbs)};
}

Picos PacketNet::blocked_time(std::uint32_t node, PortNum port) const {
  return impl_->port_total(impl_->wiring_.port_of(node, port.value())).blocked;
}

std::uint64_t PacketNet::sent_bytes(std::uint32_t node, PortNum port) const {
  return impl_->port_total(impl_->wiring_.port_of(node, port.value())).sent_bytes;
}

bool PacketNet::has_sent(HostNum host) const { return impl_->has_sent(host); }

std::uint32_t PacketNet::host_byte_time(HostNum host) const {
  return impl_->wiring_.wires[impl_->wiring_.host_port[host]].byte_time;
}

unsigned PacketNet::header_bytes() const { return impl_->options_.links.header_bytes; }

/// Whole numbers, whose sums depend on no order.
struct BuffersOfPart {
  std::uint64_t buffers = 0;
  std::uint64_t input_used = 0;
  std::uint64_t output_used = 0;
  std::uint32_t most_input = 0;
  std::uint32_t most_output = 0;
};

Occupancy PacketNet::Impl::occupancy() const {
  const SwitchModel& sw = options_.switches;
  const unsigned input_blocks = input_capacity(options_, true);
  const unsigned output_blocks = sw.output_buffers ? sw.output_buffer_bytes / kBlockBytes : 0;
  const auto parts = gather<BuffersOfPart>([&](unsigned part) {
    BuffersOfPart own;
    visit_ports(part, [&](PortAt port) {
      if (!is_switch_port(port) || wiring_.wires[port].peer == kNowhere) return;
      for (PortVl at = port * vls_; at < (port + 1) * vls_; ++at) {
        const std::uint32_t input = unsigned{state_.ins[at].capacity} - state_.ins[at].free;
        const std::uint32_t output = output_blocks == 0 ? 0 : output_blocks - state_.outs[at].room;
        ++own.buffers;
        own.input_used += input;
        own.output_used += output;
        own.most_input = std::max(own.most_input, input);
        own.most_output = std::max(own.most_output, output);
      }
    });
    return std::vector{own};
  });
  BuffersOfPart all;
  for (const BuffersOfPart& part : parts) {
    all.buffers += part.buffers;
    all.input_used += part.input_used;
    all.output_used += part.output_used;
    all.most_input = std::max(all.most_input, part.most_input);
    all.most_output = std::max(all.most_output, part.most_output);
  }
  const auto share = [](std::uint64_t used, std::uint64_t capacity) {
    return capacity == 0 ? 0 : static_cast<double>(used) / static_cast<double>(capacity);
  };
  return {.mean_input = share(all.input_used, all.buffers * input_blocks),
          .max_input = share(all.most_input, input_blocks),
          .mean_output = share(all.output_used, all.buffers * output_blocks),
          .max_output = share(all.most_output, output_blocks)};
}

Occupancy PacketNet::occupancy() const { return impl_->occupancy(); }

std::vector<PortUse> PacketNet::port_use() const {
  std::vector<PortUse> out;
  const Wiring& all = wiring();
  for (std::uint32_t node = 0; node < all.is_switch.size(); ++node) {
    if (all.is_switch[node] == 0) continue;
    for (unsigned number = 1; number <= all.num_ports[node]; ++number) {
      const Wire& wire = all.wires[all.port_of(node, number)];
      if (wire.peer == kNowhere) continue;
      const PortNum port{static_cast<std::uint8_t>(number)};
      const auto bytes = static_cast<double>(sent_bytes(node, port));
      out.push_back({.node = node,
                     .port = port,
                     .active = static_cast<Picos>(bytes * wire.byte_time / 65536),
                     .blocked = blocked_time(node, port)});
    }
  }
  return out;
}

std::vector<WaitingHop> PacketNet::find_deadlock(Picos end) const {
  return impl_->find_deadlock(end);
}

std::string PacketNet::audit() const { return impl_->audit(); }

NetMemory PacketNet::memory_use() const {
  NetMemory out;
  const auto of_made = [](const auto& values) {
    return values.count_made() * sizeof(typename std::decay_t<decltype(values)>::value_type);
  };
  const auto of = [&out](const auto& values) {
    constexpr std::size_t kEach = sizeof(typename std::decay_t<decltype(values)>::value_type);
    out.spare += (values.capacity() - values.size()) * kEach;
    return values.size() * kEach;
  };
  const NetState& state = impl_->state_;
  const Wiring& wires = impl_->wiring_;
  out.nodes = of_made(state.nodes) + of(wires.first_port) + of(wires.is_switch) +
              of(wires.num_ports) + of(impl_->part_of_node_);
  out.ports = of_made(state.ports) + of_made(state.extras) + of(wires.wires) + of(wires.host_of);
  out.lanes = of_made(state.outs) + of_made(state.ins);
  out.hosts = of_made(state.hosts) + of(state.host_lids) + of(state.source_queues) +
              of(state.allowed) + of(wires.host_mbps) + of(state.feedback) + of(wires.host_port);
  out.fixed = of(state.lid_owner);
  for (const DestinationMap<Picos>& own : state.allowed) out.hosts += own.memory();
  for (const QueueSet& set : state.source_queues) {
    out.hosts += of(set.queues) + set.place.memory();
  }
  for (const auto& range : state.nodes.made()) {
    for (std::size_t node = range.first; node < range.end(); ++node) {
      out.nodes += state.nodes[node].tables.memory();
    }
  }
  for (const auto& part : impl_->parts_) {
    out.packets += of(part->state.packets) + of(part->state.origins);
    const EventWheel& queue = part->state.queue;
    out.events += queue.memory_used();
    out.fixed += EventWheel::kFixedMemory;
    out.spare += queue.memory() - queue.memory_used() - EventWheel::kFixedMemory;
  }
  return out;
}

}  // namespace smd::sim
