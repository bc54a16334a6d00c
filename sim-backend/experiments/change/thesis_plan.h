// The plans behind Tables 23 and 24, made from the graph alone by the rules of the thesis: a link
// is walked upwards towards the smaller distance that was stored when a switch was discovered; a
// switch with two ports upwards is a cut node; turns between such ports are forbidden.
#pragma once

#include <array>
#include <map>
#include <string_view>

#include "sim-backend/experiments/change/subnet.h"

namespace smd::sim {

/// In the order of the published columns.
enum class Mechanism : std::uint8_t { Full, Ports, Dependencies, None };

inline constexpr std::array<std::string_view, 4> kMechanismNames = {
    "full", "cut-ports", "cut-dependencies", "none"};

class ThesisPlan {
 public:
  explicit ThesisPlan(const Subnet& subnet) : subnet_(subnet) {}

  /// After each discovery. Known switches keep their distance when the network grew; when it
  /// shrank, what was re-routed gets its new one.
  void learn();

  /// What the mechanism does about the change.
  [[nodiscard]] TransitionPlan plan(Mechanism mechanism) const;

  /// One phase that blocks what the mechanism keeps blocked.
  [[nodiscard]] TransitionPlan first_blocks() const;

 private:
  [[nodiscard]] bool leads_up(PortIdx port) const;
  [[nodiscard]] bool is_lower_up_port(PortIdx port) const;
  [[nodiscard]] bool initialises(SwitchIdx sw, PortNum port) const;
  [[nodiscard]] bool is_blocked(const Turn& turn) const;
  [[nodiscard]] std::vector<Turn> turns() const;
  [[nodiscard]] std::vector<Turn> forbidden_turns() const;

  const Subnet& subnet_;
  std::map<Guid, std::size_t> stored_;  // distance of each switch
};

}  // namespace smd::sim
