// The tables of the subnet management agent (IBA 14.2.5.5, .7 – .12).
#include <algorithm>

#include "sim-backend/agents/sma_attributes.h"
#include "smd/mad/tables.h"

namespace smd::sim {
namespace {

/// Entry `index` of a table that was grown only as far as it was written.
template <class T>
T entry_or(const std::vector<T>& table, std::size_t index, T beyond) {
  return index < table.size() ? table[index] : beyond;
}

template <class T>
void write_entry(std::vector<T>& table, std::size_t index, const T& value, const T& beyond) {
  if (index >= table.size()) {
    if (value == beyond) return;
    table.resize(index + 1, beyond);
  }
  table[index] = value;
}

}  // namespace

MadStatus answer_guid_info(const SmaRequest& request, Smp& smp) {
  PortRegs& port = request.node.management_port(request.arrival);
  const std::size_t first = std::size_t{smp.attribute_modifier} * kGuidBlockSize;
  if (first >= port.info.guid_cap) return MadStatus::BadField;
  if (smp.method == Method::Set) {
    const auto wanted = decode_guid_block(smp.data);
    if (!wanted.has_value()) return MadStatus::BadField;
    for (std::size_t i = 0; i < kGuidBlockSize; ++i) {
      const bool read_only = first + i == 0 || first + i >= port.info.guid_cap;
      if (!read_only) write_entry(port.guids, first + i, (*wanted)[i], Guid{});
    }
  }
  GuidBlock block{};
  for (std::size_t i = 0; i < kGuidBlockSize; ++i) {
    block[i] = entry_or(port.guids, first + i, Guid{});
  }
  encode_guid_block(block, smp.data);
  return MadStatus::Ok;
}

MadStatus answer_p_key_table(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  PortNum number = request.arrival;
  std::size_t cap = node.info.partition_cap;
  if (node.is_switch()) {
    const std::uint32_t selected = smp.attribute_modifier >> 16;
    if (selected > node.num_ports()) return MadStatus::BadField;
    number = PortNum{static_cast<std::uint8_t>(selected)};
    if (selected != 0) cap = node.switch_info.partition_enforcement_cap;
  }
  const std::size_t first = std::size_t{smp.attribute_modifier & 0xffff} * kPKeyBlockSize;
  if (first >= cap) return MadStatus::BadField;
  std::vector<PKey>& table = node.ports[number.value()].p_keys;
  const std::size_t used = std::min(kPKeyBlockSize, cap - first);
  if (smp.method == Method::Set) {
    const auto wanted = decode_p_key_block(smp.data);
    if (!wanted.has_value()) return MadStatus::BadField;
    for (std::size_t i = 0; i < used; ++i) write_entry(table, first + i, (*wanted)[i], PKey{});
  }
  PKeyBlock block{};
  for (std::size_t i = 0; i < used; ++i) block[i] = entry_or(table, first + i, PKey{});
  encode_p_key_block(block, smp.data);
  return MadStatus::Ok;
}

MadStatus answer_sl_to_vl(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  if (!node.is_switch()) {
    if (smp.method == Method::Set) {
      const auto wanted = decode_sl_to_vl(smp.data);
      if (!wanted.has_value()) return MadStatus::BadField;
      node.write_sl_to_vl(request.arrival, PortNum{0}, *wanted);
    }
    encode_sl_to_vl(node.read_sl_to_vl(request.arrival, PortNum{0}), smp.data);
    return MadStatus::Ok;
  }

  const auto [in, out, all_in, all_out] = decode_sl_to_vl_modifier(smp.attribute_modifier);
  const bool wildcard = all_in || all_out;
  // A wildcard names many tables, so it can be written but not read.
  if (wildcard && (node.switch_info.optimized_sl_to_vl == 0 || smp.method != Method::Set)) {
    return MadStatus::BadField;
  }
  if ((!all_in && !node.has_port(in)) || (!all_out && !node.has_port(out))) {
    return MadStatus::BadField;
  }
  if (smp.method == Method::Set) {
    const auto wanted = decode_sl_to_vl(smp.data);
    if (!wanted.has_value()) return MadStatus::BadField;
    const unsigned last = node.num_ports();
    for (unsigned i = all_in ? 0 : in.value(); i <= (all_in ? last : in.value()); ++i) {
      for (unsigned o = all_out ? 0 : out.value(); o <= (all_out ? last : out.value()); ++o) {
        node.write_sl_to_vl(
            PortNum{static_cast<std::uint8_t>(i)}, PortNum{static_cast<std::uint8_t>(o)}, *wanted);
      }
    }
  }
  if (!wildcard) encode_sl_to_vl(node.read_sl_to_vl(in, out), smp.data);
  return MadStatus::Ok;
}

MadStatus answer_vl_arbitration(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  PortNum number = request.arrival;
  if (node.is_switch()) {
    if ((smp.attribute_modifier & 0xffff) > node.num_ports()) return MadStatus::BadField;
    number = decode_vl_arb_modifier(smp.attribute_modifier).port;
  }
  PortRegs& port = node.ports[number.value()];
  const std::uint32_t part = smp.attribute_modifier >> 16;
  if (part < 1 || part > 4) return MadStatus::BadField;
  const bool high = part >= 3;
  const std::size_t first = part % 2 == 1 ? 0 : kVlArbBlockSize;
  const std::size_t cap = high ? port.info.vl_arb_high_cap : port.info.vl_arb_low_cap;
  if (first >= cap) return MadStatus::BadField;

  VlArbTables tables = node.read_vl_arb(number);
  auto& table = high ? tables.high : tables.low;
  const std::size_t used = std::min(kVlArbBlockSize, cap - first);
  if (smp.method == Method::Set) {
    const auto wanted = decode_vl_arb_block(smp.data);
    if (!wanted.has_value()) return MadStatus::BadField;
    for (std::size_t i = 0; i < used; ++i) table[first + i] = (*wanted)[i];
    port.vl_arb = std::make_unique<VlArbTables>(tables);
  }
  VlArbBlock block{};
  for (std::size_t i = 0; i < used; ++i) block[i] = table[first + i];
  encode_vl_arb_block(block, smp.data);
  return MadStatus::Ok;
}

MadStatus answer_lft(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  if (!node.is_switch() || node.switch_info.linear_fdb_cap == 0) {
    return MadStatus::BadMethodAttribute;
  }
  const std::size_t first = std::size_t{smp.attribute_modifier} * kLftBlockSize;
  if (first >= node.switch_info.linear_fdb_cap) return MadStatus::BadField;
  if (smp.method == Method::Set) {
    const auto wanted = decode_lft_block(smp.data);
    if (!wanted.has_value()) return MadStatus::BadField;
    if (node.lft.size() < first + kLftBlockSize) node.lft.resize(first + kLftBlockSize, kNoRoute);
    std::copy(
        wanted->begin(), wanted->end(), node.lft.begin() + static_cast<std::ptrdiff_t>(first));
  }
  LftBlock block{};
  for (std::size_t i = 0; i < kLftBlockSize; ++i) {
    block[i] = entry_or(node.lft, first + i, kNoRoute);
  }
  encode_lft_block(block, smp.data);
  return MadStatus::Ok;
}

MadStatus answer_rft(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  if (!node.is_switch() || node.switch_info.random_fdb_cap == 0) {
    return MadStatus::BadMethodAttribute;
  }
  const std::size_t cap = node.switch_info.random_fdb_cap;
  const std::size_t first = std::size_t{smp.attribute_modifier} * kRftBlockSize;
  if (first >= cap) return MadStatus::BadField;
  const std::size_t used = std::min(kRftBlockSize, cap - first);
  if (smp.method == Method::Set) {
    const auto wanted = decode_rft_block(smp.data);
    if (!wanted.has_value()) return MadStatus::BadField;
    for (std::size_t i = 0; i < used; ++i) {
      write_entry(node.rft, first + i, (*wanted)[i], RftEntry{});
    }
  }
  RftBlock block{};
  for (std::size_t i = 0; i < used; ++i) block[i] = entry_or(node.rft, first + i, RftEntry{});
  encode_rft_block(block, smp.data);
  return MadStatus::Ok;
}

MadStatus answer_mft(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  if (!node.is_switch() || node.switch_info.multicast_fdb_cap == 0) {
    return MadStatus::BadMethodAttribute;
  }
  const std::size_t first = std::size_t{smp.attribute_modifier & 0x1ff} * kMftBlockSize;
  const std::size_t position = smp.attribute_modifier >> 28;
  if (first >= node.switch_info.multicast_fdb_cap || position * 16 > node.num_ports()) {
    return MadStatus::BadField;
  }
  std::vector<std::uint16_t>& table = node.mft[position];
  if (smp.method == Method::Set) {
    const auto wanted = decode_mft_block(smp.data);
    if (!wanted.has_value()) return MadStatus::BadField;
    for (std::size_t i = 0; i < kMftBlockSize; ++i) {
      write_entry(table, first + i, (*wanted)[i], std::uint16_t{0});
    }
  }
  MftBlock block{};
  for (std::size_t i = 0; i < kMftBlockSize; ++i) {
    block[i] = entry_or(table, first + i, std::uint16_t{0});
  }
  encode_mft_block(block, smp.data);
  return MadStatus::Ok;
}

}  // namespace smd::sim
