// A small fabric under virtual time and one client that asks and remembers what comes back.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/management/sim_fabric.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/mad/smp.h"
#include "smd/mad/tables.h"
#include "tests/support/port_num.h"

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

inline Smp request(Method method, AttributeId attribute, std::uint32_t modifier = 0) {
  static std::uint64_t transaction = 1000;
  Smp smp;
  smp.method = method;
  smp.attribute_id = static_cast<std::uint16_t>(attribute);
  smp.attribute_modifier = modifier;
  smp.transaction_id = ++transaction;
  return smp;
}

using Hops = std::initializer_list<unsigned>;

using smd::test::port_num;

inline Lid lid_of(unsigned lid) { return Lid{static_cast<std::uint16_t>(lid)}; }

/// Directed along the hops.
inline Smp along(Hops hops, Smp smp) {
  smp.directed = true;
  smp.hop_count = 0;
  for (const unsigned hop : hops) {
    smp.initial_path[++smp.hop_count] = static_cast<std::uint8_t>(hop);
  }
  return smp;
}

inline Smp get(Hops hops, AttributeId attribute, std::uint32_t modifier = 0) {
  return along(hops, request(Method::Get, attribute, modifier));
}

/// ReturnPath as the manager reads it: exits from the far end back, the sender's own port not
/// among them.
inline std::vector<unsigned> return_hops(const Smp& smp) {
  std::vector<unsigned> hops;
  for (unsigned i = smp.hop_count; i >= 1; --i) hops.push_back(smp.return_path[i]);
  return hops;
}

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

  /// Sends, runs for a second, and gives the answer if there was exactly one. Traps that arrive
  /// meanwhile stay in `arrivals`.
  std::optional<Smp> ask(const Smp& smp, Lid to = kPermissiveLid) {
    arrivals.clear();
    inject(smp, to);
    run();
    std::optional<Smp> answer;
    for (const Arrival& arrival : arrivals) {
      const Smp& got = arrival.smp;
      if (got.method != Method::GetResp || got.transaction_id != smp.transaction_id) continue;
      if (answer.has_value()) return std::nullopt;
      answer = got;
    }
    return answer;
  }

  /// Reads PortInfo, changes it, writes it back with NOPs where a manager would, and gives the
  /// answer.
  template <class Change>
  std::optional<Smp> set_port(Hops path, unsigned port, Change change) {
    const auto now = ask(get(path, AttributeId::PortInfo, port));
    if (!now.has_value()) return std::nullopt;
    PortInfo info = decode_port_info(now->data).value();
    info.port_state = info.port_physical_state = 0;
    info.link_width_enabled = info.link_speed_enabled = info.link_speed_ext_enabled = 0;
    change(info);
    Smp set = along(path, request(Method::Set, AttributeId::PortInfo, port));
    set.m_key = m_key;
    encode_port_info(info, set.data);
    return ask(set);
  }

  void set_lid(Hops path, unsigned port, unsigned lid) {
    set_port(path, port, [&](PortInfo& info) {
      info.lid = lid_of(lid);
      info.master_sm_lid = Lid{1};
    });
  }

  /// Routes of LIDs below 64 on the switch at the end of the path.
  void set_routes(Hops path, std::initializer_list<std::pair<unsigned, unsigned>> routes) {
    LftBlock block;
    block.fill(kNoRoute);
    for (const auto& [lid, port] : routes) block[lid] = port_num(port);
    Smp set = along(path, request(Method::Set, AttributeId::LinearForwardingTable, 0));
    encode_lft_block(block, set.data);
    ask(set);
    Smp top = along(path, request(Method::Set, AttributeId::SwitchInfo, 0));
    encode_switch_info({.linear_fdb_top = 63, .port_state_change = true}, top.data);
    ask(top);
  }

  /// Initialize → Armed → Active, from the manager's end.
  void activate(Hops path, unsigned port) {
    for (const PortState state : {PortState::Armed, PortState::Active}) {
      set_port(
          path, port, [&](PortInfo& info) { info.port_state = static_cast<std::uint8_t>(state); });
    }
  }

  [[nodiscard]] Duration elapsed() const { return runtime.now() - start_; }

  SimRuntime runtime;
  SimFabric fabric;
  SimFabric::ClientId client{};
  std::vector<Arrival> arrivals;
  MKey m_key;  // what `set_port` writes with

 private:
  TimePoint start_;
};

}  // namespace smd::sim::test
