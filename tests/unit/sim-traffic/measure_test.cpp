// Figures: histograms, batch means, steady states, saturation.
#include <gmock/gmock.h>

#include <cmath>

#include "sim-backend/measure/arrival_order.h"
#include "sim-backend/measure/steady.h"
#include "sim-backend/traffic/synthetic.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

TEST(Histogram, IsExactBelow128AndCloseBeyond) {
  Histogram small;
  for (std::uint64_t i = 1; i <= 100; ++i) small.add(i);
  EXPECT_EQ(small.percentile(0.5), 50u);
  EXPECT_EQ(small.percentile(0.99), 99u);
  EXPECT_EQ(small.percentile(1), 100u);
  EXPECT_DOUBLE_EQ(small.mean(), 50.5);

  Histogram large;
  Rng rng(1);
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(rng.next() >> (10 + rng.below(45)));
    large.add(values.back());
  }
  std::ranges::sort(values);
  for (const double share : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    const auto at = static_cast<std::size_t>(std::ceil(share * 20'000)) - 1;
    const auto exact = static_cast<double>(values[at]);
    EXPECT_GE(static_cast<double>(large.percentile(share)), exact);
    EXPECT_LE(static_cast<double>(large.percentile(share)), exact * 1.0161 + 1);
  }
  EXPECT_EQ(large.max(), values.back());
  EXPECT_EQ(large.percentile(1), values.back());
  Histogram sum = small;
  sum.add(large);
  EXPECT_EQ(sum.count(), 20'100u);
  EXPECT_EQ(Histogram().percentile(0.5), 0u);
}

TEST(BatchMeans, KnowHowWellTheyAreKnown) {
  // t(3) is 3.182; deviation of 1, 2, 3, 4 is sqrt(5/3).
  const Confidence four = estimate_mean({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(four.mean, 2.5);
  EXPECT_NEAR(four.half_width, 3.182 * std::sqrt(5.0 / 3) / 2, 1e-9);
  EXPECT_GT(four.lag1, 0);
  EXPECT_EQ(estimate_mean({7}).half_width, 0);
  EXPECT_EQ(estimate_mean({}).mean, 0);
  EXPECT_DOUBLE_EQ(four.relative(), four.half_width / 2.5);
  EXPECT_EQ(estimate_mean({7, 7}).relative(), 0);
  for (const std::vector<double>& few : {std::vector<double>{7}, std::vector<double>{}}) {
    EXPECT_TRUE(std::isinf(estimate_mean(few).relative())) << "nothing says how well it is known";
  }
  // The true mean lies within the interval about 95 times of 100.
  Rng rng(2);
  int within = 0;
  for (int run = 0; run < 1000; ++run) {
    std::vector<double> batches;
    for (int i = 0; i < 12; ++i) {
      double sum = 0;
      for (int k = 0; k < 12; ++k) sum += static_cast<double>(rng.below(1001)) / 1000;
      batches.push_back(sum);
    }
    const Confidence c = estimate_mean(batches);
    within += std::abs(c.mean - 6) <= c.half_width;
  }
  EXPECT_NEAR(within, 950, 25);
}

// Textbook values of Student's t, 95 % on two sides: 1.960 was taken from 31 degrees of freedom on.
TEST(BatchMeans, ManyBatchesGoByStudentsDistributionToo) {
  const std::pair<std::size_t, double> quantiles[] = {
      {30, 2.042}, {31, 2.0395}, {40, 2.0211}, {60, 2.0003}, {99, 1.9842}, {1000, 1.9623}};
  for (const auto& [freedom, quantile] : quantiles) {
    std::vector<double> batches;
    double squares = 0;
    for (std::size_t i = 0; i <= freedom; ++i) batches.push_back(static_cast<double>(i * i % 17));
    const Confidence c = estimate_mean(batches);
    for (const double batch : batches) squares += (batch - c.mean) * (batch - c.mean);
    const auto n = static_cast<double>(batches.size());
    EXPECT_NEAR(c.half_width / std::sqrt(squares / (n - 1) / n), quantile, 6e-5) << freedom;
  }
}

TEST(BatchMeans, FindTheTransient) {
  std::vector<double> batches{100, 50, 20};
  for (int i = 0; i < 20; ++i) batches.push_back(10 + i % 3);
  EXPECT_EQ(find_transient(batches), 3u);
  EXPECT_EQ(find_transient({5, 5, 5, 5}), 0u);
}

TEST(Fairness, IsOneWhenAllHaveTheSame) {
  EXPECT_DOUBLE_EQ(fairness({2, 2, 2}), 1);
  EXPECT_DOUBLE_EQ(fairness({1, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(fairness({}), 1);
}

TEST(Order, IsOfASourceALidAndAnSl) {
  const auto arrive = [](ArrivalOrder& order, const Delivery& arrival) {
    order.on_delivered(arrival);
    return order.late_share();
  };
  ArrivalOrder order(3);
  EXPECT_EQ(order.late_share(), 0) << "of nothing";
  EXPECT_EQ(arrive(order, {.destination = 2, .number = 10, .dlid = 5}), 0);
  EXPECT_EQ(arrive(order, {.destination = 2, .number = 30, .dlid = 5}), 0);
  // Others of that host, before either: another source, LID, SL.
  EXPECT_EQ(arrive(order, {.source = 1, .destination = 2, .number = 1, .dlid = 5}), 0);
  EXPECT_EQ(arrive(order, {.destination = 2, .number = 2, .dlid = 6}), 0);
  EXPECT_EQ(arrive(order, {.destination = 2, .number = 3, .dlid = 5, .sl = 1}), 0);
  EXPECT_EQ(arrive(order, {.destination = 1, .number = 4, .dlid = 5}), 0);
  // Two come late, one of them after the other; a copy of the latest does not.
  EXPECT_DOUBLE_EQ(arrive(order, {.destination = 2, .number = 20, .dlid = 5}), 1.0 / 7);
  EXPECT_DOUBLE_EQ(arrive(order, {.destination = 2, .number = 29, .dlid = 5}), 2.0 / 8);
  EXPECT_DOUBLE_EQ(arrive(order, {.destination = 2, .number = 30, .dlid = 5}), 2.0 / 9);
}

TEST(Order, KnowsWhatCameBeforeItCounts) {
  ArrivalOrder order(1, 100);
  order.on_delivered({.tail = 90, .number = 50});
  order.on_delivered({.tail = 99, .number = 40});
  EXPECT_EQ(order.late_share(), 0);
  order.on_delivered({.tail = 100, .number = 45});
  EXPECT_EQ(order.late_share(), 1);
  order.on_delivered({.tail = 110, .number = 60});
  EXPECT_EQ(order.late_share(), 0.5);
}

SteadyResult run(double load,
                 const SteadyPlan& plan = {.warm_up = kMilli,
                                           .interval = kMilli,
                                           .most_intervals = 40},
                 unsigned most_waiting = 0) {
  PacketOptions options = PacketOptions::thesis();
  options.adapters.most_waiting = most_waiting;
  PacketRig rig(draw("H1-S1 H2-S1 H3-S2 H4-S2 S1-S2"), options);
  std::vector<std::uint32_t> byte_time(rig.net->host_count(),
                                       byte_time_of(LinkWidth::X1, LinkSpeed::Sdr));
  SyntheticTraffic traffic({.load = load, .sizes = {{256, 1}}, .mtu = 256},
                           Destinations({{1, uniform_pattern(rig.net->host_count())}}, false),
                           byte_time);
  Meter meter(*rig.net);
  rig.net->set_workload(&traffic);
  rig.net->set_observer(&meter);
  rig.net->start();
  const SteadyResult result = measure_steady(*rig.net, meter, plan);
  EXPECT_EQ(rig.net->audit(), "");
  return result;
}

TEST(Steady, BelowSaturationEverythingArrives) {
  const SteadyResult result = run(0.3);
  EXPECT_EQ(result.state, RunState::Stable);
  EXPECT_NEAR(result.offered_load, 0.3, 0.02);
  EXPECT_NEAR(result.accepted_load, result.offered_load, 0.005);
  // Not less than an empty fabric takes: 60 + 100 + 246 + 1,128 at one switch.
  EXPECT_GT(result.latency.mean, 1534.0 * kNano);
  EXPECT_GE(result.latency.mean, result.network_latency.mean);
  EXPECT_LT(result.latency.relative(), 0.05);
  EXPECT_GT(result.occupancy.max_input, 0);
}

TEST(Steady, AboveItSourcesQueueUp) {
  // One cable for two thirds of what four hosts send: 0.75 at most.
  const SteadyResult result = run(0.95);
  EXPECT_EQ(result.state, RunState::Saturated);
  EXPECT_LT(result.accepted_load, 0.76);
  EXPECT_GT(result.accepted_load, 0.6);
  EXPECT_GT(result.intervals.back().waiting, result.intervals.front().waiting);
}

// Their queues stop growing there: every load was stable, and a search found 1.
TEST(Steady, BoundedSourcesThatAreHeldBackAreSaturatedToo) {
  const SteadyPlan plan{.warm_up = kMilli, .interval = kMilli, .most_intervals = 40};
  const SteadyResult above = run(0.95, plan, 3);
  EXPECT_EQ(above.state, RunState::Saturated);
  EXPECT_LT(above.intervals.back().waiting, 13u);
  EXPECT_NEAR(above.held_back, 1 - above.offered_load / 0.95, 0.02) << "what is not offered";
  const SteadyResult below = run(0.3, plan, 3);
  EXPECT_EQ(below.state, RunState::Stable);
  EXPECT_NEAR(below.offered_load, 0.3, 0.02);
  EXPECT_LT(below.held_back, 0.02);
  EXPECT_EQ(run(0.95).held_back, 0) << "without a bound";
  const SaturationPoint point =
      find_saturation([&](double load) { return run(load, plan, 16); }, 0.02);
  EXPECT_GT(point.load, 0.65);
  EXPECT_LT(point.load, 0.8) << "one cable carries 0.75 of it";
}

// What nothing is known of was called stable, with a mean latency of 0 that was known exactly.
TEST(Steady, WhatDeliversNothingIsNotStable) {
  const SteadyResult blink = run(0.3, {.warm_up = 20 * kMicro, .interval = kNano});
  EXPECT_EQ(blink.state, RunState::Undelivered);
  EXPECT_EQ(blink.intervals.size(), 100u) << "no precision was reached";
  EXPECT_EQ(print_run_state(blink.state), "undelivered");
  EXPECT_EQ(run(0, {.warm_up = kMilli, .interval = kMilli}).state, RunState::Undelivered);
  // One batch says nothing of how well its mean is known.
  const SteadyResult once =
      run(0.3, {.warm_up = kMilli, .interval = kMilli, .least_intervals = 1, .most_intervals = 1});
  EXPECT_GT(once.latency.mean, 0);
  EXPECT_EQ(once.state, RunState::Imprecise);
}

// Messages that never arrive ended neither the warm-up nor the run.
TEST(Steady, NumbersOfMessagesThatNeverArriveEndToo) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S2 H4-S2"), PacketOptions::thesis());
  TrafficPattern across;  // to the hosts of the other switch, which no cable leads to
  across.target = {0, 0, 1, 1};
  across.sets = {{2}, {0}};
  SyntheticTraffic traffic(
      {.load = 0.3, .sizes = {{256, 1}}, .mtu = 256},
      Destinations({{1, across}}, false),
      std::vector<std::uint32_t>(4, byte_time_of(LinkWidth::X1, LinkSpeed::Sdr)));
  Meter meter(*rig.net);
  rig.net->set_workload(&traffic);
  rig.net->set_observer(&meter);
  rig.net->start();
  const SteadyResult result = measure_steady(
      *rig.net, meter, {.interval = 100 * kMicro, .warm_up_messages = 5, .messages = 100});
  EXPECT_EQ(result.state, RunState::Undelivered);
  EXPECT_THAT(count_unreachable(rig.net->stats().discarded),
              testing::AllOf(testing::Ge(50u + 1000), testing::Le(1400u)));
}

TEST(Saturation, IsFoundBetweenStableAndNot) {
  unsigned runs = 0;
  const auto model = [&](double load) {
    ++runs;
    SteadyResult out;
    out.state = load > 0.617 ? RunState::Saturated : RunState::Stable;
    out.accepted_load = load;
    return out;
  };
  const SaturationPoint point = find_saturation(model, 0.01);
  EXPECT_NEAR(point.load, 0.617, 0.01);
  EXPECT_LE(point.load, 0.617);
  EXPECT_EQ(point.accepted, point.load);
  EXPECT_EQ(point.runs, runs);
  const SaturationPoint whole = find_saturation([](double) { return SteadyResult{}; }, 0.01);
  EXPECT_EQ(whole.load, 1);
  EXPECT_FALSE(point.ended_early_at);
  EXPECT_FALSE(whole.ended_early_at);
}

// What ended early is neither stable nor saturated: the search does not go on as if it were.
TEST(Saturation, ARunThatEndedEarlyEndsTheSearchAndIsNamed) {
  for (const RunState how : {RunState::Full, RunState::Interrupted, RunState::Undelivered}) {
    std::vector<double> asked;
    double from = 0;
    const auto model = [&](double load) {
      asked.push_back(load);
      SteadyResult out;
      out.state = asked.size() == 3 ? how : load > 0.3 ? RunState::Saturated : RunState::Stable;
      out.accepted_load = load;
      from = load;
      return out;
    };
    const SaturationPoint point = find_saturation(model, 0.01);
    EXPECT_THAT(asked, testing::ElementsAre(1, 0.5, 0.25)) << print_run_state(how);
    EXPECT_EQ(point.runs, 3u);
    EXPECT_EQ(point.load, 0);
    EXPECT_EQ(point.ended_early_at, from);
    EXPECT_EQ(point.ended_early_by, how);
    const SaturationPoint at_once = find_saturation(
        [how](double) {
          SteadyResult out;
          out.state = how;
          return out;
        },
        0.01);
    EXPECT_EQ(at_once.runs, 1u);
    EXPECT_EQ(at_once.ended_early_at, 1);
  }
}

TEST(Saturation, CountsWhatHadNoRouteAtTheLoadThatIsStable) {
  const auto model = [](double load) {
    SteadyResult out;
    out.state = load > 0.6 ? RunState::Saturated : RunState::Stable;
    Interval interval{.generated = static_cast<std::uint64_t>(1000 * load)};
    interval.discarded[static_cast<std::size_t>(Discard::Unroutable)] = 7;
    interval.discarded[static_cast<std::size_t>(Discard::HeadOfQueueLife)] = 11;
    out.intervals = {interval, interval};
    return out;
  };
  const SaturationPoint point = find_saturation(model, 0.3);
  EXPECT_EQ(point.load, 0.5);
  EXPECT_EQ(point.unreachable, 14u);
  EXPECT_EQ(point.generated, 1000u);
}

}  // namespace
}  // namespace smd::sim::test
