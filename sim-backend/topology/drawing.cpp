#include "sim-backend/topology/drawing.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim-backend/topology/limits.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr std::uint64_t kFirstSwitchGuid = 0x0002000000000000u;
constexpr std::uint16_t kSwitchDevice = 0xd2f0;  // Quantum
constexpr std::uint16_t kHostDevice = 0x101b;    // ConnectX-6

PortNum port_num(unsigned port) { return PortNum{static_cast<std::uint8_t>(port)}; }

}  // namespace

std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t result = 1;
  for (const std::uint64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return UINT64_MAX;
  }
  return result;
}

std::string check_size(const Size& size) {
  if (size.radix > kMaxPorts) {
    return fmt::format(
        "{} ports on one switch: InfiniBand switches have at most {}", size.radix, kMaxPorts);
  }
  if (size.beyond) {
    // Switches have a port 0.
    const std::uint64_t switch_ports = product({size.switches, size.radix + 1});
    if (switch_ports <= kMostNetworkPorts && size.host_ports <= kMostNetworkPorts - switch_ports) {
      return {};
    }
    return fmt::format("{} switches of {} ports and {} host ports: a network has {} ports at most",
                       size.switches,
                       size.radix,
                       size.host_ports,
                       kMostNetworkPorts);
  }
  if (size.switches > kMaxLids || size.host_ports > kMaxLids ||
      size.switches + size.host_ports > kMaxLids) {
    return fmt::format("{} switches and {} host ports: a subnet has {} LIDs in all",
                       size.switches,
                       size.host_ports,
                       kMaxLids);
  }
  return {};
}

std::uint32_t Drawing::add_switch(std::string description, unsigned ports) {
  const Guid guid{kFirstSwitchGuid + switches_++};
  const std::uint32_t node = add_node(spec_, NodeType::Switch, std::move(description), guid, ports);
  spec_.nodes[node].device_id = kSwitchDevice;
  spec_.nodes[node].enhanced_port0 = true;
  return node;
}

std::uint32_t Drawing::add_host(unsigned ports) {
  std::string name = fmt::format("host-{:05}", hosts_);
  if (adapters_ > 1) name += fmt::format(" mlx5_{}", begun_);
  const Guid guid{next_host_guid_};
  if (begun_ == 0) system_guid_ = guid;
  const std::uint32_t node = add_node(spec_, NodeType::Ca, std::move(name), guid, ports);
  next_host_guid_ += ports + 1;  // the node's own and one per port
  spec_.nodes[node].system_guid = system_guid_;
  spec_.nodes[node].device_id = kHostDevice;
  if (first_host_ == kNoNode) first_host_ = node;
  if (++begun_ == adapters_) {
    ++hosts_;
    begun_ = 0;
  }
  return node;
}

std::vector<std::uint32_t> Drawing::add_adapters(unsigned count) {
  SMD_CHECK(begun_ == 0, "a host gets all its adapters before the next one");
  const std::uint32_t others = std::exchange(adapters_, count);
  std::vector<std::uint32_t> out;
  for (unsigned i = 0; i < count; ++i) out.push_back(add_host());
  if (count == 1) spec_.nodes[out.front()].description += " mlx5_0";
  adapters_ = others;
  return out;
}

void Drawing::cable(std::uint32_t a, unsigned port_a, std::uint32_t b, unsigned port_b) {
  connect(spec_, a, port_num(port_a), b, port_num(port_b), width_, speed_);
}

void Drawing::hang_host(std::uint32_t sw, unsigned port) { cable(sw, port, add_host(), 1); }

FabricSpec Drawing::finish() && {
  SMD_CHECK(begun_ == 0, "the last host has not all of its adapters");
  if (first_host_ != kNoNode) move_to_front(spec_, first_host_);
  spec_.sm_node = 0;
  spec_.sm_port = PortNum{first_host_ == kNoNode ? std::uint8_t{0} : std::uint8_t{1}};
  return std::move(spec_);
}

std::string switch_name(std::initializer_list<std::uint32_t> coordinates) {
  return switch_name(std::vector<std::uint32_t>(coordinates));
}

std::string switch_name(const std::vector<std::uint32_t>& coordinates) {
  std::string name = "sw";
  for (const std::uint32_t c : coordinates) name += fmt::format("-{}", c);
  return name;
}

void move_to_front(FabricSpec& spec, std::uint32_t node) {
  const auto moved = [node](std::uint32_t n) { return n == node ? 0 : n < node ? n + 1 : n; };
  std::rotate(spec.nodes.begin(), spec.nodes.begin() + node, spec.nodes.begin() + node + 1);
  for (NodeSpec& n : spec.nodes) {
    for (PortSpec& port : n.ports) {
      if (port.peer_node != kNoNode) port.peer_node = moved(port.peer_node);
    }
  }
  spec.sm_node = moved(spec.sm_node);
}

}  // namespace smd::sim
