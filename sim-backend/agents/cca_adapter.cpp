#include <algorithm>

#include "sim-backend/agents/cca_attributes.h"

namespace smd::sim::cca {
namespace {

std::size_t capacity(const NodeState& node) {
  return std::size_t{node.options.cct_blocks} * cc::kCctBlockSize;
}

/// An index must lie in the table as it may become, not as it is: tables are often written later.
MadStatus write_ca_setting(const Call& call, const cc::CaSetting& asked) {
  constexpr std::uint16_t kKnown = 1;
  if ((asked.port_control & ~kKnown) != 0) return MadStatus::BadField;
  for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
    if ((asked.control_map >> sl & 1u) == 0) continue;
    if (asked.entries[sl].min >= capacity(call.node())) return MadStatus::BadField;
  }
  cc::CaSetting& own = call.state.ca_setting;
  own.port_control = asked.port_control;
  own.control_map = asked.control_map;
  for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
    if ((asked.control_map >> sl & 1u) != 0) own.entries[sl] = asked.entries[sl];
  }
  return MadStatus::Ok;
}

MadStatus write_table(const Call& call, const cc::CctBlock& asked) {
  if (asked.limit >= capacity(call.node())) return MadStatus::BadField;
  call.state.ccti_limit = asked.limit;
  call.state.table.resize(capacity(call.node()));
  const std::size_t first = call.modifier * cc::kCctBlockSize;
  std::ranges::copy(asked.entries, call.state.table.begin() + static_cast<std::ptrdiff_t>(first));
  return MadStatus::Ok;
}

}  // namespace

MadStatus answer_ca_setting(const Call& call) {
  if (call.node().is_switch()) return MadStatus::BadMethodAttribute;
  const MadStatus status =
      call.set ? write_ca_setting(call, *cc::decode_ca_setting(call.data())) : MadStatus::Ok;
  cc::encode_ca_setting(call.state.ca_setting, call.data());
  return status;
}

MadStatus answer_table(const Call& call) {
  if (call.node().is_switch()) return MadStatus::BadMethodAttribute;
  if (call.modifier >= call.node().options.cct_blocks) return MadStatus::BadField;
  const MadStatus status =
      call.set ? write_table(call, *cc::decode_cct_block(call.data())) : MadStatus::Ok;
  cc::CctBlock block{.limit = call.state.ccti_limit};
  const std::size_t first = call.modifier * cc::kCctBlockSize;
  for (std::size_t i = 0; i < block.entries.size(); ++i) {
    block.entries[i] = call.state.delay_at(first + i);
  }
  cc::encode_cct_block(block, call.data());
  return status;
}

}  // namespace smd::sim::cca
