#include "sim-backend/scenario/computing_runtime.h"

namespace smd::sim {

void ComputingRuntime::offload(Task work, Task then) {
  inner_.post([this, work = std::move(work), then = std::move(then)]() mutable {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const Duration took =
        time_.measured ? Duration(std::chrono::steady_clock::now() - begin) : time_.fixed;
    inner_.call_at(inner_.now() + took, std::move(then));
  });
}

}  // namespace smd::sim
