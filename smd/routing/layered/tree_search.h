// Completes the trees in force where a change has cut paths, so that as many as can be keep the SL
// that their hosts were told.
//
// A path that gets another layer has to get another SL, and a host learns of it only when it asks
// for the path again; until then its packets would go by the new entries on the old layer, where
// they may close a cycle. So paths are searched that fit the layer they have, a longer one rather
// than none: from the switches on that still reach the root, the nearest first, each by the first
// next hop that fits.
//
// While tables change packets are wherever old or new entries have led them. A next hop fits if the
// layers take what follows from that: everything that may come to the switch, by either, leaves by
// the new entry, and passes everything behind it.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "smd/routing/layered/layering.h"
#include "smd/routing/layered/tree_grower.h"

namespace smd {

class TreeSearch {
 public:
  /// All outlive it. `grower` is aimed at the root of whatever tree is looked at.
  TreeSearch(const SwitchGraph& graph, TreeGrower& grower, InTrees& trees);

  /// Gives the tree an order of its own where its paths are not the shortest or lead nowhere.
  void put_order(std::uint32_t tree);

  struct Outcome {
    std::vector<std::uint32_t> changed;    // switches with another next hop than before
    std::vector<std::uint32_t> elsewhere;  // switches whose path does not fit its layer
    bool fits = true;                      // everything that may happen until all is written
  };

  /// Gives every switch whose path does not reach the root another next hop. Of equally long paths
  /// the next hop of before, then those that LIDs of lower offsets do not take, then what
  /// carries least. Requires: layering.open().
  [[nodiscard]] Outcome complete(const TreeFamily& family,
                                 std::uint32_t offset,
                                 Layering& layering);

  /// Leads switches whose paths are longer than `most` says, by switch, over shorter ones where
  /// that fits. Returns those that have another next hop.
  std::vector<std::uint32_t> shorten(std::uint32_t tree,
                                     std::span<const std::uint8_t> before,
                                     std::span<const std::uint32_t> most,
                                     Layering& layering);

  /// Whether the switch may take this next hop, in a tree whose next hops were `before`; the layers
  /// then have what follows. Requires: everybody has a next hop, and none that is behind it.
  [[nodiscard]] bool may_take(std::uint32_t tree,
                              std::uint32_t sw,
                              std::uint8_t slot,
                              std::span<const std::uint8_t> before,
                              Layering& layering);

 private:
  struct Candidate {
    std::uint32_t hops;
    bool differs;        // from the next hop of before
    std::uint32_t uses;  // by lower offsets
    std::uint64_t cost;
    std::uint32_t sw;
    std::uint8_t slot;

    [[nodiscard]] auto key() const { return std::tuple(hops, differs, uses, cost, sw, slot); }

    friend bool operator>(const Candidate& a, const Candidate& b) { return a.key() > b.key(); }
  };

  [[nodiscard]] std::uint32_t edge_of(std::uint32_t sw, std::uint8_t slot) const {
    return graph_.first_edge(SwitchIdx{sw}) + slot;
  }

  [[nodiscard]] std::uint32_t next_of(std::uint32_t sw, std::uint8_t slot) const {
    return graph_.edge(edge_of(sw, slot)).to.value();
  }

  /// hops_: to the root, or to where the path ends. Breaks paths that come back to themselves.
  void count_hops(std::uint32_t tree);
  void measure(std::uint32_t tree);
  void push_from(const TreeFamily& family, std::uint32_t offset, std::uint32_t sw);
  void flood(std::uint32_t tree, const Layering& layering);
  [[nodiscard]] bool fits(std::uint32_t sw, std::uint8_t slot, Layering& layering);
  void stage(std::uint32_t sw, std::uint8_t slot, const Layering& layering);
  [[nodiscard]] Candidate choose_refused(std::uint32_t tree,
                                         std::vector<Candidate>& refused,
                                         Layering& layering,
                                         Outcome& completed);
  void place(const TreeFamily& family,
             std::uint32_t offset,
             const Candidate& one,
             Outcome& completed);
  void spread(std::uint32_t channel, std::uint16_t layers, const Layering& layering);
  void grow_layers(std::uint32_t sw, std::uint16_t layers);

  const SwitchGraph& graph_;
  TreeGrower& grower_;
  InTrees& trees_;

  // Of one tree, by switch.
  std::vector<std::uint32_t> hops_;
  std::vector<char> reaches_;            // the root
  std::vector<std::uint64_t> cost_;      // what the channels of the path carry
  std::vector<std::uint8_t> old_, now_;  // next hops: of cut paths, and those that lead to the root
  std::vector<std::uint16_t> layers_;    // of packets that may be there
  bool any_order_ = false;               // old entries may still be in force where new ones are

  std::vector<Candidate> queue_;  // a heap, least first
  std::vector<std::uint32_t> walk_;
  std::vector<Layering::LayeredUse> needed_;
  std::vector<std::pair<std::uint32_t, std::uint16_t>> grown_;   // switch, what it had
  std::vector<std::pair<std::uint32_t, std::uint16_t>> spread_;  // channel, layers
};

}  // namespace smd
