// Entries by the modulo rule: of the next hops that a search allows, the one whose slot the number
// of the LID says. Where that one is missing or not allowed, the numbers that share it are spread
// over all others, each by itself: no number moves for another's loss.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "smd/routing/tree/batch_search.h"
#include "smd/routing/tree/tree_fabric.h"

namespace smd {

class TreeWriter {
 public:
  /// Both outlive it.
  TreeWriter(const TreeFabric& tree, const BatchSearch& search);

  /// What the search was made for; kNone: nobody, as there.
  void begin(std::span<const SwitchIdx> destinations);

  /// Sets the entries of a switch to the LIDs of the destinations whose bits are set in `which`;
  /// kNoRoute where there is no way. With kNote, changed()[lid] says what was not so before.
  template <bool kNote>
  void write(SwitchIdx sw, std::uint64_t which, std::span<PortNum> row);

  [[nodiscard]] const std::vector<char>& changed() const { return changed_; }

 private:
  struct Entry {
    Lid lid;
    PortNum exit;
  };

  using Ports = std::array<PortNum, 256>;  // by slot; kNoRoute: no such cable

  template <bool kNote>
  void put(std::span<PortNum> row, Lid lid, PortNum port);
  template <bool kNote, class PortOf>
  void put_all(std::uint64_t which, std::span<PortNum> row, PortOf&& port_of);
  template <bool kNote>
  void climb(SwitchIdx sw, std::uint64_t which, std::span<PortNum> row);
  template <bool kNote>
  void descend(SwitchIdx sw,
               const BatchSearch::Link& link,
               std::uint64_t which,
               std::span<PortNum> row);

  [[nodiscard]] bool is_regular(SwitchIdx sw) const;

  [[nodiscard]] bool allows(std::uint32_t link, unsigned bit) const {
    return (search_.wanted(link) >> bit & 1) != 0;
  }

  [[nodiscard]] PortNum choose(SwitchIdx sw, unsigned bit, Lid lid) const;
  [[nodiscard]] PortNum choose_up(SwitchIdx sw, unsigned bit, std::uint64_t number) const;
  [[nodiscard]] PortNum choose_down(SwitchIdx sw,
                                    const BatchSearch::Link& link,
                                    std::uint64_t number) const;

  const TreeFabric& tree_;
  const BatchSearch& search_;
  std::vector<std::vector<std::uint8_t>> slot_;  // by level and LID; empty: too many slots
  std::vector<std::uint8_t> kind_;               // by link: leads up, down or neither
  std::array<std::vector<Entry>, BatchSearch::kBatch> entries_;
  IndexVector<SwitchIdx, std::uint8_t> bit_;  // of destinations; kBatch: none
  std::vector<SwitchIdx> destinations_;
  std::vector<char> changed_;  // by LID
};

}  // namespace smd
