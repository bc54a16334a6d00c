// SLs for paths that change VLs on the way, and the rule that says where they have to.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "smd/routing/graph/acyclic_graph.h"
#include "smd/routing/trees/route_trees.h"
#include "smd/routing/updn/orientation.h"

namespace smd {

// After which turns a packet may stay on its VL without a chance of deadlock.

class TurnRule {
 public:
  virtual ~TurnRule() = default;

  /// What is allowed counts as done, until it is taken back.
  [[nodiscard]] virtual bool may_stay(std::uint32_t in, std::uint32_t out, unsigned vl) = 0;

  [[nodiscard]] virtual std::size_t checkpoint() const { return 0; }

  /// Takes back what was allowed since.
  virtual void roll_back(std::size_t /*checkpoint*/) {}
};

/// Nowhere from down to up: then each VL has up*/down* paths only, of whatever length.
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

/// Wherever that closes no cycle with what was allowed before on the VL.
class CycleRule final : public TurnRule {
 public:
  CycleRule(const SwitchGraph& graph, unsigned vls);
  CycleRule(const CycleRule&) = delete;

  [[nodiscard]] bool may_stay(std::uint32_t in, std::uint32_t out, unsigned vl) override;

  [[nodiscard]] std::size_t checkpoint() const override { return added_.size(); }

  void roll_back(std::size_t checkpoint) override;

 private:
  struct Added {
    Dependency turn;
    unsigned vl;
  };

  const Dependencies turns_;
  std::vector<AcyclicGraph> vls_;
  std::vector<Added> added_;
};

// SLs for paths that change VLs on the way. A switch knows a packet's SL and the ports it comes
// from and goes to, not the VL it is on: paths share an SL only where they agree on the VL
// after every turn that they have in common.

/// The edges of a path in order.
using EdgePath = std::vector<std::uint32_t>;

/// How paths of an SL travel.
class SlPlacer {
 public:
  static constexpr std::uint8_t kNoVl = 15;

  explicit SlPlacer(std::unique_ptr<TurnRule> rule) : rule_(std::move(rule)) {}

  virtual ~SlPlacer() = default;

  /// SLs 0 … sls() - 1 may be given.
  [[nodiscard]] virtual unsigned sls() const = 0;

  /// Adds a path to those of an SL. False where that cannot be; the caller rolls back.
  [[nodiscard]] virtual bool place(const EdgePath& path, std::uint8_t sl) = 0;

  /// The VL after a turn; kNoVl when no path of the SL takes it.
  [[nodiscard]] virtual std::uint8_t vl(std::uint32_t in,
                                        std::uint32_t out,
                                        std::uint8_t sl) const = 0;

  /// Whether SLs travel on the VL of their own number from end to end.
  [[nodiscard]] virtual bool layered() const = 0;

  struct Checkpoint {
    std::size_t entries, rule;
  };

  [[nodiscard]] virtual Checkpoint checkpoint() const { return {0, rule_->checkpoint()}; }

  virtual void roll_back(Checkpoint to) { rule_->roll_back(to.rule); }

 protected:
  std::unique_ptr<TurnRule> rule_;
};

class SlTables final : public SlPlacer {
 public:
  /// VLs 0 … vls - 1, SLs 0 … sls - 1. `wishes`: the VL after each turn (numbered as Dependencies
  /// does) by SL, kNoVl where there is none; empty where nothing is wished.
  SlTables(const SwitchGraph& graph,
           std::unique_ptr<TurnRule> rule,
           unsigned vls,
           unsigned sls,
           std::span<const std::uint8_t> wishes = {});

  [[nodiscard]] unsigned sls() const override { return sls_; }

  /// Leads the path, from VL 0 on, through the table of an SL: to the VL that the table gives
  /// already, else to the one that is wished, else on where the rule allows it, else one VL up.
  /// Never down a VL, and on one VL only as the rule says.
  [[nodiscard]] bool place(const EdgePath& path, std::uint8_t sl) override;

  [[nodiscard]] std::uint8_t vl(std::uint32_t in,
                                std::uint32_t out,
                                std::uint8_t sl) const override {
    return vls_[turns_.between(in, out) * kSls + sl];
  }

  [[nodiscard]] bool layered() const override { return false; }

  [[nodiscard]] Checkpoint checkpoint() const override {
    return {written_.size(), rule_->checkpoint()};
  }

  void roll_back(Checkpoint to) override;

 private:
  [[nodiscard]] bool may_turn(std::uint32_t in, std::uint32_t out, unsigned from, unsigned to);

  Dependencies turns_;
  unsigned count_;
  unsigned sls_;
  std::span<const std::uint8_t> wishes_;
  std::vector<std::uint8_t> vls_;     // turn-major, by SL
  std::vector<std::size_t> written_;  // in order
};

/// One VL per SL, without changes on the way.
class SlLayers final : public SlPlacer {
 public:
  SlLayers(const SwitchGraph& graph, unsigned vls)
      : SlPlacer(std::make_unique<CycleRule>(graph, vls)), count_(vls) {}

  [[nodiscard]] unsigned sls() const override { return count_; }

  [[nodiscard]] bool place(const EdgePath& path, std::uint8_t sl) override;

  [[nodiscard]] std::uint8_t vl(std::uint32_t, std::uint32_t, std::uint8_t sl) const override {
    return sl;
  }

  [[nodiscard]] bool layered() const override { return true; }

 private:
  unsigned count_;
};

/// One SL for each unordered pair of switches, the same in both directions: replies travel with
/// the SL of what they answer.
class PairSls {
 public:
  static constexpr std::uint8_t kUnset = 0xff;

  PairSls() = default;

  explicit PairSls(std::size_t switches) : switches_(switches), sls_(switches * switches, kUnset) {}

  [[nodiscard]] std::uint8_t sl(SwitchIdx a, SwitchIdx b) const {
    return sls_[a.value() * switches_ + b.value()];
  }

  void set_sl(SwitchIdx a, SwitchIdx b, std::uint8_t sl) {
    sls_[a.value() * switches_ + b.value()] = sl;
    sls_[b.value() * switches_ + a.value()] = sl;
  }

  friend bool operator==(const PairSls&, const PairSls&) = default;

 private:
  std::size_t switches_ = 0;
  std::vector<std::uint8_t> sls_;
};

/// The path of `trees` from a switch to another one. False where there is none.
[[nodiscard]] bool find_path(const SwitchGraph& graph,
                             const SwitchTrees& trees,
                             SwitchIdx from,
                             SwitchIdx to,
                             EdgePath& path);

/// Turns from down to up.
[[nodiscard]] std::uint32_t count_cuts(const UpDownRule& rule, const EdgePath& path);

/// Pairs that have paths, hardest first: by how often `difficulty` counts on the way.
struct Pair {
  SwitchIdx a, b;
  std::uint32_t difficulty;
};

/// With cuts of `rule` as the difficulty; without a rule, links.
[[nodiscard]] std::vector<Pair> list_pairs(const SwitchGraph& graph,
                                           const SwitchTrees& trees,
                                           const UpDownRule* rule);

/// Gives every pair the lowest SL that fits both ways, the wished one before others. Returns the
/// pairs that got none; with `stop` only the first.
[[nodiscard]] std::vector<Pair> allocate_sls(const SwitchGraph& graph,
                                             const SwitchTrees& trees,
                                             std::span<const Pair> pairs,
                                             const PairSls* wishes,
                                             bool stop,
                                             SlPlacer& placer,
                                             PairSls& sls);

}  // namespace smd
