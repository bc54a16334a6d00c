// Memory for arrays that are read here and there, in pages of 2 MiB: with pages of 4 KiB the
// processor spends more on finding out where a line is than on fetching it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace smd::sim {

enum class PageSize : std::uint8_t { Ordinary, Huge };

/// Aligned to a cache line. Whoever asks for less than a huge page gets ordinary ones.
[[nodiscard]] void* take_pages(std::size_t bytes, PageSize size = PageSize::Huge);
void give_pages(void* memory, std::size_t bytes);

/// For those huge pages that lie within such memory, or within a part of it.
void ask_for_huge_pages(void* memory, std::size_t bytes);

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
