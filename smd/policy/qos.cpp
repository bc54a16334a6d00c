#include "smd/policy/qos.h"

#include <algorithm>
#include <cstddef>

#include "smd/mad/modifiers.h"
#include "smd/policy/port_policy.h"

namespace smd {
namespace {

std::optional<SmpData> unless_equal(const SmpData& now, const SmpData& wanted) {
  if (now == wanted) return std::nullopt;
  return wanted;
}

/// Data lanes that both ends of the port's link have; port 0 has no link.
unsigned common_vls(const Fabric& fabric, PortIdx port) {
  unsigned vls = std::max(1u, data_vls(fabric.port_info[port].vl_cap));
  const PortIdx peer = fabric.peer[port];
  if (peer != kNone<PortIdx>)
    vls = std::min(vls, std::max(1u, data_vls(fabric.port_info[peer].vl_cap)));
  return vls;
}

SmpData fitted_row(const SlToVl& wanted, unsigned vls) {
  SlToVl row = wanted;
  for (Vl& vl : row) {
    if (vl != kManagementVl) vl = Vl{static_cast<std::uint8_t>(vl.value() % vls)};
  }
  SmpData data{};
  encode_sl_to_vl(row, data);
  return data;
}

void add_sl_to_vl(const Fabric& fabric,
                  PortIdx out,
                  const SlToVl& wanted,
                  std::vector<TableCheck>& checks) {
  const NodeIdx node = fabric.node_of[out];
  const SmpData row = fitted_row(wanted, common_vls(fabric, out));
  const auto repair = [row](const SmpData& now) { return unless_equal(now, row); };
  if (!fabric.is_switch(node)) {
    checks.push_back({out, AttributeId::SlToVlMappingTable, 0, repair});
    return;
  }
  for (PortIdx in : fabric.ports_of(node)) {
    if (!is_managed(fabric, in)) continue;
    checks.push_back(
        {out,
         AttributeId::SlToVlMappingTable,
         encode_modifier(SlToVlModifier{.in = fabric.number_of(in), .out = fabric.number_of(out)}),
         repair});
  }
}

/// `first_part` is 1 for the low table, 3 for the high one; each part holds 32 entries.
void add_arbitration(const Fabric& fabric,
                     PortIdx port,
                     const std::vector<VlArbEntry>& wanted,
                     std::uint8_t first_part,
                     unsigned capacity,
                     std::vector<TableCheck>& checks) {
  for (unsigned part = 0;
       part * kVlArbBlockSize < std::min<std::size_t>(capacity, 2 * kVlArbBlockSize);
       ++part) {
    const std::size_t entries = std::min(capacity - part * kVlArbBlockSize, kVlArbBlockSize);
    VlArbBlock block{};
    for (std::size_t i = 0; i < entries && part * kVlArbBlockSize + i < wanted.size(); ++i) {
      block[i] = wanted[part * kVlArbBlockSize + i];
    }
    SmpData row{};
    encode_vl_arb_block(block, row);
    const bool is_switch = fabric.is_switch(fabric.node_of[port]);
    checks.push_back(
        {port,
         AttributeId::VlArbitrationTable,
         encode_modifier(VlArbModifier{.part = static_cast<VlArbPart>(first_part + part),
                                       .port = is_switch ? fabric.number_of(port) : PortNum{0}}),
         [row, entries](const SmpData& now) -> std::optional<SmpData> {
           // Beyond the table's capacity the answer is not defined.
           if (std::equal(row.begin(),
                          row.begin() + static_cast<std::ptrdiff_t>(2 * entries),
                          now.begin())) {
             return std::nullopt;
           }
           return row;
         }});
  }
}

}  // namespace

std::vector<TableCheck> build_qos_checks(const Fabric& fabric, const QosPolicy& policy) {
  std::vector<TableCheck> checks;
  for (PortIdx port : fabric.peer.indices()) {
    if (!is_managed(fabric, port)) continue;
    const PortInfo& info = fabric.port_info[port];
    if (policy.sl_to_vl) add_sl_to_vl(fabric, port, *policy.sl_to_vl, checks);
    if (fabric.number_of(port) == PortNum{0}) continue;
    if (policy.low) add_arbitration(fabric, port, *policy.low, 1, info.vl_arb_low_cap, checks);
    if (policy.high) add_arbitration(fabric, port, *policy.high, 3, info.vl_arb_high_cap, checks);
  }
  return checks;
}

}  // namespace smd
