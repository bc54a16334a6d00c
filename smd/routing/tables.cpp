#include "smd/routing/tables.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace smd {

ForwardingTables::ForwardingTables(std::size_t switches, Lid top)
    : blocks_(top.value() / kLftBlockSize + 1), top_(top) {
  while (blocks_ > std::size_t{64} << stretch_) ++stretch_;
  // One block for all: engines walk through a LID's entries of every switch.
  const std::size_t width = blocks_ * kLftBlockSize;
  const auto entries = std::make_shared<PortNum[]>(switches * width, kNoRoute);
  const auto identities = std::make_shared<char[]>(switches);
  rows_.reserve(switches);
  for (std::size_t sw = 0; sw < switches; ++sw)
    rows_.push_back({.entries = std::shared_ptr<PortNum[]>(entries, entries.get() + sw * width),
                     .own = true,
                     .identity = Identity(identities, identities.get() + sw)});
}

ForwardingTables ForwardingTables::without_rows(std::size_t switches, Lid top) {
  ForwardingTables tables{1, top};
  Row row = tables.rows_[SwitchIdx{0}];
  row.own = false;
  tables.rows_.assign(switches, row);
  return tables;
}

void ForwardingTables::set_block(SwitchIdx sw,
                                 std::size_t number,
                                 std::span<const PortNum, kLftBlockSize> egress) {
  if (!is_own(sw)) {
    if (std::memcmp(block(sw, number).data(), egress.data(), kLftBlockSize) == 0) return;
    make_own(sw);
  }
  rows_[sw].note_written(std::uint64_t{1} << (number >> stretch_));
  std::ranges::copy(egress, rows_[sw].entries.get() + number * kLftBlockSize);
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
  rows_[sw] = of.rows_[there];
  rows_[sw].own = false;
}

void ForwardingTables::make_own(SwitchIdx sw) {
  if (shared_.get()) {
    for (Row& row : rows_) row.own = false;
    shared_.clear();
  }
  const std::span<const PortNum> held = row(sw);
  auto entries = std::make_shared_for_overwrite<PortNum[]>(held.size());
  std::ranges::copy(held, entries.get());
  rows_[sw] = {.entries = std::move(entries),
               .own = true,
               .identity = std::make_shared<const char>(),
               .copied_from = rows_[sw].identity};
}

std::optional<std::size_t> ForwardingTables::find_other_block(SwitchIdx sw,
                                                              const ForwardingTables& of,
                                                              SwitchIdx there) const {
  std::optional<std::size_t> found;
  for_each_other_block(sw, of, there, [&](std::size_t block) {
    found = block;
    return false;
  });
  return found;
}

bool operator==(const ForwardingTables& a, const ForwardingTables& b) {
  if (a.blocks_ != b.blocks_ || a.top_ != b.top_ || a.switches() != b.switches()) return false;
  for (const SwitchIdx sw : a.rows_.indices()) {
    if (a.find_other_block(sw, b, sw)) return false;
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
