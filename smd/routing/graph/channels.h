// Numbers for what a packet can hold and wait for: channels and dependencies, in the two layouts
// that acyclic graphs and turn sets search.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/graph/switch_graph.h"

namespace smd {

using Channel = std::uint32_t;  // position of an edge in the switch graph
using Dependency = std::uint32_t;

inline constexpr Channel kNoChannel = kNoEdge;

/// A dependency is a channel (a direction of a link between switches) and the next one at the
/// switch it leads to. Those of a channel are a row of bits, one for each channel that leaves that
/// switch, filled up to whole words.
class Dependencies {
 public:
  explicit Dependencies(const SwitchGraph& graph);

  [[nodiscard]] Channel channels() const { return static_cast<Channel>(to_.size()); }

  [[nodiscard]] std::uint32_t words() const { return static_cast<std::uint32_t>(owner_.size()); }

  /// Numbers run up to here, with gaps.
  [[nodiscard]] std::size_t size() const { return owner_.size() * 64; }

  /// `slot`: the position of the next channel among those that leave to(in).
  [[nodiscard]] Dependency at(Channel in, unsigned slot) const {
    return first_word_[in] * 64 + slot;
  }

  [[nodiscard]] Channel in(Dependency dependency) const { return owner_[dependency / 64]; }

  [[nodiscard]] Channel out(Dependency dependency) const {
    const Channel channel = owner_[dependency / 64];
    return first_out_[channel] + (dependency - first_word_[channel] * 64);
  }

  /// Words first_word(c) … first_word(c + 1) - 1 are the row of c.
  [[nodiscard]] std::uint32_t first_word(Channel channel) const { return first_word_[channel]; }

  /// The first channel that leaves the switch which `channel` leads to.
  [[nodiscard]] Channel first_out(Channel channel) const { return first_out_[channel]; }

  /// The dependency of `in` on `out`. Requires: in leads to the switch that out leaves.
  [[nodiscard]] Dependency between(Channel in, Channel out) const {
    return at(in, out - first_out_[in]);
  }

  // Flat copies of what walks read: the graph's own edges are wider.
  [[nodiscard]] std::uint32_t to(Channel channel) const { return to_[channel]; }

  [[nodiscard]] Channel first_of(std::uint32_t sw) const { return first_[sw]; }

 private:
  std::vector<std::uint32_t> to_;          // by channel: a switch
  std::vector<Channel> first_out_;         // by channel
  std::vector<std::uint32_t> first_word_;  // by channel, one more than there are
  std::vector<Channel> owner_;             // by word
  std::vector<Channel> first_;             // by switch, one more than there are
};

/// The channels of a switch graph in the form that turn sets need: each knows its ends, the channel
/// back and its slot among those that leave its switch.
struct Channels {
  explicit Channels(const SwitchGraph& graph);

  [[nodiscard]] std::size_t switches() const { return first.size() - 1; }

  [[nodiscard]] std::size_t size() const { return to.size(); }

  /// Place among the channels out of its switch: what a bit in a row stands for.
  [[nodiscard]] std::uint32_t slot(Channel channel) const {
    return channel - first[from[channel].value()];
  }

  std::vector<std::uint32_t> first;  // by switch, one more than there are
  std::vector<SwitchIdx> from, to;
  std::vector<Channel> reverse;  // the other direction of the same link
  std::uint32_t words = 1;       // of a row with a bit for every channel out of any switch
};

}  // namespace smd
