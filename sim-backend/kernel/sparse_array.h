// An array of which a process uses some ranges: every entry has an address, and memory goes to
// those that are made. AddressSanitizer stops whoever touches another.
#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "sim-backend/kernel/huge_pages.h"

namespace smd::sim {

template <class T>
class SparseArray {
 public:
  using value_type = T;

  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;

    [[nodiscard]] std::size_t end() const { return first + count; }
  };

  /// Nothing is made yet.
  explicit SparseArray(std::size_t size)
      : values_(static_cast<T*>(take_pages(size * sizeof(T), PageSize::Ordinary)), size) {
    forbid(values_);
  }

  SparseArray(const SparseArray&) = delete;
  SparseArray& operator=(const SparseArray&) = delete;

  ~SparseArray() {
    for (const Range& range : made_) std::destroy_n(&values_[range.first], range.count);
    allow(values_);
    give_pages(values_.data(), values_.size_bytes());
  }

  /// Gives the entries their default value. Requires: they come after all that were made before.
  void make(const Range& range) {
    if (range.count == 0) return;
    const std::span<T> values = values_.subspan(range.first, range.count);
    allow(values);
    ask_for_huge_pages(values.data(), values.size_bytes());
    std::uninitialized_value_construct_n(values.data(), range.count);
    made_.push_back(range);
  }

  /// Requires: made.
  [[nodiscard]] T& operator[](std::size_t at) const { return values_[at]; }

  /// Of the whole: it is the caller's to use what is made.
  [[nodiscard]] std::span<T> all() const { return values_; }

  [[nodiscard]] std::size_t size() const { return values_.size(); }

  /// In their order.
  [[nodiscard]] const std::vector<Range>& made() const { return made_; }

  [[nodiscard]] std::size_t count_made() const {
    std::size_t out = 0;
    for (const Range& range : made_) out += range.count;
    return out;
  }

 private:
  static void forbid([[maybe_unused]] std::span<T> values) {
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(values.data(), values.size_bytes());
#endif
  }

  static void allow([[maybe_unused]] std::span<T> values) {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(values.data(), values.size_bytes());
#endif
  }

  std::span<T> values_;
  std::vector<Range> made_;
};

}  // namespace smd::sim
