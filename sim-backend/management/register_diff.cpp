#include "sim-backend/management/register_diff.h"

#include <algorithm>

namespace smd::sim {
namespace {

constexpr std::uint32_t kPortMask = 0xff;

std::optional<FabricChange> kind_of(AttributeId attribute) {
  switch (attribute) {
    case AttributeId::SwitchInfo:
    case AttributeId::LinearForwardingTable:
    case AttributeId::RandomForwardingTable:
    case AttributeId::MulticastForwardingTable:
      return FabricChange::Routes;
    case AttributeId::SlToVlMappingTable:
      return FabricChange::SlToVl;
    case AttributeId::PortInfo:
    case AttributeId::VlArbitrationTable:
      return FabricChange::Ports;
    default:
      return std::nullopt;
  }
}

}  // namespace

RegisterDiff::RegisterDiff(const NodeState& before, const Smp& request, PortNum arrival)
    : attribute_(static_cast<AttributeId>(request.attribute_id)),
      modifier_(request.attribute_modifier),
      arrival_(arrival) {
  if (request.method == Method::Set && kind_of(attribute_)) before_ = read(before);
}

std::optional<FabricChange> RegisterDiff::compare(const NodeState& after) const {
  if (before_.empty() || read(after) == before_) return std::nullopt;
  return kind_of(attribute_);
}

/// That the request writes; of an adapter it is the one that it came in by.
PortNum RegisterDiff::port_of(const NodeState& node) const {
  if (!node.is_switch()) return arrival_;
  const std::uint32_t number = modifier_ & kPortMask;
  return PortNum{static_cast<std::uint8_t>(std::min<std::size_t>(number, node.num_ports()))};
}

/// Never empty. Blocks that are not there read as "no route".
std::vector<std::uint64_t> RegisterDiff::read(const NodeState& node) const {
  std::vector<std::uint64_t> out{0};
  switch (attribute_) {
    case AttributeId::SwitchInfo:
      out.push_back(node.switch_info.linear_fdb_top);
      out.push_back(node.switch_info.default_port.value());
      out.push_back(node.switch_info.life_time_value);
      if (node.has_multicast_top()) out.push_back(node.switch_info.multicast_fdb_top);
      break;
    case AttributeId::LinearForwardingTable: {
      const std::size_t first = std::size_t{modifier_} * kLftBlockSize;
      for (std::size_t i = first; i < first + kLftBlockSize; ++i) {
        out.push_back(i < node.lft.size() ? node.lft[i].value() : kNoRoute.value());
      }
      break;
    }
    case AttributeId::RandomForwardingTable: {
      const std::size_t first = std::size_t{modifier_} * kRftBlockSize;
      for (std::size_t i = first; i < first + kRftBlockSize; ++i) {
        const RftEntry entry = i < node.rft.size() ? node.rft[i] : RftEntry{};
        out.push_back(!entry.valid ? 0u
                                   : 1u << 31 | std::uint32_t{entry.lid.value()} << 12 |
                                         std::uint32_t{entry.lmc} << 8 | entry.port.value());
      }
      break;
    }
    case AttributeId::MulticastForwardingTable:
      // Few and small: all of the table that the block belongs to.
      for (const std::uint16_t mask : node.mft[modifier_ >> 28]) out.push_back(mask);
      break;
    case AttributeId::SlToVlMappingTable:
      out.insert(out.end(), node.sl_to_vl.begin(), node.sl_to_vl.end());
      break;
    case AttributeId::VlArbitrationTable: {
      const VlArbTables tables = node.read_vl_arb(port_of(node));
      for (const auto& table : {tables.high, tables.low}) {
        for (const VlArbEntry& entry : table)
          out.push_back(std::uint32_t{entry.vl.value()} << 8 | entry.weight);
      }
      break;
    }
    case AttributeId::PortInfo: {
      const PortInfo& info = node.ports[port_of(node).value()].info;
      out.push_back(info.port_state);
      out.push_back(info.lid.value());
      out.push_back(info.lmc);
      out.push_back(info.operational_vls);
      out.push_back(info.neighbor_mtu);
      out.push_back(info.vl_high_limit);
      out.push_back(info.hoq_life);
      break;
    }
    default:
      break;
  }
  return out;
}

}  // namespace smd::sim
