// Routes in the making as trees, one to each destination: what relief reads and changes.
#pragma once

#include <cstdint>

#include "smd/routing/switch_graph.h"

namespace smd {

class MovableTrees {
 public:
  static constexpr std::uint32_t kNoWay = 0xffffffff;

  virtual ~MovableTrees() = default;

  /// Trees are 0 … count() - 1.
  [[nodiscard]] virtual std::uint32_t count() const = 0;

  [[nodiscard]] virtual SwitchIdx root(std::uint32_t tree) const = 0;

  /// What each path to it weighs; 0: it does not count.
  [[nodiscard]] virtual std::uint32_t draws(std::uint32_t tree) const = 0;

  /// Position in the graph of the edge that the switch takes; kNoWay at the root and where no way
  /// leads there.
  [[nodiscard]] virtual std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const = 0;

  /// Some switch leaves by another port than before the change.
  [[nodiscard]] virtual bool has_changed(std::uint32_t tree) const = 0;

  /// The switch leaves by another port than before the change anyhow.
  [[nodiscard]] virtual bool has_changed(std::uint32_t tree, SwitchIdx sw) const = 0;

  /// Lets the switch take another edge. False, and nothing changes, where the rules of the engine
  /// forbid it. Called only where the way over it is as long as the one in force.
  [[nodiscard]] virtual bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) = 0;
};

}  // namespace smd
