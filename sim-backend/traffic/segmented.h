// Collectives of which each rank passes data on segment by segment: down a tree, or up one and by
// multicast back. A segment goes on when all of it is there.
//
//   binomial-broadcast    rank 0 to all: r to r + 1, r + 2, r + 4 …, as far as these are above
//                         2 r and ranks; whoever has a segment sends it to all of his in that order
//   multicast-broadcast   rank 0 to the group, a packet for all
//   multicast-all-reduce  sums up a binary tree to rank 0, as of tree-all-reduce; the result to the
//                         group. Adding takes no time
#pragma once

#include <vector>

#include "sim-backend/traffic/collective.h"

namespace smd::sim {

class SegmentedCollective final : public CollectiveWorkload {
 public:
  SegmentedCollective(const CollectiveOptions& options, const CollectiveRanks& ranks);

  Picos first(HostNum host) override;
  Picos emit(DataNet& net, HostNum host, Picos now) override;
  void on_delivered(DataNet& net, const Delivery& arrival) override;
  [[nodiscard]] Picos finished() const override;
  [[nodiscard]] Picos done_at(HostNum host) const override;
  [[nodiscard]] std::uint64_t messages() const override;

 private:
  /// Whom a rank sends to, and what it has of those it hears from.
  struct Rank {
    std::vector<std::uint32_t> to;     // ranks; kGroup: all by multicast
    std::vector<std::uint32_t> from;   // ranks that it waits for before it sends
    std::vector<std::uint64_t> bytes;  // from each of them
    std::uint64_t down = 0;            // bytes of the result, by multicast
    std::uint64_t sent = 0;            // messages
    std::uint64_t allowed = 0;
    Picos done_at = kNever;
  };

  [[nodiscard]] std::uint64_t segments() const;
  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t whole_segments(std::uint64_t bytes) const;
  void connect_binomial();
  void connect_reduction();

  CollectiveOptions options_;
  CollectiveRanks ranks_;
  bool down_by_group_;
  std::vector<Rank> of_;
};

}  // namespace smd::sim
