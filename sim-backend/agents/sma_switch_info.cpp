// SwitchInfo and SwitchPortStateTable (IBA 14.2.5.4, .20).
#include "sim-backend/agents/sma_attributes.h"
#include "smd/mad/tables.h"

namespace smd::sim {

namespace {

/// One below the first multicast LID says that there are none.
bool multicast_top_fits(const NodeState& node, const SwitchInfo& wanted) {
  if (!node.has_multicast_top()) return true;
  const std::uint32_t lowest = kFirstMulticast - 1u;
  return wanted.multicast_fdb_top >= lowest &&
         wanted.multicast_fdb_top <= lowest + node.switch_info.multicast_fdb_cap;
}

}  // namespace

MadStatus answer_switch_info(const SmaRequest& request, Smp& smp) {
  if (!request.node.is_switch()) return MadStatus::BadMethodAttribute;
  SwitchInfo& regs = request.node.switch_info;
  MadStatus status = MadStatus::Ok;
  if (smp.method == Method::Set) {
    const auto wanted = decode_switch_info(smp.data);
    const bool top_fits = wanted.has_value() && (wanted->linear_fdb_top == 0 ||
                                                 wanted->linear_fdb_top < regs.linear_fdb_cap);
    if (top_fits && multicast_top_fits(request.node, *wanted)) {
      regs.linear_fdb_top = wanted->linear_fdb_top;
      regs.default_port = wanted->default_port;
      regs.default_mcast_primary_port = wanted->default_mcast_primary_port;
      regs.default_mcast_not_primary_port = wanted->default_mcast_not_primary_port;
      regs.life_time_value = wanted->life_time_value;
      regs.multicast_fdb_top = wanted->multicast_fdb_top;
      if (wanted->port_state_change) regs.port_state_change = false;
    } else {
      status = MadStatus::BadField;
    }
  }
  encode_switch_info(regs, smp.data);
  return status;
}

MadStatus answer_port_state_table(const SmaRequest& request, Smp& smp) {
  const NodeState& node = request.node;
  if (!node.is_switch() || !node.options.port_state_table || smp.method != Method::Get) {
    return MadStatus::BadMethodAttribute;
  }
  const std::size_t first = std::size_t{smp.attribute_modifier} * kPortStateBlockSize;
  if (first > node.num_ports()) return MadStatus::BadField;
  PortStateBlock block{};
  for (std::size_t i = 0; i < block.size() && first + i < node.ports.size(); ++i) {
    block[i] = node.ports[first + i].state();
  }
  encode_port_state_block(block, smp.data);
  return MadStatus::Ok;
}

}  // namespace smd::sim
