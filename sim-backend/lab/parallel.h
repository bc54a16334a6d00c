// Independent runs on several threads. Which thread does what is not seen in the results: each run
// writes its own place.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include "sim-backend/lab/statistics.h"
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

/// run(group, seed) for each: groups of runs that differ by their seed alone, from 1 on. Those of a
/// group are added up.
template <class Sum, class Run>
Result<std::vector<Sum>> collect_groups(unsigned jobs,
                                        std::size_t groups,
                                        std::size_t seeds,
                                        const Run& run) {
  using Value = typename std::invoke_result_t<Run, std::size_t, std::size_t>::value_type;
  const auto runs = collect<Value>(
      jobs, groups * seeds, [&](std::size_t i) { return run(i / seeds, 1 + i % seeds); });
  if (!runs) return tl::unexpected<Error>(runs.error());
  std::vector<Sum> sums(groups);
  for (std::size_t i = 0; i < runs->size(); ++i) add_up(sums[i / seeds], (*runs)[i]);
  return sums;
}

}  // namespace smd::sim
