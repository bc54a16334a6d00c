// The channels of a switch graph in the form that turn sets need: each knows its ends, its way back
// and its place among the ways out of its switch.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/switch_graph.h"

namespace smd {

using Channel = std::uint32_t;  // position of an edge in the switch graph

inline constexpr Channel kNoChannel = 0xffffffff;

struct Channels {
  explicit Channels(const SwitchGraph& graph);

  [[nodiscard]] std::size_t switches() const { return first.size() - 1; }

  [[nodiscard]] std::size_t size() const { return to.size(); }

  /// Place among the ways out of its switch: what a bit in a row stands for.
  [[nodiscard]] std::uint32_t slot(Channel channel) const {
    return channel - first[from[channel].value()];
  }

  std::vector<std::uint32_t> first;  // by switch, one more than there are
  std::vector<SwitchIdx> from, to;
  std::vector<Channel> reverse;  // the other direction of the same cable
  std::uint32_t words = 1;       // of a row with a bit for every way out of any switch
};

}  // namespace smd
