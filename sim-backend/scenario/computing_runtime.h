// A runtime on which computing takes virtual time: as long as it took, as long as is set, or none.
#pragma once

#include "smd/runtime/runtime.h"

namespace smd::sim {

struct ComputingTime {
  bool measured = false;  // by the clock of this machine: such a run does not repeat itself
  Duration fixed{0};      // else: of every offloaded job
};

/// Passes everything on to another, and lets offloaded work take its time.
class ComputingRuntime final : public Runtime {
 public:
  /// Requires: `inner` outlives this.
  ComputingRuntime(Runtime& inner, ComputingTime time) : inner_(inner), time_(time) {}

  [[nodiscard]] TimePoint now() const override { return inner_.now(); }

  TimerId call_at(TimePoint when, Task task) override {
    return inner_.call_at(when, std::move(task));
  }

  void cancel(TimerId id) override { inner_.cancel(id); }

  void post(Task task) override { inner_.post(std::move(task)); }

  void offload(Task work, Task then) override;

 private:
  Runtime& inner_;
  ComputingTime time_;
};

}  // namespace smd::sim
