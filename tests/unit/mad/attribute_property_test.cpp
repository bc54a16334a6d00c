// The laws of the codecs, over random values and random bytes.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tests/unit/mad/attribute_specs.h"

namespace smd::spec {
namespace {

template <class T>
T random_value(const Attribute<T>& attribute) {
  T value = attribute.blank();
  for (const Field<T>& field : attribute.fields) {
    field.set(value, *rc::gen::arbitrary<std::uint64_t>() & all_ones(field.width));
  }
  return value;
}

Bytes random_bytes(std::size_t size) {
  const auto raw =
      *rc::gen::container<std::vector<std::uint8_t>>(size, rc::gen::arbitrary<std::uint8_t>());
  Bytes bytes;
  for (const std::uint8_t b : raw) bytes.push_back(static_cast<std::byte>(b));
  return bytes;
}

template <class Law>
void expect_law(Law law) {
  for_each_attribute([&law](const auto& attribute) {
    EXPECT_TRUE(rc::check(attribute.name, [&] { law(attribute); })) << attribute.name;
  });
}

TEST(AttributeLaws, DecodingWhatWasEncodedGivesItBack) {
  expect_law([](const auto& attribute) {
    const auto value = random_value(attribute);
    Bytes bytes(attribute.size);
    attribute.encode(value, bytes);
    const auto decoded = attribute.decode(bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == value);
  });
}

TEST(AttributeLaws, EncodingWhatWasDecodedGivesTheBytesBackWithoutReservedBits) {
  expect_law([](const auto& attribute) {
    Bytes bytes = random_bytes(attribute.size);
    const Bytes mask = field_mask(attribute);
    const Bytes constant = attribute.blank_bytes();
    Bytes wanted = bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      wanted[i] = (bytes[i] & mask[i]) | constant[i];
    }
    if (!attribute.constant.empty()) {  // SMPs with other versions or longer paths are refused
      std::copy_n(constant.begin(), 3, bytes.begin());
      bytes[7] &= std::byte{kMaxHops};
    }
    const auto decoded = attribute.decode(bytes);
    RC_ASSERT(decoded.has_value());
    Bytes encoded(attribute.size, std::byte{0xee});
    attribute.encode(*decoded, encoded);
    RC_ASSERT(encoded == wanted);
  });
}

TEST(AttributeLaws, AnyBytesAreDecodedOrRefused) {
  expect_law([](const auto& attribute) {
    const auto size = *rc::gen::inRange<std::size_t>(0, 300);
    const Bytes bytes = random_bytes(size);
    const auto decoded = attribute.decode(bytes);
    if (decoded.has_value()) {
      RC_ASSERT(!attribute.print(*decoded).empty());
    } else {
      RC_ASSERT(decoded.error().code == Errc::Malformed);
      RC_ASSERT(!decoded.error().context.empty());
    }
  });
}

TEST(NodeDescription, AnyTextComesBackUpToItsFirstNulOrAPrefixOfIt) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    SmpData data;
    encode_node_description(text, data);
    const std::string back = decode_node_description(data).value();
    const std::string visible = text.substr(0, text.find('\0'));
    RC_ASSERT(visible.starts_with(back));
    if (visible.size() <= kSmpDataSize) {
      RC_ASSERT(back == visible);
    } else {
      RC_ASSERT(back.size() + 3 >= kSmpDataSize);
    }
  }));
}

}  // namespace
}  // namespace smd::spec
