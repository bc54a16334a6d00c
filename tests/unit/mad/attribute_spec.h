// What the specification says about an attribute, as a table: every field with its bit offset and
// width (most significant bit of byte 0 first, as IBA chapter 14 counts), and libibmad's name for
// it where libibmad knows it. The tables know nothing of our codecs beyond the struct members.
#pragma once

#include <infiniband/mad.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "smd/base/result.h"

namespace smd::spec {

using Bytes = std::vector<std::byte>;

/// A field of at most 64 bits of the struct T.
template <class T>
struct Field {
  std::string name;
  std::size_t offset;   // bits
  std::size_t width;    // bits
  MAD_FIELDS libibmad;  // IB_NO_FIELD: unknown there
  std::function<std::uint64_t(const T&)> get;
  std::function<void(T&, std::uint64_t)> set;
  int libibmad_base = 0;  // bytes: where libibmad counts this field from
};

template <class M>
std::uint64_t to_number(const M& value) {
  if constexpr (std::is_integral_v<M> || std::is_enum_v<M>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return value.value();
  }
}

template <class M>
void from_number(M& member, std::uint64_t value) {
  if constexpr (std::is_same_v<M, bool>) {
    member = (value & 1) != 0;
  } else if constexpr (std::is_integral_v<M> || std::is_enum_v<M>) {
    member = static_cast<M>(value);
  } else {
    member = M{static_cast<typename M::rep>(value)};
  }
}

/// `reach` gives a reference to the member, from a T& or a const T&.
template <class T, class Reach>
Field<T> field_by(
    std::string name, std::size_t offset, std::size_t width, MAD_FIELDS libibmad, Reach reach) {
  return {.name = std::move(name),
          .offset = offset,
          .width = width,
          .libibmad = libibmad,
          .get = [reach](const T& value) { return to_number(reach(value)); },
          .set = [reach](T& value, std::uint64_t number) { from_number(reach(value), number); }};
}

template <class T, class M>
Field<T> field(std::string name,
               M T::*member,
               std::size_t offset,
               std::size_t width,
               MAD_FIELDS libibmad = IB_NO_FIELD) {
  return field_by<T>(std::move(name), offset, width, libibmad, [member](auto& value) -> auto& {
    return value.*member;
  });
}

template <class T>
struct Attribute {
  std::string name;    // as error messages call it
  std::size_t size;    // bytes that encoding fills
  std::size_t extent;  // fewest bytes that decoding accepts
  std::vector<Field<T>> fields;
  std::function<Result<T>(std::span<const std::byte>)> decode;
  std::function<void(const T&, std::span<std::byte>)> encode;
  std::function<std::string(const T&)> print;
  T base{};        // what the fields do not cover
  Bytes constant;  // bytes that are neither field nor reserved; empty: none

  [[nodiscard]] T blank() const {
    T value = base;
    for (const Field<T>& f : fields) f.set(value, 0);
    return value;
  }

  [[nodiscard]] Bytes blank_bytes() const { return constant.empty() ? Bytes(size) : constant; }
};

inline std::uint64_t all_ones(std::size_t width) {
  return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

// Bit by bit on purpose: slow, and nothing like the codecs.
inline std::uint64_t read_bits(const Bytes& bytes, std::size_t offset, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = offset; i < offset + width; ++i) {
    const auto bit = (static_cast<unsigned>(bytes[i / 8]) >> (7 - i % 8)) & 1u;
    value = value << 1 | bit;
  }
  return value;
}

inline void write_bits(Bytes& bytes, std::size_t offset, std::size_t width, std::uint64_t value) {
  for (std::size_t i = offset + width; i-- > offset; value >>= 1) {
    const auto mask = static_cast<std::byte>(0x80u >> (i % 8));
    bytes[i / 8] = (value & 1) != 0 ? bytes[i / 8] | mask : bytes[i / 8] & ~mask;
  }
}

/// Bits that belong to some field.
template <class T>
Bytes field_mask(const Attribute<T>& attribute) {
  Bytes mask(attribute.size);
  for (const Field<T>& f : attribute.fields) {
    write_bits(mask, f.offset, f.width, all_ones(f.width));
  }
  return mask;
}

}  // namespace smd::spec
