// Whether messages of a multicast algorithm can wait for each other in a circle: every source with
// every set of destinations up to a size, every choice of ways. A message that delivers at one
// destination holds the channel by which it came while it asks for the first to the next one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim-backend/multicast/algorithm.h"
#include "smd/routing/verify/relation.h"

namespace smd::sim {

/// Of what a branch's channels wait for where a message forks.
enum class ForkModel : std::uint8_t {
  Apart,  // nothing of the others: copies go on by themselves
  Next,   // what the others wait for right behind the fork
  Whole,  // every channel further down the others: no copy moves on alone; and of theirs, where two
          // messages that came in by different channels fork to both
};

/// By how many channels a switch's host sends and takes in.
struct HostChannels {
  unsigned count = 0;  // 0: sends by one, takes in by one for each lane into the switch

  /// The channel at `at` that is waited for; nothing where there is one for each lane into it.
  [[nodiscard]] std::optional<RelationChannel> short_at(const LabelledNet& net,
                                                        const MulticastAlgorithm& algorithm,
                                                        Node at) const;
};

/// An algorithm without forks, for check_relation(). The net and the algorithm outlive it.
class MulticastRelation final : public RoutingRelation {
 public:
  MulticastRelation(const LabelledNet& net,
                    const MulticastAlgorithm& algorithm,
                    unsigned most,
                    HostChannels channels);

  void starts(const std::function<void(const RelationPlace&)>& begin) const override;
  bool moves(const RelationPlace& place, std::vector<RelationStep>& out) const override;
  [[nodiscard]] std::optional<RelationChannel> consumes(const RelationPlace& place) const override;

 private:
  /// What is left to visit, the part, the neighbour to leave the source by.
  using Rest = std::tuple<std::vector<Node>, unsigned, Node>;

  [[nodiscard]] std::uint64_t number(const Rest& left) const;

  const LabelledNet& net_;
  const MulticastAlgorithm& algorithm_;
  unsigned most_;
  HostChannels channels_;
  mutable std::map<Rest, std::uint64_t> numbers_;
  mutable std::vector<const Rest*> left_;
};

/// Sets of one to `most` destinations for every source.
[[nodiscard]] double count_sets(const LabelledNet& net, unsigned most);

/// Calls `visit(source, destinations)` for each of them.
void for_each_set(const LabelledNet& net,
                  unsigned most,
                  const std::function<void(Node, std::span<const Node>)>& visit);

/// As check_relation(), also of algorithms that fork. `escape`: adaptive ones by their escapes
/// alone.
[[nodiscard]] RelationVerdict check_multicast(const LabelledNet& net,
                                              const MulticastAlgorithm& algorithm,
                                              unsigned most,
                                              ForkModel branches,
                                              bool escape,
                                              HostChannels channels = {});

}  // namespace smd::sim
