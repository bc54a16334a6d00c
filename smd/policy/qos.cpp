#include "smd/policy/qos.h"

#include <algorithm>
#include <cstddef>

#include "smd/policy/port_policy.h"

namespace smd {
namespace {

constexpr VlArbPart kParts[] = {
    VlArbPart::LowFirst, VlArbPart::LowSecond, VlArbPart::HighFirst, VlArbPart::HighSecond};

/// Data VLs that both ends of the port's link have; port 0 has no link.
unsigned common_vls(const Fabric& fabric, PortIdx port) {
  unsigned vls = std::max(1u, data_vls(fabric.port_info[port].vl_cap));
  const PortIdx peer = fabric.peer[port];
  if (peer != kNone<PortIdx>)
    vls = std::min(vls, std::max(1u, data_vls(fabric.port_info[peer].vl_cap)));
  return vls;
}

Vl fitted(Vl vl, unsigned vls) {
  return vl == kManagementVl ? vl : Vl{static_cast<std::uint8_t>(vl.value() % vls)};
}

/// Ports without the capability have one VL for all SLs, and no table.
bool maps_sls(const Fabric& fabric, PortIdx out) {
  const NodeIdx node = fabric.node_of[out];
  const PortIdx agent = fabric.is_switch(node) ? fabric.port_of(node, PortNum{0}) : out;
  return (fabric.port_info[agent].capability_mask & port_cap::kIsSlMappingSupported) != 0;
}

/// Entries of the part that the port has.
std::size_t entries_of(const PortInfo& info, VlArbPart part) {
  const bool is_low = part == VlArbPart::LowFirst || part == VlArbPart::LowSecond;
  const bool is_second = part == VlArbPart::LowSecond || part == VlArbPart::HighSecond;
  const std::size_t all = is_low ? info.vl_arb_low_cap : info.vl_arb_high_cap;
  const std::size_t before = is_second ? kVlArbBlockSize : 0;
  return all <= before ? 0 : std::min(all - before, kVlArbBlockSize);
}

void add_rows(const Fabric& fabric,
              PortIdx out,
              const SlToVl& row,
              const CheckFilter& is_due,
              std::vector<TableCheck>& checks) {
  SmpData data{};
  encode_sl_to_vl(row, data);
  const auto repair = [data](const SmpData& now) {
    return now == data ? std::nullopt : std::optional(data);
  };
  const NodeIdx node = fabric.node_of[out];
  if (!fabric.is_switch(node)) {
    if (is_due(out, AttributeId::SlToVlMappingTable, 0))
      checks.push_back({out, AttributeId::SlToVlMappingTable, 0, repair});
    return;
  }
  for (PortIdx in : fabric.ports_of(node)) {
    if (!is_managed(fabric, in)) continue;
    const std::uint32_t modifier =
        encode_modifier(SlToVlModifier{.in = fabric.number_of(in), .out = fabric.number_of(out)});
    if (is_due(out, AttributeId::SlToVlMappingTable, modifier))
      checks.push_back({out, AttributeId::SlToVlMappingTable, modifier, repair});
  }
}

void add_part(const Fabric& fabric,
              PortIdx port,
              VlArbPart part,
              const VlArbBlock& block,
              const CheckFilter& is_due,
              std::vector<TableCheck>& checks) {
  const bool is_switch = fabric.is_switch(fabric.node_of[port]);
  const std::uint32_t modifier = encode_modifier(
      VlArbModifier{.part = part, .port = is_switch ? fabric.number_of(port) : PortNum{0}});
  if (!is_due(port, AttributeId::VlArbitrationTable, modifier)) return;
  SmpData data{};
  encode_vl_arb_block(block, data);
  const std::size_t entries = entries_of(fabric.port_info[port], part);
  checks.push_back({port,
                    AttributeId::VlArbitrationTable,
                    modifier,
                    [data, entries](const SmpData& now) -> std::optional<SmpData> {
                      // Beyond the table's capacity the answer is not defined.
                      const auto end = data.begin() + static_cast<std::ptrdiff_t>(2 * entries);
                      if (std::equal(data.begin(), end, now.begin())) return std::nullopt;
                      return data;
                    }});
}

}  // namespace

bool starves(const QosPolicy& policy, PortKind kind, Vl vl) {
  const auto& high = policy.high_of(kind);
  const auto& low = policy.low_of(kind);
  if (!high || !low) return false;
  const auto serves = [&](const VlArbEntry& entry) { return entry.vl == vl && entry.weight > 0; };
  return std::ranges::none_of(*high, serves) && std::ranges::none_of(*low, serves);
}

unsigned count_served_vls(const QosPolicy& policy) {
  constexpr unsigned kDataVls = 15;
  for (unsigned vl = 1; vl < kDataVls; ++vl) {
    for (std::size_t kind = 0; kind < kPortKinds; ++kind) {
      if (starves(policy, static_cast<PortKind>(kind), Vl{static_cast<std::uint8_t>(vl)}))
        return vl;
    }
  }
  return kDataVls;
}

bool QosPolicy::empty() const {
  return QosTables::empty() && std::ranges::all_of(kinds, &QosTables::empty);
}

std::optional<SlToVl> wanted_row(const Fabric& fabric, const QosPolicy& policy, PortIdx out) {
  std::optional<SlToVl> row = policy.row_of(kind_of(fabric, out));
  if (!row || !is_managed(fabric, out) || !is_data_port(fabric, out) || !maps_sls(fabric, out))
    return std::nullopt;
  const unsigned vls = common_vls(fabric, out);
  for (Vl& vl : *row) vl = fitted(vl, vls);
  return row;
}

std::optional<VlArbBlock> wanted_arbitration(const Fabric& fabric,
                                             const QosPolicy& policy,
                                             PortIdx port,
                                             VlArbPart part) {
  const bool is_low = part == VlArbPart::LowFirst || part == VlArbPart::LowSecond;
  const bool is_second = part == VlArbPart::LowSecond || part == VlArbPart::HighSecond;
  const PortKind kind = kind_of(fabric, port);
  const auto& wanted = is_low ? policy.low_of(kind) : policy.high_of(kind);
  const std::size_t entries = entries_of(fabric.port_info[port], part);
  if (!wanted || !is_managed(fabric, port) || !is_data_port(fabric, port) || entries == 0)
    return std::nullopt;
  VlArbBlock block{};
  const unsigned vls = common_vls(fabric, port);
  const std::size_t from = is_second ? kVlArbBlockSize : 0;
  for (std::size_t i = 0; i < entries && from + i < wanted->size(); ++i) {
    block[i] = (*wanted)[from + i];
    block[i].vl = fitted(block[i].vl, vls);
  }
  return block;
}

std::vector<TableCheck> build_qos_checks(const Fabric& fabric,
                                         const QosPolicy& policy,
                                         const CheckFilter& is_due) {
  std::vector<TableCheck> checks;
  for (PortIdx port : fabric.peer.indices()) {
    if (const auto row = wanted_row(fabric, policy, port))
      add_rows(fabric, port, *row, is_due, checks);
    for (const VlArbPart part : kParts) {
      if (const auto block = wanted_arbitration(fabric, policy, port, part))
        add_part(fabric, port, part, *block, is_due, checks);
    }
  }
  return checks;
}

}  // namespace smd
