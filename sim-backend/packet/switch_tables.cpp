#include "sim-backend/packet/switch_tables.h"

#include <algorithm>

#include "sim-backend/agents/forwarding.h"

namespace smd::sim {
namespace {

std::uint64_t pack(const SlToVl& map) {
  std::uint64_t row = 0;
  for (std::size_t sl = 0; sl < map.size(); ++sl) {
    row |= std::uint64_t{map[sl].value() & 15u} << (4 * sl);
  }
  return row;
}

}  // namespace

NodeTables::NodeTables(const NodeState& node) {
  compile_sl_to_vl(node);
  if (!node.is_switch()) return;
  compile_routes(node);
  compile_groups(node);
  switch_life_ = life_time(node.switch_info.life_time_value);
}

void NodeTables::compile_routes(const NodeState& node) {
  std::size_t size = std::min<std::size_t>(node.lft.size(), node.switch_info.linear_fdb_top + 1u);
  if (node.options.rft_cap > 0) {
    // Beyond its entries a random table has its default port for every LID.
    beyond_ = node.switch_info.default_port.value();
    size = 1;
    for (const RftEntry& entry : node.rft) {
      if (!entry.valid) continue;
      const std::size_t end = ((entry.lid.value() >> entry.lmc) + std::size_t{1}) << entry.lmc;
      size = std::max(size, std::min<std::size_t>(end, kFirstMulticast));
    }
  }
  lft_.resize(size);
  for (std::size_t lid = 0; lid < size; ++lid) {
    lft_[lid] = find_route(node, Lid{static_cast<std::uint16_t>(lid)}).value();
  }
}

void NodeTables::compile_groups(const NodeState& node) {
  for (std::size_t position = 0; position < node.mft.size(); ++position) {
    for (std::size_t i = 0; i < node.mft[position].size(); ++i) {
      const auto mlid = static_cast<std::uint16_t>(kFirstMulticast + i);
      const std::uint64_t ports = find_copies(node, Lid{mlid}, position);
      if (ports == 0) continue;
      auto at = std::ranges::lower_bound(groups_, mlid, {}, &Group::mlid);
      if (at == groups_.end() || at->mlid != mlid) at = groups_.insert(at, {.mlid = mlid});
      at->ports[position / 4] |= ports << (16 * (position % 4));
    }
  }
}

PortMask NodeTables::find_group(std::uint16_t dlid) const {
  const auto at = std::ranges::lower_bound(groups_, dlid, {}, &Group::mlid);
  return at == groups_.end() || at->mlid != dlid ? PortMask{} : at->ports;
}

void NodeTables::compile_sl_to_vl(const NodeState& node) {
  width_ = node.is_switch() ? node.ports.size() : 1;
  const PortNum first{0};
  uniform_sl_to_vl_ = pack(node.read_sl_to_vl(first, first));
  if (node.sl_to_vl.empty()) return;
  const std::size_t n = node.ports.size();
  for (std::size_t in = 0; in < n; ++in) {
    for (std::size_t out = 0; out < width_; ++out) {
      sl_to_vl_.push_back(pack(node.read_sl_to_vl(PortNum{static_cast<std::uint8_t>(in)},
                                                  PortNum{static_cast<std::uint8_t>(out)})));
    }
  }
  if (std::ranges::all_of(sl_to_vl_,
                          [this](std::uint64_t row) { return row == sl_to_vl_.front(); })) {
    uniform_sl_to_vl_ = sl_to_vl_.front();
    sl_to_vl_.clear();
  }
}

}  // namespace smd::sim
