// Between the receiving thread and the loop: nothing that is flooded crowds out anything else, and
// a turn of the loop stays short.
#include "smd/transport/receive_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/mad/header.h"
#include "smd/runtime/asio_runtime.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

MadPacket mad_of(Method method,
                 Lid from,
                 std::uint64_t id = 0,
                 AttributeId attribute = AttributeId::Notice,
                 MgmtClass mgmt_class = MgmtClass::SubnLid) {
  MadPacket packet{.remote_lid = from};
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(mgmt_class),
                     .method = static_cast<std::uint8_t>(method),
                     .transaction_id = id,
                     .attribute_id = static_cast<std::uint16_t>(attribute)},
                    packet.mad);
  return packet;
}

std::uint64_t id_of(const MadPacket& packet) {
  return decode_mad_header(packet.mad)->transaction_id;
}

TEST(MadKinds, AreToldByMethodAndAttribute) {
  const auto kind = [](Method method, AttributeId attribute, MgmtClass mgmt_class) {
    return kind_of(mad_of(method, Lid{1}, 0, attribute, mgmt_class).mad);
  };
  using enum MgmtClass;
  EXPECT_EQ(kind(Method::GetResp, AttributeId::SmInfo, SubnDirected), MadKind::Answer);
  EXPECT_EQ(kind(Method::ReportResp, AttributeId::Notice, SubnAdm), MadKind::Answer);
  EXPECT_EQ(kind(Method::Get, AttributeId::SmInfo, SubnDirected), MadKind::Manager);
  EXPECT_EQ(kind(Method::Set, AttributeId::SmInfo, SubnLid), MadKind::Manager);
  EXPECT_EQ(kind(Method::Trap, AttributeId::Notice, SubnLid), MadKind::Trap);
  EXPECT_EQ(kind(Method::Trap, AttributeId::Notice, CongestionControl), MadKind::Trap);
  EXPECT_EQ(kind(Method::Get, AttributeId::PortInfo, SubnAdm), MadKind::Request);
  EXPECT_EQ(kind(Method::TrapRepress, AttributeId::Notice, SubnLid), MadKind::Request)
      << "nobody of ours asked for it";
}

struct Bench : testing::Test {
  Bench() {
    queue.on_mad([this](const MadPacket& packet) { handled.push_back(packet); });
  }

  void put(const MadPacket& packet) { queue.put({&packet, 1}); }

  [[nodiscard]] std::vector<std::uint64_t> ids() const {
    std::vector<std::uint64_t> out;
    for (const MadPacket& each : handled) out.push_back(id_of(each));
    return out;
  }

  sim::SimRuntime runtime;
  ReceiveQueue::Limits limits = {ReceiveLimits{100, 100, 100},
                                 ReceiveLimits{10, 4, 2},
                                 ReceiveLimits{10, 4, 2},
                                 ReceiveLimits{10, 4, 2}};
  ReceiveQueue queue{runtime, limits};
  std::vector<MadPacket> handled;
};

using ReceiveQueueTurns = Bench;

TEST_F(ReceiveQueueTurns, AnswersGoFirstThenOtherManagersThenTraps) {
  put(mad_of(Method::Get, Lid{9}, 5, AttributeId::PortInfo, MgmtClass::SubnAdm));
  put(mad_of(Method::Trap, Lid{9}, 4));
  put(mad_of(Method::Get, Lid{9}, 3, AttributeId::SmInfo));
  put(mad_of(Method::GetResp, Lid{9}, 1));
  put(mad_of(Method::GetResp, Lid{9}, 2));
  runtime.run_until(runtime.now());
  EXPECT_THAT(ids(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(ReceiveQueueTurns, WhatElseIsDueRunsBetweenTwoTurnsOfAFlood) {
  for (std::uint64_t i = 0; i < 4; ++i) put(mad_of(Method::Trap, Lid{9}, i));
  std::size_t before_the_task = 0;
  runtime.post([&] { before_the_task = handled.size(); });
  runtime.run_until(runtime.now() + 1ms);
  EXPECT_EQ(before_the_task, 2u);
  EXPECT_THAT(ids(), ElementsAre(0, 1, 2, 3));
}

TEST_F(ReceiveQueueTurns, ASourceThatFloodsLosesItsOwnAndNobodyElses) {
  for (std::uint64_t i = 0; i < 1000; ++i) put(mad_of(Method::Trap, Lid{9}, i));
  put(mad_of(Method::Trap, Lid{7}, 5000));
  put(mad_of(Method::Get, Lid{9}, 6000, AttributeId::SmInfo));
  for (std::uint64_t i = 0; i < 100; ++i) put(mad_of(Method::GetResp, Lid{9}, 7000 + i));
  runtime.run_until(runtime.now() + 1ms);
  EXPECT_THAT(handled, SizeIs(4 + 1 + 1 + 100));
  EXPECT_EQ(queue.stats().dropped_of(MadKind::Trap), 996u);
  EXPECT_EQ(queue.stats().dropped_of(MadKind::Answer), 0u);
  EXPECT_EQ(queue.stats().dropped_of(MadKind::Manager), 0u);
}

TEST_F(ReceiveQueueTurns, ManySourcesAreBoundedTogether) {
  for (std::uint16_t i = 1; i <= 1000; ++i) put(mad_of(Method::Trap, Lid{i}, i));
  runtime.run_until(runtime.now() + 1ms);
  EXPECT_THAT(handled, SizeIs(10));
  EXPECT_EQ(queue.stats().dropped_of(MadKind::Trap), 990u);
  put(mad_of(Method::Trap, Lid{1}, 1));
  runtime.run_until(runtime.now() + 1ms);
  EXPECT_THAT(handled, SizeIs(11)) << "there is room again";
}

TEST(ReceiveQueue, HandsNothingOverWhenItIsGone) {
  sim::SimRuntime runtime;
  unsigned handled = 0;
  {
    ReceiveQueue queue(runtime);
    queue.on_mad([&](const MadPacket&) { ++handled; });
    const MadPacket packet = mad_of(Method::Trap, Lid{1});
    queue.put({&packet, 1});
  }
  runtime.run_until(runtime.now() + 1s);
  EXPECT_EQ(handled, 0u);
}

/// The other thread floods as fast as it can; between its traps are the answers.
TEST(ReceiveQueueOfTwoThreads, LosesNoAnswerAndAccountsForEveryTrap) {
  constexpr std::uint64_t kAnswers = 4000;
  constexpr std::uint64_t kTrapsEach = 50;
  AsioRuntime runtime;
  ReceiveQueue queue(runtime);
  std::vector<std::uint64_t> answers;
  std::uint64_t traps = 0;
  std::uint64_t requests = 0;
  bool ended = false;
  const auto check = [&] {
    const std::uint64_t dropped = queue.stats().dropped_of(MadKind::Trap);
    if (answers.size() == kAnswers && traps + dropped == kAnswers * kTrapsEach && requests == 1)
      ended = true;
    if (ended) runtime.stop();
  };
  queue.on_mad([&](const MadPacket& packet) {
    switch (kind_of(packet.mad)) {
      case MadKind::Answer:
        answers.push_back(id_of(packet));
        break;
      case MadKind::Trap:
        ++traps;
        break;
      default:
        ++requests;
    }
    check();
  });
  std::jthread receiver;
  runtime.post([&] {
    receiver = std::jthread([&] {
      std::vector<MadPacket> batch;
      for (std::uint64_t i = 0; i < kAnswers; ++i) {
        batch.assign(kTrapsEach, mad_of(Method::Trap, Lid{9}, i));
        batch.push_back(mad_of(Method::GetResp, kPermissiveLid, i));
        queue.put(batch);
      }
      // The last of all: nothing of what came before is under way any more when it is handled.
      const MadPacket last =
          mad_of(Method::Get, Lid{3}, 0, AttributeId::PortInfo, MgmtClass::SubnAdm);
      queue.put({&last, 1});
    });
  });
  runtime.run();
  receiver.join();
  EXPECT_EQ(answers.size(), kAnswers);
  EXPECT_TRUE(std::ranges::is_sorted(answers));
  EXPECT_EQ(queue.stats().dropped_of(MadKind::Answer), 0u);
  EXPECT_EQ(traps + queue.stats().dropped_of(MadKind::Trap), kAnswers * kTrapsEach);
}

constexpr ReceiveLimits kFew{.waiting = 3, .of_one_source = 2, .per_turn = 0};

std::vector<std::uint64_t> ids_of(const std::vector<MadPacket>& packets) {
  std::vector<std::uint64_t> ids;
  for (const MadPacket& each : packets) ids.push_back(id_of(each));
  return ids;
}

TEST(RequestQueue, HoldsABoundedShareOfEverySourceInTheOrderOfArrival) {
  RequestQueue queue(kFew);
  std::vector<MadPacket> rest;
  queue.put(std::vector{mad_of(Method::Get, Lid{1}, 1),
                        mad_of(Method::Get, Lid{1}, 2),
                        mad_of(Method::Get, Lid{1}, 3),
                        mad_of(Method::Get, Lid{2}, 4),
                        mad_of(Method::Get, Lid{3}, 5)},
            rest);
  EXPECT_THAT(ids_of(rest), ElementsAre(3, 5)) << "two of one source, three of all";
  std::vector<MadPacket> taken;
  ASSERT_TRUE(queue.take(2, taken, {}));
  ASSERT_TRUE(queue.take(2, taken, {}));
  EXPECT_THAT(ids_of(taken), ElementsAre(1, 2, 4));
  rest.clear();
  queue.put(std::vector{mad_of(Method::Get, Lid{1}, 6)}, rest);
  EXPECT_THAT(rest, SizeIs(0)) << "there is room again";
}

TEST(RequestQueue, WakesWhoWaitsForRequestsAndForTheEnd) {
  RequestQueue queue(kFew);
  std::vector<MadPacket> taken;
  bool ended = false;
  std::jthread waiting([&](const std::stop_token& stop) {
    while (queue.take(1, taken, stop)) {
    }
    ended = true;
  });
  // The third finds room only when the first was taken.
  std::vector<MadPacket> left{mad_of(Method::Get, Lid{1}, 1),
                              mad_of(Method::Get, Lid{1}, 2),
                              mad_of(Method::Get, Lid{1}, 3)};
  while (!left.empty()) {
    std::vector<MadPacket> rest;
    queue.put(left, rest);
    left = rest;
  }
  waiting.request_stop();
  waiting.join();
  EXPECT_TRUE(ended);
}

TEST(RequestQueue, WhatWaitsWhenItEndsIsLeft) {
  RequestQueue queue(kFew);
  std::vector<MadPacket> rest;
  queue.put(std::vector{mad_of(Method::Get, Lid{1}, 1)}, rest);
  std::stop_source stop;
  stop.request_stop();
  std::vector<MadPacket> taken;
  EXPECT_FALSE(queue.take(1, taken, stop.get_token()));
  EXPECT_THAT(taken, SizeIs(0));
}

}  // namespace
}  // namespace smd
