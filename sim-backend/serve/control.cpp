// The control half of the switchboard: what libumad2sim asks once, before it shows a program its
// device.
#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/serve/switchboard.h"
#include "smd/base/log.h"

namespace smd::sim {
namespace {

/// As the node's agent would answer at that port.
NodeInfo node_info(const NodeState& node, PortNum port) {
  NodeInfo info = node.info;
  info.local_port = port;
  info.port_guid = node.ports[port.value()].guid;
  return info;
}

ControlData first_p_keys(const NodeState& node, PortNum port) {
  const std::vector<PKey>& keys = node.ports[port.value()].p_keys;
  PKeyBlock block{};
  std::copy_n(keys.begin(), std::min(keys.size(), block.size()), block.begin());
  ControlData data{};
  encode_p_key_block(block, data);
  return data;
}

/// The port that GetPortInfo names in its first byte; 0 or too large: the client's own.
PortNum asked_port(const NodeState& node, PortNum own, const ControlData& data) {
  const auto asked = static_cast<std::uint8_t>(data[0]);
  return asked == 0 || asked > node.num_ports() ? own : PortNum{asked};
}

void store_big_endian(ControlData& data, std::size_t at, std::uint64_t value) {
  for (std::size_t i = at + 8; i-- > at; value >>= 8)
    data[i] = static_cast<std::byte>(value & 0xff);
}

}  // namespace

ControlFrame Switchboard::on_control(const ControlFrame& request) {
  ControlFrame answer = request;
  const auto refuse = [&](const std::string& why) {
    log::warn("serve.refused", "{}", why);
    answer.type = static_cast<std::uint32_t>(ControlType::Error);
    return answer;
  };
  const auto type = static_cast<ControlType>(request.type);
  if (type == ControlType::Connect) {
    const Result<ConnectData> granted = connect(decode_connect(request.data));
    if (!granted) return refuse(granted.error().context);
    answer.data = encode_connect(*granted);
    answer.client = granted->id;
    return answer;
  }
  Client* client = find_client(request.client);
  if (client == nullptr) {
    // Leaving twice is no fault: the process may have been taken for dead.
    if (type == ControlType::Disconnect) return answer;
    return refuse(fmt::format(
        "control request {} of client {}, which is not attached", request.type, request.client));
  }

  const NodeState& node = fabric_.node_state(client->node);
  const PortInfo port = fabric_.port_info(client->node, client->port);
  switch (type) {
    case ControlType::Disconnect:
      disconnect(request.client);
      break;
    case ControlType::GetPort:
      answer.data = encode_port(port.lid, port.port_state);
      break;
    case ControlType::GetVendor: {
      const NodeInfo info = node_info(node, client->port);
      answer.data = encode_vendor(info.vendor_id, info.device_id, info.revision);
      break;
    }
    case ControlType::GetGid:
      answer.data = {};
      store_big_endian(answer.data, 0, port.gid_prefix);
      store_big_endian(answer.data, 8, node_info(node, client->port).port_guid.value());
      break;
    case ControlType::GetGuid:
      answer.data = {};
      store_big_endian(answer.data, 0, node.info.node_guid.value());
      break;
    case ControlType::GetNodeInfo:
      encode_node_info(node_info(node, client->port), answer.data);
      break;
    case ControlType::GetPortInfo: {
      const PortNum asked = asked_port(node, client->port, request.data);
      PortInfo info = fabric_.port_info(client->node, asked);
      info.local_port = client->port;
      encode_port_info(info, answer.data);
      break;
    }
    case ControlType::SetIsSm:
      if (auto set = set_is_sm(request.client, decode_flag(request.data)); !set) {
        return refuse(set.error().context);
      }
      break;
    case ControlType::GetPKeys:
      answer.data = first_p_keys(node, client->port);
      break;
    default:
      return refuse(fmt::format(
          "control request of unknown type {} from process {}", request.type, client->pid));
  }
  return answer;
}

}  // namespace smd::sim
