#include "smd/routing/tables.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace smd {

ForwardingTables::ForwardingTables(std::size_t switches, Lid top)
    : blocks_(top.value() / kLftBlockSize + 1), top_(top) {
  // One block for all: engines walk through a LID's entries of every switch.
  const std::size_t width = blocks_ * kLftBlockSize;
  const auto entries = std::make_shared<PortNum[]>(switches * width, kNoRoute);
  rows_.reserve(switches);
  for (std::size_t sw = 0; sw < switches; ++sw)
    rows_.push_back({std::shared_ptr<PortNum[]>(entries, entries.get() + sw * width), true});
}

ForwardingTables ForwardingTables::without_rows(std::size_t switches, Lid top) {
  const ForwardingTables one{1, top};
  ForwardingTables tables;
  tables.blocks_ = one.blocks_;
  tables.top_ = top;
  tables.rows_.assign(switches, {one.rows_[SwitchIdx{0}].entries, false});
  return tables;
}

void ForwardingTables::set_block(SwitchIdx sw,
                                 std::size_t number,
                                 std::span<const PortNum, kLftBlockSize> egress) {
  if (!is_own(sw) && std::memcmp(block(sw, number).data(), egress.data(), kLftBlockSize) == 0)
    return;
  std::ranges::copy(egress, mutable_row(sw).subspan(number * kLftBlockSize).begin());
}

void ForwardingTables::set_row(SwitchIdx sw, const ForwardingTables& of, SwitchIdx there) {
  if (shares_row(sw, of, there)) return;
  if (blocks_ != of.blocks_) {
    const std::span<const PortNum> from = of.row(there);
    const std::span<PortNum> to = mutable_row(sw);
    std::ranges::copy(from.first(std::min(from.size(), to.size())), to.begin());
    return;
  }
  of.shared_.set();
  rows_[sw] = {of.rows_[there].entries, false};
}

void ForwardingTables::make_own(SwitchIdx sw) {
  if (shared_.get()) {
    for (Row& row : rows_) row.own = false;
    shared_.clear();
  }
  const std::span<const PortNum> held = row(sw);
  auto entries = std::make_shared_for_overwrite<PortNum[]>(held.size());
  std::ranges::copy(held, entries.get());
  rows_[sw] = {std::move(entries), true};
}

bool operator==(const ForwardingTables& a, const ForwardingTables& b) {
  if (a.blocks_ != b.blocks_ || a.top_ != b.top_ || a.switches() != b.switches()) return false;
  for (const SwitchIdx sw : a.rows_.indices()) {
    if (!a.shares_row(sw, b, sw) &&
        std::memcmp(a.row(sw).data(), b.row(sw).data(), a.row(sw).size()) != 0)
      return false;
  }
  return true;
}

std::vector<Lid> list_orphaned_lids(const ForwardingTables& tables, const LidMap& lids) {
  std::array<PortNum, kLftBlockSize> empty;
  empty.fill(kNoRoute);
  std::vector<Lid> out;
  std::vector<std::size_t> unowned;  // of a block
  for (std::size_t block = 0; block < tables.blocks(); ++block) {
    unowned.clear();
    for (std::size_t at = block == 0 ? 1 : 0; at < kLftBlockSize; ++at) {
      const std::size_t lid = block * kLftBlockSize + at;
      if (lids.owner_of(Lid{static_cast<std::uint16_t>(lid)}) == kNone<PortIdx>)
        unowned.push_back(at);
    }
    // Rows that none of the LIDs is in are most of them.
    const std::size_t first = out.size();
    for (std::size_t sw = 0; sw < tables.switches() && !unowned.empty(); ++sw) {
      const auto row = tables.block(SwitchIdx{static_cast<std::uint32_t>(sw)}, block);
      if (std::memcmp(row.data(), empty.data(), kLftBlockSize) == 0) continue;
      std::erase_if(unowned, [&](std::size_t at) {
        if (row[at] == kNoRoute) return false;
        out.push_back(Lid{static_cast<std::uint16_t>(block * kLftBlockSize + at)});
        return true;
      });
    }
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }
  return out;
}

void fill_default_ports(const IndexVector<SwitchIdx, PortNum>& default_port,
                        const LidMap& lids,
                        ForwardingTables& tables) {
  std::vector<char> owned(tables.blocks() * kLftBlockSize, 0);
  for (std::size_t lid = 0; lid < std::min(owned.size(), lids.owner.size()); ++lid)
    owned[lid] = lids.owner[lid] != kNone<PortIdx>;
  for (const SwitchIdx sw : default_port.indices()) {
    const PortNum port = default_port[sw];
    if (port == kNoRoute) continue;
    const std::span<PortNum> row = tables.mutable_row(sw);
    for (std::size_t lid = 0; lid < row.size(); ++lid)
      row[lid] = row[lid] == kNoRoute && owned[lid] ? port : row[lid];
  }
}

}  // namespace smd
