// After which turns a packet may stay on its lane without a chance of deadlock.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/layers/lane_graph.h"
#include "smd/routing/orientation.h"

namespace smd {

class TurnRule {
 public:
  virtual ~TurnRule() = default;

  /// What is allowed counts as done, until it is taken back.
  [[nodiscard]] virtual bool may_stay(std::uint32_t in, std::uint32_t out, unsigned lane) = 0;

  [[nodiscard]] virtual std::size_t checkpoint() const { return 0; }

  /// Takes back what was allowed since.
  virtual void roll_back(std::size_t /*checkpoint*/) {}
};

/// Nowhere from down to up: then each lane has up*/down* paths only, of whatever length.
class UpDownRule final : public TurnRule {
 public:
  UpDownRule(const SwitchGraph& graph, const UpDownGraph& oriented);

  [[nodiscard]] bool may_stay(std::uint32_t in, std::uint32_t out, unsigned) override {
    return !is_cut(in, out);
  }

  [[nodiscard]] bool is_cut(std::uint32_t in, std::uint32_t out) const {
    return !is_up_[in] && is_up_[out];
  }

  [[nodiscard]] bool is_up(std::uint32_t edge) const { return is_up_[edge] != 0; }

 private:
  std::vector<char> is_up_;  // by edge
};

/// Wherever that closes no cycle with what was allowed before on the lane.
class CycleRule final : public TurnRule {
 public:
  CycleRule(const SwitchGraph& graph, unsigned lanes);
  CycleRule(const CycleRule&) = delete;

  [[nodiscard]] bool may_stay(std::uint32_t in, std::uint32_t out, unsigned lane) override;

  [[nodiscard]] std::size_t checkpoint() const override { return added_.size(); }

  void roll_back(std::size_t checkpoint) override;

 private:
  struct Added {
    Dependency turn;
    unsigned lane;
  };

  const Dependencies turns_;
  std::vector<LaneGraph> lanes_;
  std::vector<Added> added_;
};

}  // namespace smd
