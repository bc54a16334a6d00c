// The parts of which a net is made: the queue of events, credits, the arbiter of VLs.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "sim-backend/kernel/huge_pages.h"
#include "sim-backend/kernel/sparse_array.h"
#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/destination_map.h"
#include "sim-backend/packet/event_queue.h"
#include "sim-backend/packet/packet_options.h"
#include "sim-backend/packet/part_state.h"
#include "sim-backend/packet/switch_tables.h"
#include "sim-backend/packet/vl_arbiter.h"
#include "smd/base/rng.h"

namespace smd::sim::test {
namespace {

TEST(EventWheel, GivesBackWhatAHeapWould) {
  // Near and far events, many at one instant, pushed while others are popped; densities that make
  // the buckets as narrow as they get, half as wide, and wider. 1,024 ps hold 31 events of the
  // second, 512 ps 15, and 16 is few enough. Of the third there are 833 ns from event to event:
  // 2^20 ps that are not empty hold 1.8 on average, 2^21 ps 2.7, and 2 is enough.
  struct Density {
    Picos reach, least, most;  // widths
  };

  for (const auto& [reach, narrowest, widest] : {Density{50, 16, 1024},
                                                 Density{200'000, 512, 1024},
                                                 Density{5'000'000'000, 1024, 1 << 21}}) {
    Picos least = 1024, most = 1024;
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
    for (int i = 0; i < 400'000; ++i) {
      ASSERT_EQ(wheel.size(), heap.size());
      ASSERT_EQ(wheel.top(), heap.top()) << "event " << i << " of reach " << reach;
      least = std::min(least, wheel.bucket_width());
      most = std::max(most, wheel.bucket_width());
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
    EXPECT_EQ(least, narrowest) << reach;
    EXPECT_EQ(most, widest) << reach;
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

TEST(EventWheel, FindsItsWidthAtOnce) {
  // 300,000 events two to the picosecond: buckets of 1,024 ps hold 2,048 of them, 128 times too
  // many, and 2^4 ps is the least.
  Rng rng(5);
  EventWheel wheel;
  EventHeap heap;
  constexpr std::uint64_t kEvents = 600'000;
  std::vector<Picos> times;
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    const Event event{static_cast<Picos>(rng.below(kEvents / 2)), i};
    times.push_back(event.at);
    wheel.push(event);
    heap.push(event);
  }
  // It looks when a bucket is used up, once 262,144 events are behind it: at the end of the first
  // bucket that reaches so many.
  constexpr std::uint64_t kTuneEvents = 262'144;
  std::vector<std::uint64_t> up_to(kEvents / 2 / 1024 + 1, 0);  // events before the end of a bucket
  for (const Picos at : times) ++up_to[static_cast<std::size_t>(at / 1024)];
  std::partial_sum(up_to.begin(), up_to.end(), up_to.begin());
  const std::uint64_t due = *std::ranges::lower_bound(up_to, kTuneEvents);

  struct Change {
    std::uint64_t popped;
    Picos width;
    bool operator==(const Change&) const = default;
  };

  std::vector<Change> changes;
  Picos width = wheel.bucket_width();
  EXPECT_EQ(width, 1024);
  for (std::uint64_t popped = 0; !heap.empty(); ++popped) {
    ASSERT_EQ(wheel.top(), heap.top()) << heap.size() << " are left";
    if (wheel.bucket_width() != width) {
      width = wheel.bucket_width();
      changes.push_back({popped, width});
    }
    wheel.pop();
    heap.pop();
  }
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(changes, (std::vector<Change>{{due, 16}}))
      << "at once, not by halves, each after 262,144 events; and it stays";
}

TEST(EventWheel, TellsWhatIsInUse) {
  EventWheel wheel;
  EXPECT_EQ(wheel.memory_used(), 0u);
  EXPECT_GE(wheel.memory(), EventWheel::kFixedMemory);
  for (Picos at = 0; at < 1000; ++at) wheel.push({at * 2048, 0});
  EXPECT_EQ(wheel.memory_used(), 1000u * 128) << "a chunk of two cache lines for each bucket";
  EXPECT_GE(wheel.memory(), EventWheel::kFixedMemory + wheel.memory_used());
}

TEST(EventNames, GiveBackPortAndPacketUpToTheLast) {
  for (const PortAt port : {0u, 1u, kPortMask - 1, kPortMask}) {
    for (const PacketAt packet : {0u, 1u, kPacketMask - 1, kPacketMask}) {
      for (const unsigned sequence : {0u, 1u, 4095u, 4096u, 65535u}) {
        const Event event{
            0,
            name_packet_event(
                NetStep::Deliver, port, static_cast<std::uint16_t>(sequence), packet)};
        EXPECT_EQ(step_of(event), NetStep::Deliver);
        EXPECT_EQ(port_of(event), port);
        EXPECT_EQ(packet_of(event), packet);
      }
    }
  }
  for (const std::uint32_t index : {0u, kPortMask, kIndexMask}) {
    const Event event{0, name_event(NetStep::Wake, index, UINT32_MAX)};
    EXPECT_EQ(step_of(event), NetStep::Wake);
    EXPECT_EQ(index_of(event), index);
    EXPECT_EQ(static_cast<std::uint32_t>(event.what), UINT32_MAX);
  }
}

TEST(PacketOptionsCheck, NumbersOfSourceQueuesHave32Bits) {
  PacketOptions options = PacketOptions::modern();
  EXPECT_EQ(check_queues(options, UINT32_MAX), "");
  options.adapters.waiting = SourceQueues::Hashed;
  options.adapters.queues = 65'537;
  EXPECT_EQ(check_queues(options, 65'535), "") << "2^32 - 1";
  EXPECT_EQ(check_queues(options, 65'536),
            "65536 hosts of 1 VLs with 65537 queues each: 4294967295 queues at most in all");
  options.vls = 2;
  EXPECT_NE(check_queues(options, 65'535), "");
  options.adapters.waiting = SourceQueues::PerDestination;
  EXPECT_EQ(check_queues(options, 46'340), "");
  EXPECT_NE(check_queues(options, 46'341), "");
  options.vls = 1;
  EXPECT_EQ(check_queues(options, 65'535), "");
  EXPECT_NE(check_queues(options, 65'536), "");
}

TEST(PacketOptionsCheck, AsManyPacketsAsEventsName) {
  PacketOptions options = PacketOptions::modern();
  options.most_packets = kMostPackets;
  EXPECT_EQ(check_options(options), "");
  options.most_packets = kMostPackets + 1;
  EXPECT_EQ(check_options(options), "a partition has 1 to 33553408 packets at once");
  options.most_packets = 0;
  EXPECT_NE(check_options(options), "");
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

/// Counts those of it that are alive.
struct Counted {
  Counted() { ++alive; }

  ~Counted() { --alive; }

  Counted(const Counted&) = delete;

  static inline int alive = 0;
  int value = 7;
};

TEST(SparseArray, MakesWhatItIsToldTo) {
  {
    const SparseArray<Counted> empty(0);
    SparseArray<Counted> some(1'000'000);
    EXPECT_EQ(some.size(), 1'000'000u);
    EXPECT_EQ(Counted::alive, 0);
    some.make({10, 3});
    some.make({20, 0});
    some.make({999'999, 1});
    EXPECT_EQ(Counted::alive, 4);
    EXPECT_EQ(some.count_made(), 4u);
    ASSERT_EQ(some.made().size(), 2u);
    EXPECT_EQ(some.made()[0].end(), 13u);
    EXPECT_EQ(some[12].value, 7);
    EXPECT_EQ(&some.all()[999'999], &some[999'999]);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(DestinationMap, KeepsWhatIsPutThere) {
  DestinationMap<int> map;
  EXPECT_EQ(map.find(3), nullptr);
  EXPECT_EQ(map.memory(), 0u);
  std::map<HostNum, int> all;
  Rng rng(2);
  for (int i = 0; i < 5000; ++i) {
    const auto key = static_cast<HostNum>(rng.below(900) * 1024);  // alike in their last bits
    const auto known = all.find(key);
    EXPECT_EQ(map.at(key, -1), known == all.end() ? -1 : known->second);
    map.at(key) = all[key] = i;
  }
  for (const auto& [key, value] : all) {
    ASSERT_NE(map.find(key), nullptr);
    EXPECT_EQ(*map.find(key), value);
  }
  EXPECT_EQ(map.find(7), nullptr);
  EXPECT_LE(map.memory(), all.size() * 8 * 8 / 3) << "at least three eighths full";
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
