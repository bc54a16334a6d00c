// Independent runs on several threads. Which thread does what is not seen in the results: each run
// writes its own place.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "smd/base/progress.h"
#include "smd/base/result.h"

namespace smd::sim {

/// Calls run(0) … run(count - 1), up to `jobs` at once; returns when all are done. An exception
/// ends the program.
void run_all(unsigned jobs, std::size_t count, const std::function<void(std::size_t)>& run);

/// The values in the order of their numbers, or the first error in that order.
template <class T>
Result<std::vector<T>> collect(unsigned jobs,
                               std::size_t count,
                               const std::function<Result<T>(std::size_t)>& run) {
  std::vector<std::optional<Result<T>>> results(count);
  progress::expect(static_cast<double>(count));
  run_all(jobs, count, [&](std::size_t i) {
    results[i].emplace(run(i));
    progress::add(1);
  });
  std::vector<T> values;
  for (auto& result : results) {
    if (!*result) return tl::unexpected<Error>(result->error());
    values.push_back(std::move(**result));
  }
  return values;
}

}  // namespace smd::sim
