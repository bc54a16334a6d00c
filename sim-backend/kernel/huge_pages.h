// Memory for arrays that are read here and there, in pages of 2 MiB: with pages of 4 KiB the
// processor spends more on finding out where a line is than on fetching it.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace smd::sim {

/// At least so many bytes; whoever has fewer gets ordinary pages. Aligned to a cache line.
[[nodiscard]] void* take_pages(std::size_t bytes);
void give_pages(void* memory, std::size_t bytes);

template <class T>
struct PageAllocator {
  using value_type = T;

  PageAllocator() = default;

  template <class U>
  PageAllocator(const PageAllocator<U>&) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 64);
    return static_cast<T*>(take_pages(count * sizeof(T)));
  }

  void deallocate(T* at, std::size_t count) { give_pages(at, count * sizeof(T)); }

  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

template <class T>
using PagedVector = std::vector<T, PageAllocator<T>>;

}  // namespace smd::sim
