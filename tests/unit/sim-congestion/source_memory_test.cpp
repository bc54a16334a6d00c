// Memory of source queues, against figures worked out by hand and those that are printed.
#include "sim-backend/congestion/source_memory.h"

#include <gtest/gtest.h>

namespace smd::sim {
namespace {

constexpr SourceNeeds kThesis{.destinations = 512, .window = 2, .packet_bytes = 278, .stages = 5};

TEST(SourceMemory, ACounterHoldsAllItsValues) {
  EXPECT_EQ(counter_bits(1), 1u);
  EXPECT_EQ(counter_bits(2), 2u);
  EXPECT_EQ(counter_bits(3), 2u);
  EXPECT_EQ(counter_bits(4), 3u) << "0 to 4 are five values";
  EXPECT_EQ(512 * counter_bits(2), 1024u) << "of packets on their way, to 512 destinations";
}

// The text: 2 · 512 · 278 bytes, half of it with counters, 16 queues of a packet each.
TEST(SourceMemory, IsThatOfTheText) {
  EXPECT_EQ(fvoq_memory(kThesis).data_bytes, 284'672u);
  EXPECT_EQ(counted_fvoq_memory(kThesis).data_bytes, 142'336u);
  EXPECT_EQ(pvoq_memory(kThesis, 16).data_bytes, 4'448u);
  EXPECT_EQ(pool_memory(kThesis, 25'600).data_bytes, 25'600u);
}

// Per destination: a window of 0 to 2, a wait of 0 to 6, and 0 to 2 packets on their way.
TEST(SourceMemory, ControlIsPerDestination) {
  EXPECT_EQ(fvoq_memory(kThesis).control_bits, 512u * (2 + 3));
  EXPECT_EQ(pvoq_memory(kThesis, 128).control_bits, 512u * (2 + 3 + 2));
  EXPECT_EQ(pool_memory(kThesis, 25'600).bytes(), 25'600u + 448);
  EXPECT_EQ(pool_memory(kThesis, 1).control_bits, counted_fvoq_memory(kThesis).control_bits);
}

TEST(SourceMemory, PublishedSizesFollowTheHosts) {
  EXPECT_EQ(published_queues(512), 128u);
  EXPECT_EQ(published_queues(64), 16u);
  EXPECT_EQ(published_queues(1), 1u);
  EXPECT_EQ(published_pool({.destinations = 512, .window = 2, .packet_bytes = 256}), 26'214u);
  EXPECT_EQ(published_pool({.destinations = 1, .window = 1, .packet_bytes = 256}), 256u)
      << "a packet fits always";
}

}  // namespace
}  // namespace smd::sim
