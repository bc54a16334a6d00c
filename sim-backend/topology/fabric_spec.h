// A fabric as somebody drew it: nodes, ports, cables. What generators make, readers read and the
// simulator builds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"

namespace smd::sim {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

struct PortSpec {
  std::uint32_t peer_node = kNoNode;  // index into FabricSpec::nodes; kNoNode when open
  PortNum peer_port;
  LinkWidth width = LinkWidth::X4;
  LinkSpeed speed = LinkSpeed::Edr;
  Guid guid;  // adapters: the port's own GUID; switches: 0 (the node's)
  Lid lid;    // as the file says; 0 when it does not
  std::uint8_t lmc = 0;

  friend bool operator==(const PortSpec&, const PortSpec&) = default;
};

struct NodeSpec {
  NodeType type = NodeType::Ca;
  std::string id;  // unique key in files: "S-0002000000000000"; free text in hand-written ones
  std::string description;  // what NodeDescription answers: "sw-0-3"
  Guid guid;
  Guid system_guid;
  std::uint32_t vendor_id = 0x2c9;
  std::uint16_t device_id = 0;
  bool enhanced_port0 = false;
  std::vector<PortSpec>
      ports;  // [0] is port 0 (management port of a switch, unused on adapters), then 1 … n

  [[nodiscard]] unsigned num_ports() const { return static_cast<unsigned>(ports.size()) - 1; }

  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

struct FabricSpec {
  std::string title;  // the generator call or file it came from
  std::vector<NodeSpec> nodes;
  std::uint32_t sm_node = 0;  // where a manager sits unless told otherwise
  PortNum sm_port{1};         // 0 when that node is a switch

  friend bool operator==(const FabricSpec&, const FabricSpec&) = default;
};

/// Requires: the ports exist. Re-cabling a used port is a fault of the caller (SMD_CHECK).
void connect(FabricSpec& spec,
             std::uint32_t a,
             PortNum port_a,
             std::uint32_t b,
             PortNum port_b,
             LinkWidth width = LinkWidth::X4,
             LinkSpeed speed = LinkSpeed::Edr);

/// Appends a node with `ports` open external ports and returns its index.
std::uint32_t add_node(
    FabricSpec& spec, NodeType type, std::string description, Guid guid, unsigned ports);

/// Symmetric cables, unique ids and GUIDs, port counts 1 … 254, an SM node that exists. Empty when
/// all is well.
[[nodiscard]] std::string check_spec(const FabricSpec& spec);

/// FABRIC of every command line: `NAME:key=value,…`, or a file recognised by its content.
[[nodiscard]] Parsed<FabricSpec> load_fabric(const std::string& fabric);

/// The same from text already read; `file` is only for messages.
[[nodiscard]] Parsed<FabricSpec> parse_fabric(std::string_view text, const std::string& file);

/// ibsim net format that ibsim 0.10 loads; parse_fabric(print_fabric(s)) == s.
[[nodiscard]] std::string print_fabric(const FabricSpec& spec);

/// All generators with their keys, defaults and meaning, for `smsim gen --list`.
[[nodiscard]] std::string list_generators();

}  // namespace smd::sim
