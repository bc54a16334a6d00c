// Building the nodes, the events that packets hop through, and the trace.
#include "sim-backend/management/fabric_impl.h"

#include <bit>
#include <cstring>

#include "smd/base/check.h"

namespace smd::sim {

SimFabric::Impl::Impl(Runtime& runtime,
                      FabricSpec spec,
                      Timing timing,
                      std::uint64_t seed,
                      const AgentOptions& options)
    : runtime_(runtime), spec_(std::move(spec)), timing_(timing), options_(options), rng_(seed) {
  instant_ = timing_.smi_pass == Duration{0} && timing_.sma_time == Duration{0} &&
             timing_.switch_hop == Duration{0} && timing_.cable == Duration{0} &&
             timing_.byte_ns == 0;
  nodes_.resize(spec_.nodes.size());
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    SimNode& node = nodes_[n];
    const NodeSpec& from = spec_.nodes[n];
    node.state = power_on(from, options_, timing_.resp_time_code);
    // A file may show a fabric that somebody has managed before; a reboot forgets it.
    for (std::size_t p = 0; p < from.ports.size(); ++p) {
      node.state.ports[p].info.lid = from.ports[p].lid;
      node.state.ports[p].info.lmc = from.ports[p].lmc;
    }
    node.first_link = static_cast<std::uint32_t>(links_.size());
    for (const PortSpec& port : from.ports) {
      links_.push_back({.peer_node = port.peer_node, .peer_port = port.peer_port});
    }
    node.traps = std::make_unique<TrapSender>(
        runtime_, node.state, [this, n](const TrapLetter& letter) { send_trap(n, letter); });
  }
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    for (unsigned p = 1; p < spec_.nodes[n].ports.size(); ++p) {
      refresh_link(n, PortNum{static_cast<std::uint8_t>(p)});
    }
  }
}

SimFabric::Impl::~Impl() {
  pool_.for_each_live([this](Packet& packet) { runtime_.cancel(packet.timer); });
}

LinkEnd& SimFabric::Impl::link(std::uint32_t node, PortNum port) {
  return links_[nodes_[node].first_link + port.value()];
}

PortCounterRegs& SimFabric::Impl::counters(std::uint32_t node, PortNum port) {
  return nodes_[node].state.ports[port.value()].counters;
}

void SimFabric::Impl::schedule(TimePoint when, Packet* packet, Step step) {
  if (!instant_ || when > runtime_.now()) return run_later(when, packet, step);
  packet->step = step;
  instant_queue_.push_back(packet);
  if (draining_) return;
  draining_ = true;
  while (!instant_queue_.empty()) {
    Packet* next = instant_queue_.front();
    instant_queue_.pop_front();
    run(next);
  }
  draining_ = false;
}

void SimFabric::Impl::run_later(TimePoint when, Packet* packet, Step step) {
  packet->step = step;
  packet->timer = runtime_.call_at(when, [this, packet] { run(packet); });
}

void SimFabric::Impl::run(Packet* packet) {
  packet->timer = TimerId::None;
  const bool inside = packet->step != Step::Arrive;
  if (inside && packet->node_epoch != nodes_[packet->node].epoch) {
    return drop(packet, stats_.dropped_link);
  }
  switch (packet->step) {
    case Step::Arrive:
      return on_arrive(packet);
    case Step::SmiDone:
      return on_smi_done(packet);
    case Step::SmaDone:
      return on_sma_done(packet);
    case Step::GsiDone:
      return on_gsi_done(packet);
    case Step::Deliver:
      return on_deliver(packet);
  }
}

void SimFabric::Impl::drop(Packet* packet, std::uint64_t& counter) {
  ++counter;
  pool_.give_back(packet);
}

void SimFabric::Impl::trace(const Packet& packet) {
  const auto mix = [this](std::uint64_t word) {
    trace_hash_ = (trace_hash_ ^ word) * 0x9e3779b97f4a7c15u;
    trace_hash_ ^= trace_hash_ >> 29;
  };
  mix(static_cast<std::uint64_t>(runtime_.now().since_epoch.count()));
  mix(std::uint64_t{packet.node} << 8 | packet.port.value());
  for (std::size_t at = 0; at < kMadSize; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, packet.mad.data() + at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    mix(word);
  }
}

}  // namespace smd::sim
