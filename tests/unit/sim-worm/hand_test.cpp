// Times, marks, knots and bubbles that follow from the rules by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/worm/worm_options.h"
#include "tests/unit/sim-worm/random_cases.h"

namespace smd::sim::test {
namespace {

// Switches in a row or a ring, and a host at each: host of switch s is node `switches + s`.
struct Line {
  explicit Line(int switches, bool ring = false) : count(switches) {
    what.is_host.assign(std::size_t(switches), 0);
    what.is_host.resize(std::size_t(2 * switches), 1);
    for (int s = 0; s < switches; ++s) {
      up.push_back(add(switches + s, s));
      down.push_back(add(s, switches + s));
    }
    for (int s = 0; s < switches; ++s) {
      next.push_back(s + 1 < switches || ring ? add(s, (s + 1) % switches) : -1);
    }
  }

  int add(int from, int to) {
    what.channels.push_back({from, to, int(what.channels.size())});
    return int(what.channels.size()) - 1;
  }

  // From switch to switch and down; -1 in the list: through the host of the switch just reached.
  FlitWorm& send(int from, int hops, int flits, std::int64_t made, int itb_after = -1) {
    FlitWorm worm{.host = count + from, .made = made, .flits = flits};
    const auto step = [&](int channel) {
      const auto number = int(worm.steps.size());
      worm.steps.push_back({.branches = {{channel, number + 1}}});
    };
    step(up[std::size_t(from)]);
    for (int h = 0; h <= hops; ++h) {
      const auto at = std::size_t((from + h) % count);
      if (h == itb_after) {
        step(down[at]);
        step(up[at]);
      }
      step(h == hops ? down[at] : next[at]);
    }
    worm.steps.push_back({});
    what.worms.push_back(worm);
    return what.worms.back();
  }

  int count;
  FlitCase what;
  std::vector<int> up, down, next;
};

std::int64_t time_of(const Line& line) {
  const StreamOutcome out = run_streams(line.what, 100'000);
  EXPECT_EQ(out.audit, "");
  EXPECT_EQ(out.outcome.ends.size(), line.what.worms.size());
  return out.outcome.ends[0].tail + 1 - line.what.worms[0].made;
}

// 150 ns for each switch, 50 for each cable, 6.25 for each byte; 475 more for each host between.
TEST(WormByHand, ALoneWormTakesTheTimeOfTheLaw) {
  for (const int hops : {2, 4}) {
    for (const int flits : {1, 32, 512}) {
      Line line(6);
      line.send(0, hops, flits, 5);
      EXPECT_EQ(time_of(line), 24 * (hops + 1) + 8 * (hops + 2) + flits);
      Line stopped(6);
      stopped.send(0, hops, flits, 5, 1);
      EXPECT_EQ(time_of(stopped) - time_of(line), 725 / 6.25) << "one more switch, two more cables";
    }
  }
  Line line(1);
  line.send(0, 0, 512, 1);
  EXPECT_EQ(static_cast<double>(time_of(line)) * 6.25, 3450);
}

// A worm of 1,000 flits is held at its second switch by one that has the output.
StreamOutcome hold(FlitRuleSet rules) {
  Line line(2);
  line.what.rules = rules;
  line.send(1, 0, 2000, 1);
  line.send(0, 1, 1000, 60);
  return run_streams(line.what, 100'000);
}

TEST(WormByHand, AHeldWormFillsTheSlackAndLosesNothing) {
  const StreamOutcome out = hold({});
  const Line line(2);
  EXPECT_EQ(out.outcome.most[std::size_t(line.next[0])], 57 + 2 * 8);
  const FlitEnd& held = out.outcome.ends[1];
  EXPECT_EQ(held.worm, 1);
  EXPECT_EQ(held.tail - held.head, 999) << "every cycle a flit, once the way is open";
}

TEST(WormByHand, AMarkTooLowLosesCyclesAndABufferTooSmallOverflows) {
  for (const int go : {8, 12, 15}) {
    const StreamOutcome out = hold({.go = go});
    EXPECT_GT(out.outcome.ends[1].tail - out.outcome.ends[1].head, 999) << go;
  }
  EXPECT_EQ(hold({.go = 17}).outcome.ends[1].tail - hold({.go = 17}).outcome.ends[1].head, 999);
  const Line line(2);
  EXPECT_EQ(hold({.buffer = 72}).outcome.most[std::size_t(line.next[0])], 73) << "in one for 72";
  EXPECT_EQ(check_options(WormOptions{.buffer = 73}), "");
  EXPECT_EQ(check_options(WormOptions{.buffer = 72}),
            "a buffer of 72 flits overflows: STOP above 56 lets 73 in");
}

TEST(WormByHand, TwoWormsThatCloseARingAreFoundAndAHostBetweenOpensIt) {
  Line ring(4, true);
  ring.send(0, 3, 2000, 1);
  ring.send(2, 3, 2000, 1);
  const StreamOutcome out = run_streams(ring.what, 1000);
  EXPECT_TRUE(out.circle) << "within the first 1,000 cycles";
  EXPECT_THAT(out.outcome.stuck, testing::ElementsAre(0, 1));
  Line cut(4, true);
  cut.send(0, 3, 2000, 1, 2);
  cut.send(2, 3, 2000, 1);
  const StreamOutcome free = run_streams(cut.what, 100'000);
  EXPECT_FALSE(free.circle);
  EXPECT_EQ(free.outcome.ends.size(), 2u);
}

// Routing, crossing and cable take a cycle each. A destination but the last waits for the header
// flit after its own, which is a bubble. 4 more for the source's cable and the way into the last
// host.
TEST(WormByHand, APathThroughSeveralDestinationsTakesThreeCyclesAHopAndABubbleEach) {
  struct Row {
    std::vector<int> stops;  // routers on the way, from 1
    std::int64_t expected;
  };

  for (const Row& row : {Row{{3, 7, 8, 10, 18}, 74}, Row{{2, 5, 6, 15}, 64}}) {
    const int hops = row.stops.back();
    Line line(hops + 1);
    line.what.rules = {.cable = 1, .transfer = 1, .routing = 1, .buffer = 4, .credits = true};
    FlitWorm worm{.host = line.count, .made = 1, .flits = 16 + int(row.stops.size())};
    worm.steps.push_back({.branches = {{line.up[0], 1}}});
    for (int s = 0; s <= hops; ++s) {
      const auto at = std::size_t(s);
      const bool stops = std::ranges::find(row.stops, s) != row.stops.end();
      FlitStep step{.strip = stops ? 1 : 0, .waits = stops && s < hops};
      if (stops) step.branches.push_back({line.down[at], hops + 2});
      if (s < hops) step.branches.push_back({line.next[at], s + 2});
      worm.steps.push_back(step);
    }
    worm.steps.push_back({});
    line.what.worms.push_back(worm);
    const StreamOutcome out = run_streams(line.what, 10'000);
    ASSERT_EQ(out.outcome.ends.size(), row.stops.size());
    const auto last = std::ranges::max_element(out.outcome.ends, {}, &FlitEnd::tail);
    EXPECT_EQ(row.expected, 3 * hops + std::int64_t(row.stops.size()) - 1 + 16);
    EXPECT_EQ(last->tail + 1 - worm.made, row.expected + 4);
    EXPECT_EQ(FlitMachine(line.what).run(0).ends, out.outcome.ends);
  }
}

// Local messages wait for four in transit when few are there, for fewer when many are.
TEST(WormByHand, LocalMessagesTakeTurnsWithThoseInTransit) {
  for (const int local : {3, 60, 120}) {
    Line line(2);
    line.what.rules.memory = 1 << 24;
    for (int i = 0; i < 40; ++i) line.send(0, 1, 40, 1, 1);
    for (int i = 0; i < local; ++i) line.send(1, 0, 3000, 1);
    const StreamOutcome out = run_streams(line.what, 2'000'000);
    EXPECT_EQ(out.outcome.ends, FlitMachine(line.what).run(0).ends) << local;
  }
}

TEST(WormByHand, AHostWithoutRoomDropsAWormInTransitWhole) {
  Line line(3);
  line.what.rules.memory = 700;
  line.send(1, 1, 5000, 1);  // its sender is busy
  for (int i = 0; i < 2; ++i) line.send(0, 2, 512, 1, 1);
  const StreamOutcome out = run_streams(line.what, 100'000);
  const auto dropped = std::ranges::count_if(out.outcome.ends, &FlitEnd::dropped);
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(out.outcome.ends.size(), 3u);
  EXPECT_EQ(out.outcome.ends, FlitMachine(line.what).run(0).ends);
}

// 59 flits of 512 have come in at the second switch when the cable between goes down in cycle 100;
// the switch makes one more. The rest drains, until cycle 543; the next worm asks in 567.
TEST(WormByHand, ACableThatGoesDownShortensAWormAndDrainsTheRest) {
  for (const std::int64_t up_at : {300, 600}) {
    Line line(2);
    line.send(0, 1, 512, 1);
    line.send(0, 1, 512, 400);
    line.what.faults = {{100, line.next[0], false}, {up_at, line.next[0], true}};
    const FlitOutcome out = run_streams(line.what, 3000).outcome;
    std::vector<FlitEnd> ends{{0, 3, 73, 132, false, true}};
    std::vector<int> lost{0};
    if (up_at < 567) {
      ends.push_back({1, 3, 608, 608 + 511, false, false});
    } else {
      lost.push_back(1);
    }
    EXPECT_EQ(out.ends, ends) << up_at;
    EXPECT_EQ(out.lost, lost) << up_at;
    EXPECT_EQ(FlitMachine(line.what).run(3000).ends, ends) << up_at;
  }
}

// All of a short worm is on the cable: nothing comes in, and it is lost at once.
TEST(WormByHand, WhatIsOnACableThatGoesDownIsLost) {
  Line line(2);
  line.send(0, 1, 4, 1);
  line.what.faults = {{38, line.next[0], false}};
  const StreamOutcome out = run_streams(line.what, 1000);
  EXPECT_EQ(out.audit, "");
  EXPECT_TRUE(out.outcome.ends.empty());
  EXPECT_EQ(out.outcome.lost, std::vector<int>{0});
}

}  // namespace
}  // namespace smd::sim::test
