#include "smd/plan/confirmed_tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace smd {

void ConfirmedTables::confirm(Guid node, std::size_t number, const LftBlock& block) {
  if (const auto held = find_block(node, number); held && *held == block) return;
  Table& table = tables_[node];
  table.forget_row();
  if (table.known.size() <= number) {
    table.blocks.resize(number + 1);
    table.known.resize(number + 1, false);
  }
  table.blocks[number] = block;
  table.known[number] = true;
}

void ConfirmedTables::Table::forget_row() {
  if (has_row() && blocks.empty()) {
    blocks.resize(known.size());
    for (std::size_t number = 0; number < row.blocks(); ++number)
      std::ranges::copy(row.block(SwitchIdx{0}, number), blocks[number].begin());
  }
  row = {};
}

void ConfirmedTables::forget_block(Guid node, std::size_t number) {
  const auto table = tables_.find(node);
  if (table == tables_.end() || number >= table->second.known.size()) return;
  table->second.forget_row();
  table->second.known[number] = false;
}

void ConfirmedTables::forget(Guid node) { tables_.erase(node); }

bool ConfirmedTables::knows(Guid node) const { return tables_.contains(node); }

std::optional<LftBlock> ConfirmedTables::find_block(Guid node, std::size_t number) const {
  const auto found = tables_.find(node);
  if (found == tables_.end()) return std::nullopt;
  const PortNum* const held = found->second.find_block(number);
  if (held == nullptr) return std::nullopt;
  LftBlock block;
  std::copy_n(held, kLftBlockSize, block.begin());
  return block;
}

template <class Visit>
void ConfirmedTables::Table::for_each_other_block(const ForwardingTables& tables,
                                                  SwitchIdx sw,
                                                  Visit&& visit) const {
  if (has_row() && row.blocks() == tables.blocks())
    return row.for_each_other_block(SwitchIdx{0}, tables, sw, std::forward<Visit>(visit));
  for (std::size_t number = 0; number < tables.blocks(); ++number) {
    const PortNum* const held = find_block(number);
    if ((held == nullptr ||
         std::memcmp(held, tables.block(sw, number).data(), kLftBlockSize) != 0) &&
        !visit(number))
      return;
  }
}

std::optional<std::size_t> ConfirmedTables::Table::find_other_block(const ForwardingTables& tables,
                                                                    SwitchIdx sw) const {
  std::optional<std::size_t> found;
  for_each_other_block(tables, sw, [&](std::size_t number) {
    found = number;
    return false;
  });
  return found;
}

std::optional<std::size_t> ConfirmedTables::find_other_block(Guid node,
                                                             const ForwardingTables& tables,
                                                             SwitchIdx sw) const {
  const auto table = tables_.find(node);
  return table == tables_.end() ? Table{}.find_other_block(tables, sw)
                                : table->second.find_other_block(tables, sw);
}

bool ConfirmedTables::knows_all(Guid node, std::size_t blocks) const {
  const auto table = tables_.find(node);
  if (table == tables_.end()) return blocks == 0;
  const std::vector<bool>& known = table->second.known;
  if (table->second.row.blocks() >= blocks) return true;
  return known.size() >= blocks && std::all_of(known.begin(),
                                               known.begin() + static_cast<std::ptrdiff_t>(blocks),
                                               [](bool each) { return each; });
}

void ConfirmedTables::share_row(Guid node, const ForwardingTables& tables, SwitchIdx sw) {
  const auto found = tables_.find(node);
  if (found == tables_.end()) return;
  Table& table = found->second;
  if (table.has_row() && table.row.shares_row(SwitchIdx{0}, tables, sw)) return;
  if (table.find_other_block(tables, sw)) return;
  table.forget_row();
  table.row = ForwardingTables::without_rows(1, tables.top());
  table.row.set_row(SwitchIdx{0}, tables, sw);
  if (table.known.size() == tables.blocks()) table.blocks = {};
}

bool ConfirmedTables::shares_row(Guid node, const ForwardingTables& tables, SwitchIdx sw) const {
  const auto table = tables_.find(node);
  return table != tables_.end() && table->second.has_row() &&
         table->second.row.shares_row(SwitchIdx{0}, tables, sw);
}

std::vector<TableBlock> diff_tables(const Fabric& fabric,
                                    const ForwardingTables& wanted,
                                    const ConfirmedTables& confirmed) {
  std::vector<TableBlock> dirty;
  for (std::uint32_t block = 0; block < wanted.blocks(); ++block) {
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      const std::optional<LftBlock> held =
          confirmed.find_block(fabric.node_guid[fabric.switch_node[sw]], block);
      if (!held || !std::ranges::equal(*held, wanted.block(sw, block)))
        dirty.push_back({sw, block});
    }
  }
  return dirty;
}

double changed_entries_pct(const Fabric& fabric,
                           const ForwardingTables& wanted,
                           const ConfirmedTables& confirmed) {
  std::uint64_t changed = 0;
  const ConfirmedTables::Table nothing;
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    if (confirmed.shares_row(guid, wanted, sw)) continue;
    const auto found = confirmed.tables_.find(guid);
    const ConfirmedTables::Table& table =
        found == confirmed.tables_.end() ? nothing : found->second;
    table.for_each_other_block(wanted, sw, [&](std::size_t block) {
      const PortNum* const held = table.find_block(block);
      const auto row = wanted.block(sw, block);
      for (std::size_t i = block == 0 ? 1 : 0; i < kLftBlockSize; ++i) {
        if (block * kLftBlockSize + i > wanted.top().value()) break;
        if (held == nullptr || held[i] != row[i]) ++changed;
      }
      return true;
    });
  }
  const double entries = static_cast<double>(fabric.switch_count()) * wanted.top().value();
  return entries == 0 ? 0.0 : 100.0 * static_cast<double>(changed) / entries;
}

HeldTables collect_held_tables(const Fabric& fabric,
                               Lid top,
                               const ConfirmedTables& confirmed,
                               const ForwardingTables* like) {
  const bool may_share =
      like != nullptr && like->top() == top && like->switches() == fabric.switch_count();
  HeldTables held{.lft = may_share ? *like : ForwardingTables{fabric.switch_count(), top},
                  .unknown = {}};
  const ConfirmedTables::Table nothing;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const auto found = confirmed.tables_.find(fabric.node_guid[fabric.switch_node[sw]]);
    const ConfirmedTables::Table& table =
        found == confirmed.tables_.end() ? nothing : found->second;
    if (table.row.blocks() == held.lft.blocks()) {
      held.lft.set_row(sw, table.row, SwitchIdx{0});
      continue;
    }
    if (may_share) std::ranges::fill(held.lft.mutable_row(sw), kNoRoute);
    const std::size_t first_dead = fabric.switch_info[sw].linear_fdb_top / kLftBlockSize + 1u;
    const bool forwards = fabric.switch_info[sw].linear_fdb_top != 0;
    for (std::uint32_t number = 0; number < held.lft.blocks(); ++number) {
      if (number < table.known.size() && table.known[number]) {
        held.lft.set_block(sw,
                           number,
                           table.blocks.empty()
                               ? table.row.block(SwitchIdx{0}, number)
                               : std::span<const PortNum, kLftBlockSize>(table.blocks[number]));
      } else if (forwards && number < first_dead) {
        held.unknown.push_back({sw, number});
      }
    }
  }
  return held;
}

ConfirmedSlToVl::OfSwitch ConfirmedSlToVl::of(Guid node) const {
  OfSwitch rows;
  rows.entries_ = &entries_;
  const auto at = switches_.find(node);
  if (at != switches_.end()) rows.pairs_ = &at->second;
  return rows;
}

void ConfirmedSlToVl::confirm(Guid node, PortNum in, PortNum out, const SlToVl& row) {
  PortPairs& pairs = switches_[node];
  widen(pairs, std::max(in.value(), out.value()) + std::size_t{1});
  const auto [at, is_new] = number_.try_emplace(row, static_cast<std::uint32_t>(entries_.size()));
  if (is_new) entries_.push_back(row);
  pairs.index[in.value() * pairs.width + out.value()] = at->second;
}

void ConfirmedSlToVl::forget_entry(Guid node, PortNum in, PortNum out) {
  const auto at = switches_.find(node);
  if (at == switches_.end()) return;
  PortPairs& pairs = at->second;
  if (in.value() < pairs.width && out.value() < pairs.width)
    pairs.index[in.value() * pairs.width + out.value()] = kUnknown;
}

void ConfirmedSlToVl::widen(PortPairs& pairs, std::size_t width) const {
  if (width <= pairs.width) return;
  std::vector<std::uint32_t> index(width * width, kUnknown);
  for (std::size_t in = 0; in < pairs.width; ++in) {
    const auto from = pairs.index.begin() + static_cast<std::ptrdiff_t>(in * pairs.width);
    std::copy(from,
              from + static_cast<std::ptrdiff_t>(pairs.width),
              index.begin() + static_cast<std::ptrdiff_t>(in * width));
  }
  pairs = {width, std::move(index)};
}

}  // namespace smd
