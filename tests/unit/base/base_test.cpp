#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "smd/base/bytes.h"
#include "smd/base/fault_list.h"
#include "smd/base/index_vector.h"
#include "smd/base/parallel.h"
#include "smd/base/program.h"
#include "smd/base/publisher.h"
#include "smd/base/read_file.h"
#include "smd/base/result.h"
#include "smd/base/rng.h"
#include "smd/base/text.h"
#include "smd/ib/types.h"
#include "tests/support/files.h"

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

TEST(SharedIndexVector, CopiesShareUntilOneWrites) {
  using Numbers = SharedIndexVector<Lid, int>;
  const Numbers first{IndexVector<Lid, int>{10, 20, 30}};
  Numbers second = first;
  EXPECT_TRUE(second.shares(first));
  second.set(Lid{1}, 20);
  EXPECT_TRUE(second.shares(first)) << "it is so already";
  second.set(Lid{1}, 21);
  EXPECT_FALSE(second.shares(first));
  EXPECT_THAT(first.raw(), ElementsAre(10, 20, 30));
  EXPECT_THAT(second.raw(), ElementsAre(10, 21, 30));

  Numbers third = second;
  third.push_back(40);
  for (int& number : third) ++number;
  second[Lid{0}] = 9;
  EXPECT_THAT(third.raw(), ElementsAre(11, 22, 31, 41));
  EXPECT_THAT(second.raw(), ElementsAre(9, 21, 30));
  EXPECT_EQ(third.back(), 41);
  third.resize(1);
  EXPECT_THAT(third.raw(), ElementsAre(11));

  const Numbers moved = std::move(third);
  EXPECT_THAT(moved.raw(), ElementsAre(11));
  EXPECT_TRUE(third.empty());
  third.push_back(5);
  EXPECT_THAT(third.raw(), ElementsAre(5));
  EXPECT_THAT(moved.raw(), ElementsAre(11));
  EXPECT_EQ(Numbers{}, Numbers{});
  EXPECT_EQ(first, (Numbers{IndexVector<Lid, int>{10, 20, 30}})) << "equal, shared or not";
}

TEST(Parallel, SlicesAreAllOfTheItemsOnce) {
  for (const std::size_t slices : {1u, 2u, 3u, 8u}) {
    for (const std::size_t count : {0u, 1u, 7u, 100u}) {
      std::vector<std::pair<std::size_t, std::size_t>> ranges(slices);
      for_each_slice(count, slices, [&](std::size_t slice, std::size_t first, std::size_t last) {
        ranges[slice] = {first, last};
      });
      std::size_t next = 0;
      for (const auto& [first, last] : ranges) {
        EXPECT_EQ(first, next);
        EXPECT_LE(first, last);
        next = last;
      }
      EXPECT_EQ(next, count);
    }
  }
  EXPECT_EQ(count_threads(0), 1u);
}

// A thread that lets one pass ends the process.
TEST(Parallel, ExceptionsReachTheCallerOnceAllHaveEnded) {
  for (const std::size_t failing : {0u, 1u, 3u}) {
    std::array<bool, 4> ended{};
    const auto work = [&](std::size_t slice, std::size_t /*first*/, std::size_t /*last*/) {
      if (slice == failing) throw std::bad_alloc();
      ended[slice] = true;
    };
    EXPECT_THROW(for_each_slice(100, 4, work), std::bad_alloc) << failing;
    EXPECT_EQ(std::ranges::count(ended, true), 3);
  }
  const auto all_fail = [](std::size_t slice, std::size_t /*first*/, std::size_t /*last*/) {
    throw std::out_of_range(std::to_string(slice));
  };
  for (int round = 0; round < 20; ++round) {
    try {
      for_each_slice(100, 4, all_fail);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::out_of_range& first) {
      EXPECT_STREQ(first.what(), "0") << "that of the first slice, whoever came first";
    }
  }
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

TEST(Printable, KeepsTextAndShowsTheRestAsBytes) {
  EXPECT_EQ(printable("sw-0-0 port 3"), "sw-0-0 port 3");
  EXPECT_EQ(printable("Z\xc3\xbcrich \xe2\x9c\x93 \xf0\x9f\x94\xa5"),
            "Z\xc3\xbcrich \xe2\x9c\x93 \xf0\x9f\x94\xa5");
  EXPECT_EQ(printable("a\nb\x1b[2J\x7f"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "C1: a terminal may obey it";
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "turns what follows around";
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(CheckNumber, TakesFiniteNumbersOfItsRange) {
  for (const char* text : {"0", "0.5", "9e-1"}) EXPECT_EQ(check_number(text, 0, 0.9), "") << text;
  for (const char* text : {"nan", "inf", "-inf", "1", "-0.1", "", "0.5x", "NaN"})
    EXPECT_NE(check_number(text, 0, 0.9), "") << text;
}

TEST(ChangedKeys, AreTakenOnceAndOfTooManyNoneIsNamed) {
  ChangedKeys<std::size_t> changed;
  EXPECT_EQ(changed.take(), std::nullopt) << "at first anything may have changed";
  changed.note(7);
  changed.note(3);
  changed.note(7);
  EXPECT_EQ(changed.take(), (std::set<std::size_t>{3, 7}));
  EXPECT_EQ(changed.take(), std::set<std::size_t>{});
  for (std::size_t i = 0; i <= ChangedKeys<std::size_t>::kMost; ++i) changed.note(i);
  changed.note(1);
  EXPECT_EQ(changed.take(), std::nullopt);
  changed.note(2);
  EXPECT_EQ(changed.take(), std::set<std::size_t>{2});
}

TEST(FaultList, HasTheFirstFewAndCountsTheRest) {
  FaultList list("f", 2);
  EXPECT_TRUE(list.empty());
  for (int line = 1; line <= 5; ++line) list.add(line, "wrong");
  const Faults faults = list.take();
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(print_fault(faults[1]), "f:2: wrong");
  EXPECT_EQ(print_fault(faults[2]), "f: and 3 more faults");
}

class ReadFile : public testing::Test {
 protected:
  std::string refused(const std::filesystem::path& path, Pipes pipes = Pipes::Refused) {
    const auto text = read_file(path, 100, pipes);
    EXPECT_FALSE(text);
    return text ? "" : text.error().context;
  }

  test::Scratch scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

TEST_F(ReadFile, GivesTheBytesUpToTheLimit) {
  const auto path = folder_ / "f";
  std::ofstream(path, std::ios::binary) << std::string(100, '\0');
  EXPECT_EQ(read_file(path, 100).value(), std::string(100, '\0'));
  EXPECT_EQ(read_file(path, 99).error().context, "is too large: 99 bytes at most");
  EXPECT_EQ(read_file(folder_ / "none", 1).error().code, Errc::NoDevice);
}

TEST_F(ReadFile, RefusesWhatCouldGoOnForEver) {
  EXPECT_EQ(refused("/dev/zero"), "is a device: name a regular file");
  EXPECT_EQ(refused("/dev/zero", Pipes::Accepted), "is a device: name a regular file");
  EXPECT_EQ(refused(folder_), "is a directory: name a file in it");
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refused(pipe), "is a pipe: name a regular file");
  EXPECT_EQ(refused(pipe, Pipes::Accepted), "is a pipe that nobody writes into");
  EXPECT_FALSE(check_regular_file(pipe));
}

TEST_F(ReadFile, TakesWhatSomebodyWritesIntoAPipe) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([to = ends[1]] {
    EXPECT_EQ(::write(to, "text", 4), 4);
    ::close(to);
  });
  const auto text = read_file("/proc/self/fd/" + std::to_string(ends[0]), 100, Pipes::Accepted);
  writer.join();
  ::close(ends[0]);
  EXPECT_EQ(text.value(), "text");
}

TEST(Fault, PrintsFileAndLine) {
  EXPECT_EQ(print_fault({"a.toml", 3, "x"}), "a.toml:3: x");
  EXPECT_EQ(print_fault({"--fail", 0, "x"}), "--fail: x");
}

}  // namespace
}  // namespace smd
