// Big-endian fields out of bytes and into them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "smd/base/check.h"

namespace smd {

/// Failure is sticky: read everything, check ok() once.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> data) : data_(data) {}

  /// False once any read went past the end; the reads then gave zeros.
  [[nodiscard]] bool ok() const { return ok_; }

  [[nodiscard]] std::size_t remaining() const { return data_.size() - at_; }

  std::uint8_t u8() { return static_cast<std::uint8_t>(read(1)); }

  std::uint16_t u16() { return static_cast<std::uint16_t>(read(2)); }

  std::uint32_t u24() { return static_cast<std::uint32_t>(read(3)); }

  std::uint32_t u32() { return static_cast<std::uint32_t>(read(4)); }

  std::uint64_t u64() { return read(8); }

  void skip(std::size_t count) { take(count); }

  template <std::size_t N>
  std::array<std::uint8_t, N> bytes() {
    std::array<std::uint8_t, N> out{};
    if (const std::byte* p = take(N)) {
      for (std::size_t i = 0; i < N; ++i) out[i] = static_cast<std::uint8_t>(p[i]);
    }
    return out;
  }

 private:
  const std::byte* take(std::size_t count) {
    if (!ok_ || count > data_.size() - at_) {
      ok_ = false;
      return nullptr;
    }
    const std::byte* p = data_.data() + at_;
    at_ += count;
    return p;
  }

  std::uint64_t read(std::size_t count) {
    const std::byte* p = take(count);
    std::uint64_t value = 0;
    if (p == nullptr) return value;
    for (std::size_t i = 0; i < count; ++i) value = value << 8 | static_cast<std::uint64_t>(p[i]);
    return value;
  }

  std::span<const std::byte> data_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// Into a buffer of fixed size. Writing past the end is a bug and stops the program.
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
