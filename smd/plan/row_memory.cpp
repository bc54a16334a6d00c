#include "smd/plan/row_memory.h"

#include <algorithm>

namespace smd {

const SlToVl* RowMemory::find(Guid node, PortNum in, PortNum out) const {
  const auto at = switches_.find(node);
  if (at == switches_.end()) return nullptr;
  const Rows& rows = at->second;
  if (in.value() >= rows.width || out.value() >= rows.width) return nullptr;
  const std::uint32_t number = rows.index[in.value() * rows.width + out.value()];
  return number == kUnknown ? nullptr : &rows_[number];
}

void RowMemory::confirm(Guid node, PortNum in, PortNum out, const SlToVl& row) {
  Rows& rows = switches_[node];
  widen(rows, std::max(in.value(), out.value()) + std::size_t{1});
  const auto [at, is_new] = number_.try_emplace(row, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) rows_.push_back(row);
  rows.index[in.value() * rows.width + out.value()] = at->second;
}

void RowMemory::forget_row(Guid node, PortNum in, PortNum out) {
  const auto at = switches_.find(node);
  if (at == switches_.end()) return;
  Rows& rows = at->second;
  if (in.value() < rows.width && out.value() < rows.width)
    rows.index[in.value() * rows.width + out.value()] = kUnknown;
}

void RowMemory::widen(Rows& rows, std::size_t width) const {
  if (width <= rows.width) return;
  std::vector<std::uint32_t> index(width * width, kUnknown);
  for (std::size_t in = 0; in < rows.width; ++in) {
    const auto from = rows.index.begin() + static_cast<std::ptrdiff_t>(in * rows.width);
    std::copy(from,
              from + static_cast<std::ptrdiff_t>(rows.width),
              index.begin() + static_cast<std::ptrdiff_t>(in * width));
  }
  rows = {width, std::move(index)};
}

}  // namespace smd
