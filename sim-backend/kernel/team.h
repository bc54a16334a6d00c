// Workers that go through the same steps side by side.
#pragma once

#include <cstdint>
#include <functional>

namespace smd::sim {

class Team {
 public:
  virtual ~Team() = default;

  /// Calls work(0) to work(count - 1) side by side; returns when all have ended.
  virtual void run(unsigned count, const std::function<void(unsigned)>& work) = 0;

  /// Within work: waits until all of them ask, and tells all of them the least of what they bring.
  /// What one did before it asked, the others see afterwards.
  [[nodiscard]] virtual std::int64_t least(std::int64_t own) = 0;
};

}  // namespace smd::sim
