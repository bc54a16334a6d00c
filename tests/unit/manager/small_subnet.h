// The smallest fabric that shows what a manager does, on virtual time, and the manager's port,
// where a test sees every SMP and loses those that it likes; another manager.
//
//   h1 1-1 s1 3-3 s2 1-1 h3      The manager is on h1.
//   h2 1-2 s1
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/management/sim_transport.h"
#include "sim-backend/management/smp_tap.h"
#include "smd/config/settings.h"
#include "smd/ha/state_machine.h"
#include "smd/mad/node_info.h"
#include "smd/smp/messages.h"
#include "smd/smp/smp_client.h"

namespace smd::test {

using namespace std::chrono_literals;
using sim::is_about;
using sim::SmpTap;

inline constexpr std::uint32_t kH1 = 0, kS1 = 1, kH2 = 2, kS2 = 3, kH3 = 4;

/// Directed routes from h1.
inline const HopPath kToS1{PortNum{1}};
inline const HopPath kToS2{PortNum{1}, PortNum{3}};
inline const HopPath kToH3{PortNum{1}, PortNum{3}, PortNum{1}};

inline sim::FabricSpec small_fabric() {
  sim::FabricSpec spec;
  sim::add_node(spec, NodeType::Ca, "h1", Guid{0x100}, 1);
  sim::add_node(spec, NodeType::Switch, "s1", Guid{0x200}, 4);
  sim::add_node(spec, NodeType::Ca, "h2", Guid{0x300}, 1);
  sim::add_node(spec, NodeType::Switch, "s2", Guid{0x400}, 4);
  sim::add_node(spec, NodeType::Ca, "h3", Guid{0x500}, 1);
  sim::connect(spec, kH1, PortNum{1}, kS1, PortNum{1});
  sim::connect(spec, kH2, PortNum{1}, kS1, PortNum{2});
  sim::connect(spec, kS1, PortNum{3}, kS2, PortNum{3});
  sim::connect(spec, kS2, PortNum{1}, kH3, PortNum{1});
  return spec;
}

/// Nothing is swept that nobody asked for, and no engine takes the place of updn.
inline Settings small_settings() {
  Settings settings = make_settings(Config{});
  settings.engine = "updn";
  settings.engine_fallback = false;
  settings.sweep_interval = Duration{0};
  settings.rebalance_delay = Duration{0};
  return settings;
}

[[nodiscard]] inline bool goes_to(const Smp& smp, const HopPath& path) {
  if (!smp.directed || smp.hop_count != path.size()) return false;
  for (std::size_t hop = 0; hop < path.size(); ++hop) {
    if (smp.initial_path[hop + 1] != path[hop].value()) return false;
  }
  return true;
}

[[nodiscard]] inline bool sets(const Smp& smp, AttributeId attribute) {
  return smp.method == Method::Set && is_about(smp, attribute);
}

struct SmallSubnet {
  SmallSubnet() {
    port.on_send = [this](const Smp& smp) {
      sent.push_back(smp);
      return !loses || !loses(smp);
    };
  }

  [[nodiscard]] std::size_t count(Method method, AttributeId attribute) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        sent, [&](const Smp& smp) { return smp.method == method && is_about(smp, attribute); }));
  }

  /// Sets that change something: of anything but SMInfo.
  [[nodiscard]] std::size_t writes() const {
    return static_cast<std::size_t>(std::ranges::count_if(sent, [](const Smp& smp) {
      return smp.method == Method::Set && !is_about(smp, AttributeId::SmInfo);
    }));
  }

  void run_for(Duration time) { runtime.run_until(runtime.now() + time); }

  bool run_until(const std::function<bool()>& done, Duration limit = 60s) {
    return runtime.run_while_not(done, runtime.now() + limit);
  }

  [[nodiscard]] Guid port_guid(std::uint32_t host) const {
    return fabric.spec().nodes[host].ports[1].guid;
  }

  [[nodiscard]] Lid lid(std::uint32_t host) const { return fabric.port_info(host, PortNum{1}).lid; }

  sim::SimRuntime runtime;
  sim::SimFabric fabric{runtime, small_fabric(), sim::Timing::modern(), 1};
  sim::SimTransport wire{fabric, kH1, PortNum{1}};
  SmpTap port{wire};
  std::vector<Smp> sent;
  std::function<bool(const Smp&)> loses;  // on the way out
};

/// Another manager, on h3, which says and asks what the test wants.
class Rival {
 public:
  Rival(SmallSubnet& net, SmState state, std::uint8_t priority)
      : port_(net.fabric, kH3, PortNum{1}) {
    info = {.guid = net.port_guid(kH3),
            .priority = priority,
            .sm_state = static_cast<std::uint8_t>(state)};
    port_.set_handlers([this](const MadPacket& packet) { receive(packet); }, [](const Error&) {});
    EXPECT_TRUE(port_.set_is_sm(true));
  }

  void is(SmState state) { info.sm_state = static_cast<std::uint8_t>(state); }

  /// A Get of SMInfo; with `control` the order.
  void tell(std::optional<SmControl> control = std::nullopt) {
    SmpRequest request{.route = SmpRoute::directed({PortNum{1}, PortNum{3}, PortNum{1}}),
                       .method = control ? Method::Set : Method::Get,
                       .attribute = AttributeId::SmInfo,
                       .modifier = control ? static_cast<std::uint32_t>(*control) : 0};
    encode_sm_info(info, request.data);
    EXPECT_TRUE(port_.send(build_request(request, Lid{0}, ++transaction_)));
  }

  /// Orders that it got.
  [[nodiscard]] std::vector<SmControl> orders() const {
    std::vector<SmControl> out;
    for (const Smp& smp : heard) {
      if (smp.method == Method::Set) out.push_back(static_cast<SmControl>(smp.attribute_modifier));
    }
    return out;
  }

  SmInfo info;
  bool silent = false;
  std::vector<Smp> heard;  // requests

 private:
  void receive(const MadPacket& packet) {
    const auto smp = decode_smp(packet.mad);
    if (!smp || !is_about(*smp, AttributeId::SmInfo) || smp->method == Method::GetResp) return;
    heard.push_back(*smp);
    if (silent) return;
    SmpData data{};
    encode_sm_info(info, data);
    EXPECT_TRUE(port_.send(make_response(*smp, packet, data)));
  }

  sim::SimTransport port_;
  std::uint32_t transaction_ = 0;
};

}  // namespace smd::test
