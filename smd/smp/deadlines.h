// When injected requests time out. Requests injected under one timeout expire in injection order,
// so each timeout has a queue and the whole costs one timer, not one per SMP.
//
// Answered requests leave their deadline behind; `live(id)` tells which still count.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "smd/runtime/runtime.h"

namespace smd {

class Deadlines {
 public:
  void push(TimePoint injected, Duration timeout, std::uint32_t id) {
    if (lanes_.empty() || lanes_.back().timeout != timeout) lanes_.push_back({timeout, {}});
    lanes_.back().entries.push_back({injected + timeout, id});
  }

  /// The earliest deadline that still counts.
  template <class Live>
  [[nodiscard]] std::optional<TimePoint> next(const Live& live) {
    const Lane* lane = earliest(live);
    if (lane == nullptr) return std::nullopt;
    return lane->entries.front().when;
  }

  /// Takes the earliest one that still counts and is due.
  template <class Live>
  [[nodiscard]] std::optional<std::uint32_t> pop_due(TimePoint now, const Live& live) {
    Lane* lane = earliest(live);
    if (lane == nullptr || lane->entries.front().when > now) return std::nullopt;
    const std::uint32_t id = lane->entries.front().id;
    lane->entries.pop_front();
    return id;
  }

 private:
  struct Entry {
    TimePoint when;
    std::uint32_t id;
  };

  struct Lane {
    Duration timeout;
    std::deque<Entry> entries;
  };

  template <class Live>
  Lane* earliest(const Live& live) {
    for (Lane& lane : lanes_) {
      while (!lane.entries.empty() && !live(lane.entries.front().id)) lane.entries.pop_front();
    }
    while (lanes_.size() > 1 && lanes_.front().entries.empty()) lanes_.pop_front();
    Lane* best = nullptr;
    for (Lane& lane : lanes_) {
      if (lane.entries.empty()) continue;
      if (best == nullptr || lane.entries.front().when < best->entries.front().when) best = &lane;
    }
    return best;
  }

  std::deque<Lane> lanes_;
};

}  // namespace smd
