// Big-endian fields into a buffer of fixed size. Writing past the end is a bug and stops the
// program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "smd/base/check.h"

namespace smd {

class ByteWriter {
 public:
  explicit ByteWriter(std::span<std::byte> data) : data_(data) {}

  void u8(std::uint8_t v) { write(v, 1); }

  void u16(std::uint16_t v) { write(v, 2); }

  void u24(std::uint32_t v) { write(v, 3); }

  void u32(std::uint32_t v) { write(v, 4); }

  void u64(std::uint64_t v) { write(v, 8); }

  template <std::size_t N>
  void bytes(const std::array<std::uint8_t, N>& in) {
    for (std::uint8_t b : in) write(b, 1);
  }

  void zeros(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) write(0, 1);
  }

  [[nodiscard]] std::size_t written() const { return at_; }

 private:
  void write(std::uint64_t value, std::size_t count) {
    SMD_CHECK(count <= data_.size() - at_, "a codec wrote past its buffer");
    for (std::size_t i = count; i-- > 0; value >>= 8) {
      data_[at_ + i] = static_cast<std::byte>(value & 0xff);
    }
    at_ += count;
  }

  std::span<std::byte> data_;
  std::size_t at_ = 0;
};

}  // namespace smd
