// What a multicast tree is worth: how far packets travel along it and how many channels they take,
// beside what shortest ways would take; and how trees share cables.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "smd/multicast/tree.h"

namespace smd {

/// Ways between switches alone. Sums are over the members that send from the switches looked at.
struct TreeQuality {
  std::uint32_t cables = 0;    // between switches, of the tree
  std::uint64_t senders = 0;   // members that send, at the switches looked at
  std::uint64_t pairs = 0;     // of them with each other receiver that a packet of theirs reaches
  std::uint64_t channels = 0;  // that packets of the senders take, one each
  std::uint64_t hops = 0;      // over all pairs, along the tree
  std::uint32_t depth = 0;     // the most hops of any pair
  std::uint64_t shortest_channels = 0;  // of a tree of shortest ways for each sender
  std::uint64_t shortest_hops = 0;      // over the pairs; as many channels do unicasts take
  std::uint32_t shortest_depth = 0;
  bool sampled = false;  // there are more switches with senders than were looked at

  [[nodiscard]] double mean_hops() const { return of(hops, pairs); }

  [[nodiscard]] double mean_shortest_hops() const { return of(shortest_hops, pairs); }

  [[nodiscard]] double mean_channels() const { return of(channels, senders); }

  [[nodiscard]] double mean_shortest_channels() const { return of(shortest_channels, senders); }

  /// A packet to each receiver in place of one for all.
  [[nodiscard]] double mean_unicast_channels() const { return of(shortest_hops, senders); }

 private:
  static double of(std::uint64_t sum, std::uint64_t count) {
    return count == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(count);
  }
};

/// Packets are followed through the masks, whoever made them, from every switch with senders or
/// from 64 of them, evenly taken. One that comes twice is followed once. Requires: ascending by
/// switch.
[[nodiscard]] TreeQuality measure_tree(const Fabric& fabric,
                                       const std::vector<SwitchMask>& masks,
                                       const std::vector<TreeMember>& members);

/// Trees over each cable that any of them has.
struct LinkShares {
  std::uint32_t cables = 0;
  std::uint64_t trees = 0;           // over all cables
  std::uint32_t most = 0;            // over one
  PortIdx fullest = kNone<PortIdx>;  // the lower end of the first that carries so many

  [[nodiscard]] double mean() const {
    return cables == 0 ? 0.0 : static_cast<double>(trees) / cables;
  }
};

[[nodiscard]] LinkShares measure_cables(const Fabric& fabric,
                                        const std::map<Lid, std::vector<SwitchMask>>& trees);

}  // namespace smd
