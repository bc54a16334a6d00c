// A small fabric under virtual time and one client that asks and remembers what comes back.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/management/sim_fabric.h"
#include "smd/mad/smp.h"

namespace smd::sim::test {

/// Hand-built fabrics: nodes by name, cables by "name:port".
class Drawing {
 public:
  std::uint32_t add(NodeType type, const std::string& name, unsigned ports) {
    NodeSpec node;
    node.type = type;
    node.id = node.description = name;
    node.guid = node.system_guid = Guid{0x100u * (spec_.nodes.size() + 1)};
    node.ports.resize(ports + 1);
    for (unsigned p = 1; p <= ports; ++p) {
      if (type != NodeType::Switch) node.ports[p].guid = Guid{node.guid.value() + p};
    }
    spec_.nodes.push_back(node);
    return static_cast<std::uint32_t>(spec_.nodes.size() - 1);
  }

  std::uint32_t ca(const std::string& name, unsigned ports = 1) {
    return add(NodeType::Ca, name, ports);
  }

  std::uint32_t sw(const std::string& name, unsigned ports = 4) {
    return add(NodeType::Switch, name, ports);
  }

  void cable(std::uint32_t a,
             unsigned pa,
             std::uint32_t b,
             unsigned pb,
             LinkWidth width = LinkWidth::X4,
             LinkSpeed speed = LinkSpeed::Edr) {
    const auto end = [&](std::uint32_t node, unsigned port, std::uint32_t peer, unsigned to) {
      PortSpec& at = spec_.nodes[node].ports[port];
      at.peer_node = peer;
      at.peer_port = PortNum{static_cast<std::uint8_t>(to)};
      at.width = width;
      at.speed = speed;
    };
    end(a, pa, b, pb);
    end(b, pb, a, pa);
  }

  NodeSpec& node(std::uint32_t index) { return spec_.nodes[index]; }

  [[nodiscard]] const FabricSpec& spec() const { return spec_; }

 private:
  FabricSpec spec_;
};

struct Arrival {
  Duration after;  // since the rig was built
  MadPacket packet;
  Smp smp;
};

class Rig {
 public:
  explicit Rig(const FabricSpec& spec,
               Timing timing = Timing::none(),
               std::uint64_t seed = 1,
               const AgentOptions& options = {},
               std::uint32_t client_node = 0,
               unsigned client_port = 1)
      : fabric(runtime, spec, timing, seed, options), start_(runtime.now()) {
    client = fabric.attach(
        client_node,
        PortNum{static_cast<std::uint8_t>(client_port)},
        [this](const MadPacket& packet) {
          const auto smp = decode_smp(packet.mad);
          arrivals.push_back({runtime.now() - start_, packet, smp.has_value() ? *smp : Smp{}});
        });
  }

  void inject(const Smp& smp, Lid to = kPermissiveLid) {
    MadPacket packet;
    packet.remote_lid = to;
    encode_smp(smp, packet.mad);
    fabric.inject(client, packet);
  }

  void run(Duration duration = std::chrono::seconds(1)) {
    runtime.run_until(runtime.now() + duration);
  }

  /// Sends, runs for a second, and gives the answer if there was exactly one arrival.
  std::optional<Smp> ask(const Smp& smp, Lid to = kPermissiveLid) {
    arrivals.clear();
    inject(smp, to);
    run();
    if (arrivals.size() != 1) return std::nullopt;
    return arrivals.front().smp;
  }

  [[nodiscard]] Duration elapsed() const { return runtime.now() - start_; }

  SimRuntime runtime;
  SimFabric fabric;
  SimFabric::ClientId client{};
  std::vector<Arrival> arrivals;

 private:
  TimePoint start_;
};

inline Smp request(Method method, AttributeId attribute, std::uint32_t modifier = 0) {
  static std::uint64_t transaction = 1000;
  Smp smp;
  smp.method = method;
  smp.attribute_id = static_cast<std::uint16_t>(attribute);
  smp.attribute_modifier = modifier;
  smp.transaction_id = ++transaction;
  return smp;
}

/// Directed along the hops.
inline Smp along(std::initializer_list<unsigned> hops, Smp smp) {
  smp.directed = true;
  smp.hop_count = 0;
  for (const unsigned hop : hops) {
    smp.initial_path[++smp.hop_count] = static_cast<std::uint8_t>(hop);
  }
  return smp;
}

inline Smp get(std::initializer_list<unsigned> hops,
               AttributeId attribute,
               std::uint32_t modifier = 0) {
  return along(hops, request(Method::Get, attribute, modifier));
}

/// ReturnPath as the manager reads it: exits from the far end back, the sender's own port not
/// among them.
inline std::vector<unsigned> return_hops(const Smp& smp) {
  std::vector<unsigned> hops;
  for (unsigned i = smp.hop_count; i >= 1; --i) hops.push_back(smp.return_path[i]);
  return hops;
}

}  // namespace smd::sim::test
