#include "smd/sa/component_mask.h"

namespace smd::sa {

ComponentFilter::ComponentFilter(const RecordShape& shape,
                                 std::uint64_t mask,
                                 std::span<const std::byte, kDataSize> wanted) {
  for (const Component& component : shape.components) {
    if ((mask & component_bit(component.bit)) == 0) continue;
    for (unsigned bit = component.first; bit < unsigned{component.first} + component.width; ++bit) {
      mask_[bit / 8] |= std::byte{0x80} >> bit % 8;
    }
  }
  for (std::size_t i = 0; i < shape.size; ++i) {
    wanted_[i] = wanted[i] & mask_[i];
    if (mask_[i] != std::byte{0}) used_ = i + 1;
  }
}

bool ComponentFilter::matches(std::span<const std::byte> record) const {
  for (std::size_t i = 0; i < used_; ++i) {
    if ((record[i] & mask_[i]) != wanted_[i]) return false;
  }
  return true;
}

}  // namespace smd::sa
