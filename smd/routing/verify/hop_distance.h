// How far switches are from each other by link, and which are joined at all. For verification
// only: reads the raw snapshot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

class HopDistance {
 public:
  static constexpr std::uint16_t kNoPath = 0xffff;

  explicit HopDistance(const Fabric& fabric);

  /// Whether links join two switches, over others or not.
  [[nodiscard]] bool joined(SwitchIdx a, SwitchIdx b) const { return island_[a] == island_[b]; }

  [[nodiscard]] bool one_island() const { return one_island_; }

  /// By switch: links to `destination`, kNoPath where there is no path. Good until the next call.
  [[nodiscard]] std::span<const std::uint16_t> to(SwitchIdx destination);

 private:
  /// Searches from so many destinations at once, one bit each.
  static constexpr std::size_t kBatch = 64;

  void find_islands();
  void search(std::size_t batch, std::uint16_t* rows);

  std::size_t switches_;
  std::vector<std::uint32_t> first_neighbour_;
  std::vector<std::uint32_t> neighbours_;
  IndexVector<SwitchIdx, std::uint32_t> island_;  // its first switch
  bool one_island_ = true;
  std::vector<std::size_t> batch_of_slot_;  // batches whose rows are kept, by where
  std::vector<std::uint16_t> rows_;         // slot by slot, destination by destination
  std::vector<std::uint64_t> seen_, frontier_, reached_;
};

}  // namespace smd
