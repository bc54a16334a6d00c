// The parts of which a net is made: the queue of events, credits, the arbiter of VLs.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "sim-backend/kernel/huge_pages.h"
#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/event_queue.h"
#include "sim-backend/packet/packet_options.h"
#include "sim-backend/packet/switch_tables.h"
#include "sim-backend/packet/vl_arbiter.h"
#include "smd/base/rng.h"

namespace smd::sim::test {
namespace {

TEST(EventWheel, GivesBackWhatAHeapWould) {
  // Near and far events, many at one instant, pushed while others are popped; densities that make
  // the buckets narrower and wider.
  for (const Picos reach : {Picos{50}, Picos{200'000}, Picos{5'000'000'000}}) {
    Rng rng(static_cast<std::uint64_t>(reach));
    EventWheel wheel;
    EventHeap heap;
    Picos now = 0;
    const auto push = [&](Picos at) {
      const Event event{at, rng.below(64)};
      wheel.push(event);
      heap.push(event);
    };
    for (int i = 0; i < 3000; ++i) push(static_cast<Picos>(rng.below(1'000'000)));
    for (int i = 0; i < 100'000; ++i) {
      ASSERT_EQ(wheel.size(), heap.size());
      ASSERT_EQ(wheel.top(), heap.top()) << "event " << i << " of reach " << reach;
      now = heap.top().at;
      wheel.pop();
      heap.pop();
      if (rng.chance(0.02)) continue;
      push(now + static_cast<Picos>(rng.below(static_cast<std::uint64_t>(reach))));
      if (rng.chance(0.019)) push(now);
    }
    while (!heap.empty()) {
      ASSERT_EQ(wheel.top(), heap.top());
      wheel.pop();
      heap.pop();
    }
    EXPECT_TRUE(wheel.empty());
  }
}

TEST(EventWheel, GivesBackThousandsOfOneInstantInOrder) {
  // Links on a common clock: whatever happens raises something at once, and something a cycle on.
  constexpr Picos kCycle = 1024;
  constexpr std::uint64_t kWidth = 20'000;
  Rng rng(7);
  EventWheel wheel;
  EventHeap heap;
  const auto push = [&](Picos at) {
    const Event event{at, rng.below(1u << 30)};
    wheel.push(event);
    heap.push(event);
  };
  for (std::uint64_t i = 0; i < kWidth; ++i) push(kCycle);
  for (std::uint64_t i = 0; i < 20 * kWidth; ++i) {
    ASSERT_EQ(wheel.top(), heap.top()) << "event " << i;
    const Picos now = heap.top().at;
    wheel.pop();
    heap.pop();
    push(i % 2 == 0 ? now : now + kCycle);
  }
  EXPECT_EQ(wheel.size(), heap.size());
}

TEST(EventWheel, TakesWhatIsDueBeforeWhatItHasLookedAt) {
  EventWheel wheel;
  wheel.push({.at = 1'000'000'000, .what = 1});
  EXPECT_EQ(wheel.top().at, 1'000'000'000);
  wheel.push({.at = 5, .what = 2});
  EXPECT_EQ(wheel.top().at, 5);
  wheel.pop();
  EXPECT_EQ(wheel.top().at, 1'000'000'000);
}

TEST(PagedVector, BeginsWithALineOrWithAPage) {
  const auto begin = [](const auto& values) {
    return reinterpret_cast<std::uintptr_t>(values.data());
  };
  for (const std::size_t bytes : {100u, 5000u, (2u << 20) - 1}) {
    const PagedVector<std::uint8_t> few(bytes, 1);
    EXPECT_EQ(begin(few) % 64, 0u) << bytes;
  }
  PagedVector<std::uint8_t> many(2u << 20, 1);
  EXPECT_EQ(begin(many) % (2u << 20), 0u);
  many.resize(5u << 20, 2);
  EXPECT_EQ(begin(many) % (2u << 20), 0u);
  EXPECT_EQ(std::count(many.begin(), many.end(), 1), 2 << 20);
}

TEST(Credits, CountModulo4096) {
  // A receiver with 64 free blocks.
  EXPECT_EQ(credit_limit(0, 64), 64);
  EXPECT_TRUE(has_credit(64, 0, 64));
  EXPECT_FALSE(has_credit(64, 0, 65));
  // Around the end of the counters.
  EXPECT_EQ(credit_limit(4090, 64), 58);
  EXPECT_TRUE(has_credit(58, 4090, 64));
  EXPECT_FALSE(has_credit(58, 4090, 65));
  EXPECT_EQ(count_blocks(4090, 64), 58);
  EXPECT_EQ(credit_left(58, 4090), 64u);
  // At most half of the circle is granted: more could not be told from less than nothing.
  EXPECT_EQ(credit_limit(100, 4000), 2148);
}

TEST(Credits, BlocksArePayload) {
  EXPECT_EQ(blocks_of(0), 1u);
  EXPECT_EQ(blocks_of(64), 1u);
  EXPECT_EQ(blocks_of(65), 2u);
  EXPECT_EQ(blocks_of(4096), 64u);
}

VlArbTables registers(std::vector<VlArbEntry> high, std::vector<VlArbEntry> low) {
  VlArbTables tables;
  std::ranges::copy(high, tables.high.begin());
  std::ranges::copy(low, tables.low.begin());
  return tables;
}

VlArbEntry entry(std::uint8_t vl, std::uint8_t weight) { return {Vl{vl}, weight}; }

/// The VLs of the next packets when those of `available` never run dry.
std::string turns(const ArbitrationTables& tables,
                  VlArbiter& arbiter,
                  std::uint16_t available,
                  unsigned bytes,
                  int packets) {
  std::string out;
  for (int i = 0; i < packets; ++i) {
    const unsigned vl = arbiter.choose(tables, available);
    if (vl == VlArbiter::kNobody) return out + "-";
    arbiter.charge(tables, bytes);
    out += static_cast<char>('0' + vl);
  }
  return out;
}

TEST(VlArbiter, SharesByWeight) {
  // 2 KiB packets: VL0 may send 4 KiB at a time, VL1 2 KiB.
  const auto tables = build_arbitration(registers({}, {entry(0, 64), entry(1, 32)}), 0, 8);
  VlArbiter arbiter;
  EXPECT_EQ(turns(tables, arbiter, 0b11, 2048, 9), "001001001");
  EXPECT_EQ(turns(tables, arbiter, 0b10, 2048, 3), "111");
}

TEST(VlArbiter, SendsAPacketWholeThatOverdrawsItsWeight) {
  const auto tables = build_arbitration(registers({}, {entry(0, 1), entry(1, 33)}), 0, 8);
  VlArbiter arbiter;
  EXPECT_EQ(turns(tables, arbiter, 0b11, 2048, 6), "011011");
}

TEST(VlArbiter, LetsLowPriorityInAfterTheLimit) {
  const VlArbTables both = registers({entry(1, 255)}, {entry(0, 255)});
  VlArbiter arbiter;
  // 0: after every packet.
  EXPECT_EQ(turns(build_arbitration(both, 0, 8), arbiter, 0b11, 1024, 6), "101010");
  // 1: after 4 KiB have been overdrawn.
  arbiter.reset();
  EXPECT_EQ(turns(build_arbitration(both, 1, 8), arbiter, 0b11, 1024, 12), "111110111110");
  // 255: never.
  arbiter.reset();
  EXPECT_EQ(turns(build_arbitration(both, 255, 8), arbiter, 0b11, 1024, 8), "11111111");
}

TEST(VlArbiter, TurnsToTheOtherTableWhereThereIsNothing) {
  const auto tables =
      build_arbitration(registers({entry(1, 255)}, {entry(0, 255), entry(2, 1)}), 0, 8);
  VlArbiter arbiter;
  EXPECT_EQ(turns(tables, arbiter, 0b10, 1024, 4), "1111");
  EXPECT_EQ(turns(tables, arbiter, 0b01, 1024, 4), "0000");
}

TEST(VlArbiter, SkipsWhatHasNoWeightOrNoLane) {
  const auto tables = build_arbitration(
      registers({entry(15, 9)}, {entry(0, 0), entry(1, 4), entry(7, 4), entry(15, 4)}), 0, 4);
  VlArbiter arbiter;
  EXPECT_EQ(turns(tables, arbiter, 0b11111111, 256, 3), "111");
  EXPECT_EQ(turns(tables, arbiter, 0b10000001, 256, 3), "-");
}

TEST(LifeTimes, AreCodedAsPowersOfTwo) {
  EXPECT_EQ(life_time(0), 4'096'000);
  EXPECT_EQ(life_time(19), Picos{4'096'000} << 19);
  EXPECT_EQ(life_time(20), kNever);
}

TEST(PacketOptions, PresetsAreSound) {
  for (const char* name : {"thesis", "modern", "cycles"}) {
    PacketOptions options;
    ASSERT_TRUE(find_preset(name, options));
    EXPECT_EQ(check_options(options), "") << name;
  }
  PacketOptions options;
  EXPECT_FALSE(find_preset("other", options));
  options.vls = 16;
  EXPECT_NE(check_options(options), "");
  options = {};
  options.switches.input_buffer_bytes = 63;
  EXPECT_NE(check_options(options), "");
  options = {};
  options.switches.speed_up_percent = 99;
  EXPECT_NE(check_options(options), "");
}

}  // namespace
}  // namespace smd::sim::test
