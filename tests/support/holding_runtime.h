// A runtime that keeps offloaded work back.
#pragma once

#include <utility>
#include <vector>

#include "smd/runtime/runtime.h"

namespace smd::test {

/// Keeps offloaded work back where a test says so.
class HoldingRuntime final : public Runtime {
 public:
  explicit HoldingRuntime(Runtime& inner) : inner_(inner) {}

  [[nodiscard]] TimePoint now() const override { return inner_.now(); }

  TimerId call_at(TimePoint when, Task task) override {
    return inner_.call_at(when, std::move(task));
  }

  void cancel(TimerId id) override { inner_.cancel(id); }

  void post(Task task) override { inner_.post(std::move(task)); }

  void offload(Task work, Task then) override {
    if (!holds) return inner_.offload(std::move(work), std::move(then));
    held.emplace_back(std::move(work), std::move(then));
  }

  void release() {
    holds = false;
    for (auto& [work, then] : std::exchange(held, {}))
      inner_.offload(std::move(work), std::move(then));
  }

  bool holds = false;
  std::vector<std::pair<Task, Task>> held;  // work, and what follows it

 private:
  Runtime& inner_;
};

}  // namespace smd::test
