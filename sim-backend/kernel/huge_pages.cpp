#include "sim-backend/kernel/huge_pages.h"

#include <sys/mman.h>

#include <new>

namespace smd::sim {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::align_val_t kLine{64};

constexpr bool is_large(std::size_t bytes) { return bytes >= kHugePage; }

}  // namespace

void* take_pages(std::size_t bytes, PageSize size) {
  if (!is_large(bytes)) return ::operator new(bytes, kLine);
  void* memory = ::operator new(bytes, std::align_val_t{kHugePage});
  // A wish: a system that grants no such pages is slower, and no different.
  if (size == PageSize::Huge) (void)::madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void ask_for_huge_pages(void* memory, std::size_t bytes) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kHugePage - 1) / kHugePage;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kHugePage;
  if (end <= begin) return;
  (void)::madvise(
      reinterpret_cast<void*>(begin * kHugePage), (end - begin) * kHugePage, MADV_HUGEPAGE);
}

void give_pages(void* memory, std::size_t bytes) {
  ::operator delete(memory, is_large(bytes) ? std::align_val_t{kHugePage} : kLine);
}

}  // namespace smd::sim
