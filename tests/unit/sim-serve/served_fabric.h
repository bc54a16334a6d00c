// A small fabric with a switchboard on it and clients that are plain vectors instead of processes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/serve/mad_bytes.h"
#include "sim-backend/serve/switchboard.h"
#include "smd/mad/node_info.h"

namespace smd::sim {

//   host-a --1 sw 2-- host-b
inline FabricSpec two_hosts() {
  FabricSpec spec;
  const auto sw = add_node(spec, NodeType::Switch, "sw", Guid{0x10}, 4);
  const auto a = add_node(spec, NodeType::Ca, "host-a", Guid{0xa0}, 1);
  const auto b = add_node(spec, NodeType::Ca, "host-b", Guid{0xb0}, 2);
  connect(spec, sw, PortNum{1}, a, PortNum{1});
  connect(spec, sw, PortNum{2}, b, PortNum{1});
  spec.sm_node = a;
  return spec;
}

struct RecordingWire final : ClientWire {
  Result<void> open(unsigned client, std::uint32_t pid) override {
    if (dead_pids.contains(pid)) return fail(Errc::Unreachable, "no such process");
    pids[client] = pid;
    return {};
  }

  void close(unsigned client) override { pids.erase(client); }

  void send(unsigned client, const PacketFrame& frame) override { got[client].push_back(frame); }

  bool is_alive(unsigned client) override { return !dead_pids.contains(pids.at(client)); }

  std::map<unsigned, std::uint32_t> pids;
  std::set<std::uint32_t> dead_pids;
  std::map<unsigned, std::vector<PacketFrame>> got;
};

struct ServedFabric {
  explicit ServedFabric(SwitchboardOptions options = {})
      : fabric(runtime, two_hosts(), Timing::none(), 1), board(runtime, fabric, wire, options) {}

  ControlFrame control(ControlType type, unsigned client, ControlData data = {}) {
    return board.on_control(
        {.client = client, .type = static_cast<std::uint32_t>(type), .length = 64, .data = data});
  }

  ControlFrame connect_reply(std::uint32_t pid, const std::string& node) {
    return control(ControlType::Connect, 0, encode_connect({.id = pid, .node = node}));
  }

  unsigned connect(std::uint32_t pid, const std::string& node) {
    return decode_connect(connect_reply(pid, node).data).id;
  }

  void set_is_sm(unsigned client, bool is_sm) {
    ControlData data{};
    data[0] = std::byte{is_sm};
    control(ControlType::SetIsSm, client, data);
  }

  void run() { runtime.run_until(runtime.now() + std::chrono::seconds(1)); }

  void send(unsigned client, const PacketFrame& frame) {
    board.on_packet(client, frame);
    run();
  }

  SimRuntime runtime;
  SimFabric fabric;
  RecordingWire wire;
  Switchboard board;
};

inline PacketFrame directed_get(AttributeId attribute,
                                std::vector<std::uint8_t> path,
                                std::uint64_t id) {
  Smp smp;
  smp.directed = true;
  smp.transaction_id = id;
  smp.attribute_id = static_cast<std::uint16_t>(attribute);
  smp.hop_count = static_cast<std::uint8_t>(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) smp.initial_path[i + 1] = path[i];
  PacketFrame frame = {.dlid = kPermissiveLid, .slid = kPermissiveLid};
  encode_smp(smp, frame.mad);
  return frame;
}

}  // namespace smd::sim
