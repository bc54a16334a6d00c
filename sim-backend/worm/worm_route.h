// The way of a worm, written before it sets out: what becomes of it at each node. A line for a
// source route, with hosts in between where it goes through in-transit buffers; a tree where it
// forks; any of several channels where it may choose. What lies beyond a channel may be laid out
// when the worm begins to leave by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim-backend/worm/worm_graph.h"

namespace smd::sim {

inline constexpr std::size_t kMostForks = 6;

/// As a branch's channel: the one that leads to the worm's destination.
inline constexpr ChannelAt kToDestination = kNowhere - 1;

/// As a next step: WormWatcher::lay_out() tells it, by the number beyond this one.
inline constexpr std::uint32_t kToLayOut = 0x80000000;

struct WormChoice {
  ChannelAt out = kNowhere;
  std::uint32_t next = 0;
};

struct WormBranch {
  ChannelAt out = kNowhere;   // at a host: any; it uses the channel that it has free
  std::uint32_t next = 0;     // what becomes of it there
  std::uint32_t first = 0;    // of its choices, the one that it likes best
  std::uint32_t choices = 0;  // with any, which are two or more, `out` is kNowhere
};

struct WormStep {
  std::uint32_t first = 0;  // of its branches
  std::uint8_t count = 0;   // 0: its end, at a host
  std::uint8_t strip = 0;   // flits of the head that end here; at a switch at most one
  bool waits = false;       // at a switch: it is routed by the flit after that one
};

struct WormRoute {
  std::vector<WormStep> steps;  // [0] is that of the source
  std::vector<WormBranch> branches;
  std::vector<WormChoice> choices;

  /// Appends a step with one branch to the step after it.
  void add(ChannelAt out, std::uint8_t strip = 0) {
    steps.push_back({static_cast<std::uint32_t>(branches.size()), 1, strip});
    branches.push_back({out, static_cast<std::uint32_t>(steps.size())});
  }

  /// Appends its end.
  void end() { steps.push_back({}); }
};

}  // namespace smd::sim
