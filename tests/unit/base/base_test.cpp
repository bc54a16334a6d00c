#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "smd/base/byte_reader.h"
#include "smd/base/byte_writer.h"
#include "smd/base/index_vector.h"
#include "smd/base/result.h"
#include "smd/base/rng.h"
#include "smd/ib/types.h"

namespace smd {
namespace {

using testing::ElementsAre;

TEST(StrongId, DoesNotMix) {
  static_assert(!std::is_convertible_v<Lid, PortNum>);
  static_assert(!std::is_convertible_v<int, Lid>);
  static_assert(!std::equality_comparable_with<Lid, PortNum>);
  static_assert(sizeof(Lid) == 2 && sizeof(PortNum) == 1);
  EXPECT_EQ(fmt::format("{} {}", Lid{7}, Guid{0x2c9}), "7 0x00000000000002c9");
}

TEST(IndexVector, IteratesItsOwnHandles) {
  IndexVector<Lid, int> v{10, 20, 30};
  std::vector<Lid> seen;
  for (Lid lid : v.indices()) seen.push_back(lid);
  EXPECT_THAT(seen, ElementsAre(Lid{0}, Lid{1}, Lid{2}));
  EXPECT_EQ(v[Lid{2}], 30);
}

TEST(ByteReader, FailureIsSticky) {
  const std::array<std::byte, 3> data{std::byte{1}, std::byte{2}, std::byte{3}};
  ByteReader in(data);
  EXPECT_EQ(in.u16(), 0x0102);
  EXPECT_EQ(in.u16(), 0);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.u8(), 0) << "a read after a failure must not resume";
}

TEST(ByteWriter, BigEndian) {
  std::array<std::byte, 7> data{};
  ByteWriter out(data);
  out.u24(0x010203);
  out.u32(0x04050607);
  for (std::size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(std::to_integer<int>(data[i]), int(i) + 1);
}

TEST(ByteWriter, StopsAtTheEnd) {
  std::array<std::byte, 1> data{};
  ByteWriter out(data);
  EXPECT_DEATH(out.u16(1), "past its buffer");
}

TEST(Rng, SameSeedSameSequence) {
  Rng a(42), b(42), c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto x = a.next();
    EXPECT_EQ(x, b.next());
    differs |= x != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Rng, BelowCoversItsRangeEvenly) {
  Rng rng(7);
  std::array<int, 5> hits{};
  for (int i = 0; i < 50000; ++i) ++hits[rng.below(5)];
  for (int h : hits) EXPECT_NEAR(h, 10000, 500);
}

TEST(Fault, PrintsFileAndLine) {
  EXPECT_EQ(print_fault({"a.toml", 3, "x"}), "a.toml:3: x");
  EXPECT_EQ(print_fault({"--fail", 0, "x"}), "--fail: x");
}

}  // namespace
}  // namespace smd
