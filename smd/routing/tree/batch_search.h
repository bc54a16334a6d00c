// Next hops of legal routes to up to 64 destination switches at a time: a bit per destination in
// every word.
//
// Who may be entered from above descends, by the shortest way. All others take the shortest of all
// ways, down or up. A packet that has come down meets only the former, so it never climbs again;
// UpDownSearch, which lets everybody descend who can, leads more detours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/orientation.h"

namespace smd {

class BatchSearch {
 public:
  static constexpr std::size_t kBatch = 64;

  /// All cables from a switch to a neighbour.
  struct Link {
    SwitchIdx to;
    std::uint32_t edge;    // the one with the lowest port: position in the switch graph
    std::uint32_t cables;  // how many
  };

  BatchSearch(const SwitchGraph& graph, const UpDownGraph& up_down);

  /// Bit i stands for destinations[i]; kNone: for nobody. Requires: no more than kBatch, all
  /// different.
  void find(std::span<const SwitchIdx> destinations);

  /// Links of a switch: numbers first_link(sw) … first_link(next(sw)) - 1, upward ones first.
  [[nodiscard]] std::uint32_t first_link(SwitchIdx sw) const { return first_[sw.value()]; }

  [[nodiscard]] std::uint32_t first_down(SwitchIdx sw) const { return middle_[sw.value()]; }

  [[nodiscard]] std::uint32_t end_link(SwitchIdx sw) const { return first_[sw.value() + 1]; }

  [[nodiscard]] const Link& link(std::uint32_t number) const { return links_[number]; }

  [[nodiscard]] std::uint32_t link_of(std::uint32_t edge) const { return link_of_[edge]; }

  /// Destinations that a switch may send to over the link.
  [[nodiscard]] std::uint64_t wanted(std::uint32_t link) const { return wanted_[link]; }

 private:
  /// False when some route is longer than there is room for.
  [[nodiscard]] bool find_within(std::span<const SwitchIdx> destinations);
  [[nodiscard]] bool find_descents(std::span<const SwitchIdx> destinations);
  [[nodiscard]] bool find_climbs();

  [[nodiscard]] std::uint64_t* at(SwitchIdx sw) { return at_.data() + sw.value() * room_; }

  const std::vector<SwitchIdx>& order_;  // upmost first
  std::vector<std::uint32_t> first_, middle_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> link_of_;  // by edge
  std::vector<std::uint64_t> wanted_;   // by link
  std::size_t room_ = 8;                // lengths that at_ has room for
  std::vector<std::uint64_t> at_;       // by switch and length: destinations that far away
  IndexVector<SwitchIdx, std::uint64_t> descends_;  // has an all-down way
  IndexVector<SwitchIdx, std::uint64_t> entered_;   // from above
  std::uint64_t all_ = 0;
  std::vector<SwitchIdx> reached_, next_;
  std::vector<std::uint64_t> lengths_;
};

}  // namespace smd
