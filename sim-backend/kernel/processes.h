// Processes that make the same calls in the same order, each with memory of its own: what one run
// that is simulated by several of them asks of whatever joins them (sim-backend/mpi).
//
// All calls come from one thread of each process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace smd::sim {

class Processes {
 public:
  using Bytes = std::vector<std::byte>;

  virtual ~Processes() = default;

  /// Of this one, below count().
  [[nodiscard]] virtual unsigned number() const = 0;
  [[nodiscard]] virtual unsigned count() const = 0;

  /// Waits until all have asked: each value becomes the least that any of them brought.
  virtual void agree(std::span<std::int64_t> values) = 0;

  /// agree(), and a message from each process to each other: `out` and `in` have one for every
  /// process, those of this one are left alone. A message that does not come ends in fail().
  virtual void exchange(std::span<std::int64_t> values,
                        std::span<const Bytes> out,
                        std::span<Bytes> in) = 0;

  /// The others get what `owner` has in `bytes`. Requires: of one size everywhere.
  virtual void share(std::span<std::byte> bytes, unsigned owner) = 0;

  /// Ends all processes, with a line that says why.
  [[noreturn]] virtual void fail(const std::string& why) = 0;
};

}  // namespace smd::sim
