// Big-endian fields out of bytes. Failure is sticky: read everything, check ok() once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace smd {

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

}  // namespace smd
