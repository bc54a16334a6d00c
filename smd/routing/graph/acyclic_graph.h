// The channel dependencies of one virtual layer, kept free of cycles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/graph/channels.h"

namespace smd {

// Which channel may wait for which on one layer: kept free of cycles while it grows.
//
// The order of the channels is topological at all times, so most dependencies cost a comparison;
// one against the order moves only the channels between its ends (Marchetti-Spaccamela, Nanni and
// Rohnert, 1996).

class AcyclicGraph {
 public:
  /// Empty. `dependencies` outlives it.
  explicit AcyclicGraph(const Dependencies& dependencies);

  [[nodiscard]] bool has(Dependency dependency) const {
    return (bits_[dependency / 64] >> (dependency % 64) & 1) != 0;
  }

  /// Without looking at what it closes: sort() has to follow.
  void set(Dependency dependency) { bits_[dependency / 64] |= bit(dependency); }

  /// Taking away closes nothing, so the order stands.
  void remove(Dependency dependency) {
    bits_[dependency / 64] &= ~bit(dependency);
    forget_refused();
  }

  /// Forgets the dependencies and keeps the order.
  void clear();

  /// Orders the channels anew. False, and the order as it was, if there is a cycle.
  bool sort();

  /// The channels that sort() could not order, after it has failed: those of cycles and those
  /// behind them. By channel.
  [[nodiscard]] const std::vector<char>& unsorted() const { return unsorted_; }

  enum class Answer : std::uint8_t { Added, Closes, TooMuchWork };

  /// Adds unless it closes a cycle. Requires: the order is topological.
  /// `budget` goes down by the channels looked at; when it is used up the answer may be
  /// TooMuchWork.
  Answer add(Dependency dependency, std::uint64_t& budget);

  /// Adds all or, when that would close a cycle or take too much work, nothing.
  /// A dependency that was refused alone is refused at once until something is taken away.
  bool add_all(std::span<const Dependency> wanted, std::uint64_t& budget);

 private:
  static std::uint64_t bit(Dependency dependency) { return std::uint64_t{1} << (dependency % 64); }

  [[nodiscard]] bool search_ahead(Channel from, Channel target, std::uint64_t& budget);
  void move_behind(Channel from, Channel to);
  void forget_refused();

  const Dependencies& dependencies_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> place_;  // by channel: in the topological order
  std::vector<Channel> at_place_;
  std::vector<char> unsorted_;
  std::vector<std::uint64_t> refused_;  // as bits_; empty: nothing yet

  // Scratch.
  std::vector<char> seen_;
  std::vector<Channel> ahead_;
  std::vector<Channel> stack_;
  std::vector<Channel> moved_;
  std::vector<Dependency> added_;
};

// Breaking the cycles of a layer where it costs least.

/// Leaves in the layer a set of dependencies without cycles, taken greedily: those with most uses
/// first, equal ones by number. Those that are on no cycle all stay.
/// `uses`: by dependency; those in the layer have at least one.
/// Requires: sort() has just failed. Ensures: the order is topological.
/// Where the search for cycles takes longer than `budget`, more than necessary go.
void keep_heaviest(const Dependencies& dependencies,
                   std::span<const std::uint32_t> uses,
                   AcyclicGraph& layer,
                   std::uint64_t budget);

}  // namespace smd
