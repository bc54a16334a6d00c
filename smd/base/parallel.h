// Work that is the same for every item, done by several threads at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace smd {

/// Calls work(slice, first, last) once for each of `slices` ranges, which follow each other and are
/// all of 0 … count-1, each on a thread of its own and the first on the caller's; returns when all
/// have. Of those that throw, the first slice's exception reaches the caller, then. What comes out
/// is the same for any number of slices where the work of one touches nothing that another's does,
/// and what they found is put together in their order.
template <class Work>
void for_each_slice(std::size_t count, std::size_t slices, Work&& work) {
  std::vector<std::exception_ptr> thrown(slices);
  const auto run = [&](std::size_t slice) noexcept {
    try {
      work(slice, slice * count / slices, (slice + 1) * count / slices);
    } catch (...) {  // else a thread would end the process
      thrown[slice] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t slice = 1; slice < slices; ++slice) others.emplace_back(run, slice);
    run(0);
  }
  for (const std::exception_ptr& each : thrown) {
    if (each) std::rethrow_exception(each);
  }
}

/// Threads that so many steps are worth: never more than there are cores.
[[nodiscard]] inline unsigned count_threads(std::size_t steps) {
  constexpr std::size_t kStepsOfOne = std::size_t{1} << 20;  // below, starting one costs more
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::clamp<std::size_t>(steps / kStepsOfOne, 1, cores));
}

}  // namespace smd
