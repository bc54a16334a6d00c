#include "smd/routing/verify/hop_distance.h"

#include <algorithm>
#include <bit>

namespace smd {
namespace {

constexpr std::size_t kKeptEntries = std::size_t{32} << 20;
constexpr std::uint32_t kNoIsland = 0xffffffff;
constexpr std::size_t kNoBatch = ~std::size_t{0};

}  // namespace

HopDistance::HopDistance(const Fabric& fabric)
    : switches_(fabric.switch_count()), island_(switches_, kNoIsland) {
  std::vector<std::uint32_t> around;
  for (const NodeIdx node : fabric.switch_node) {
    around.clear();
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || fabric.node_of[peer] == node) continue;
      const SwitchIdx sw = fabric.switch_at(peer);
      if (sw != kNone<SwitchIdx>) around.push_back(sw.value());
    }
    std::ranges::sort(around);
    around.erase(std::unique(around.begin(), around.end()), around.end());
    first_neighbour_.push_back(static_cast<std::uint32_t>(neighbours_.size()));
    neighbours_.insert(neighbours_.end(), around.begin(), around.end());
  }
  first_neighbour_.push_back(static_cast<std::uint32_t>(neighbours_.size()));
  find_islands();
}

void HopDistance::find_islands() {
  std::vector<std::uint32_t> queue;
  for (const SwitchIdx start : island_.indices()) {
    if (island_[start] != kNoIsland) continue;
    if (start.value() != 0) one_island_ = false;
    island_[start] = start.value();
    queue.assign(1, start.value());
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const std::uint32_t sw = queue[at];
      for (std::uint32_t i = first_neighbour_[sw]; i < first_neighbour_[sw + 1]; ++i) {
        const SwitchIdx next{neighbours_[i]};
        if (island_[next] != kNoIsland) continue;
        island_[next] = start.value();
        queue.push_back(next.value());
      }
    }
  }
}

std::span<const std::uint16_t> HopDistance::to(SwitchIdx destination) {
  const std::size_t size = kBatch * switches_;
  if (batch_of_slot_.empty()) {
    const std::size_t batches = (switches_ + kBatch - 1) / kBatch;
    batch_of_slot_.assign(std::clamp<std::size_t>(kKeptEntries / size, 1, batches), kNoBatch);
    rows_.resize(batch_of_slot_.size() * size);
  }
  const std::size_t batch = destination.value() / kBatch;
  const std::size_t slot = batch % batch_of_slot_.size();
  std::uint16_t* const rows = rows_.data() + slot * size;
  if (batch_of_slot_[slot] != batch) {
    batch_of_slot_[slot] = batch;
    search(batch, rows);
  }
  return {rows + destination.value() % kBatch * switches_, switches_};
}

// Breadth first from all destinations of the batch together: a word per switch says which of them
// have been there.
void HopDistance::search(std::size_t batch, std::uint16_t* rows) {
  std::fill_n(rows, kBatch * switches_, kNoPath);
  seen_.assign(switches_, 0);
  frontier_.assign(switches_, 0);
  const std::size_t first = batch * kBatch;
  for (std::size_t i = 0; i < kBatch && first + i < switches_; ++i) {
    rows[i * switches_ + first + i] = 0;
    seen_[first + i] = frontier_[first + i] = std::uint64_t{1} << i;
  }
  for (std::uint16_t hops = 1;; ++hops) {
    reached_.assign(switches_, 0);
    for (std::uint32_t sw = 0; sw < switches_; ++sw) {
      if (frontier_[sw] == 0) continue;
      for (std::uint32_t i = first_neighbour_[sw]; i < first_neighbour_[sw + 1]; ++i)
        reached_[neighbours_[i]] |= frontier_[sw];
    }
    bool more = false;
    for (std::uint32_t sw = 0; sw < switches_; ++sw) {
      frontier_[sw] = reached_[sw] & ~seen_[sw];
      seen_[sw] |= frontier_[sw];
      more = more || frontier_[sw] != 0;
      for (std::uint64_t bits = frontier_[sw]; bits != 0; bits &= bits - 1)
        rows[static_cast<std::size_t>(std::countr_zero(bits)) * switches_ + sw] = hops;
    }
    if (!more) return;
  }
}

}  // namespace smd
