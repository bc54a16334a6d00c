#include "sim-backend/measure/steady.h"

#include <algorithm>

namespace smd::sim {
namespace {

// Source queues that grow by so much of what is made do not wait for their turn, nor do sources
// that are held back for so much of their time.
constexpr double kTolerance = 0.02;

// So many packets lost, and none delivered, for each that is waited for: none will come.
constexpr std::uint64_t kInVain = 10;

class ArrivalWatch {
 public:
  explicit ArrivalWatch(const DataNet& net)
      : net_(&net), delivered_(net.stats().delivered), lost_(net.stats().discards()) {}

  /// Packets, since the last call that saw one arrive.
  [[nodiscard]] std::uint64_t lost_since() {
    const NetStats& now = net_->stats();
    if (now.delivered > delivered_) {
      delivered_ = now.delivered;
      lost_ = now.discards();
    }
    return now.discards() - lost_;
  }

 private:
  const DataNet* net_;
  std::uint64_t delivered_;
  std::uint64_t lost_;
};

bool is_backlog_growing(const std::vector<Interval>& intervals, std::uint64_t waiting_before) {
  double generated = 0;
  for (const Interval& interval : intervals) generated += static_cast<double>(interval.generated);
  // Half the run against the other half, so that one burst at the end does not decide.
  const std::size_t half = intervals.size() / 2;
  double first = static_cast<double>(waiting_before), last = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    (i < half ? first : last) += static_cast<double>(intervals[i].waiting);
  }
  first /= static_cast<double>(half + 1);
  last /= static_cast<double>(intervals.size() - half);
  // Half of what was made was made between the two means.
  return last - first > kTolerance * generated / 2;
}

/// Of the time of all hosts that had something to send.
double held_back_share(const DataNet& net, const std::vector<Interval>& intervals) {
  std::uint64_t held_back = 0;
  for (const Interval& interval : intervals) held_back += interval.held_back;
  if (held_back == 0) return 0;
  HostNum senders = 0;
  for (HostNum host = 0; host < net.host_count(); ++host) senders += net.has_sent(host);
  const Picos time = intervals.back().end - intervals.front().begin;
  return static_cast<double>(held_back) / senders / static_cast<double>(time);
}

}  // namespace

double link_capacity(const DataNet& net, Picos time) {
  double bytes = 0;
  for (HostNum host = 0; host < net.host_count(); ++host) {
    const std::uint32_t byte_time = net.host_byte_time(host);
    if (byte_time > 0) bytes += static_cast<double>(time) * 65536.0 / byte_time;
  }
  return bytes;
}

std::string_view print_run_state(RunState state) {
  switch (state) {
    case RunState::Stable:
      return "stable";
    case RunState::Imprecise:
      return "imprecise";
    case RunState::Saturated:
      return "saturated";
    case RunState::Deadlocked:
      return "deadlocked";
    case RunState::Interrupted:
      return "interrupted";
    case RunState::Full:
      return "full";
    case RunState::Undelivered:
      return "undelivered";
  }
  return "";
}

SteadyResult measure_steady(DataNet& net, Meter& meter, const SteadyPlan& plan) {
  return measure_steady(net, meter, plan, [&net](Picos until) { net.run_until(until); });
}

SteadyResult measure_steady(DataNet& net,
                            Meter& meter,
                            const SteadyPlan& plan,
                            const std::function<void(Picos)>& step,
                            const GoesOn& goes_on,
                            const std::function<void()>& begun) {
  SteadyResult out;
  if (plan.warm_up_messages == 0) step(net.now() + plan.warm_up);
  ArrivalWatch watch(net);
  while (net.stats().delivered < plan.warm_up_messages && net.next_event() != kNever &&
         watch.lost_since() < kInVain * plan.warm_up_messages &&
         net.find_deadlock(net.now()).empty()) {
    step(net.now() + plan.interval);
  }
  begun();
  meter.restart();
  watch = ArrivalWatch(net);
  const std::uint64_t delivered_before = net.stats().delivered;
  const std::uint64_t waiting_before = net.stats().waiting;
  const Picos last_end = net.now() + plan.most_intervals * plan.interval;
  std::vector<double> latency, network;
  bool interrupted = false;
  const auto goes_on_for = [&] {
    if (plan.messages == 0) return out.intervals.size() < plan.most_intervals;
    return net.stats().delivered - delivered_before < plan.messages &&
           watch.lost_since() < kInVain * plan.messages &&
           (out.intervals.empty() || net.next_event() != kNever);
  };
  while (goes_on_for() && !interrupted) {
    step(net.now() + plan.interval);
    out.intervals.push_back(meter.cut());
    const Interval& last = out.intervals.back();
    if (last.delivered > 0) {
      latency.push_back(last.latency);
      network.push_back(last.network_latency);
    }
    const Occupancy now = net.occupancy();
    out.occupancy.mean_input += now.mean_input;
    out.occupancy.mean_output += now.mean_output;
    out.occupancy.max_input = std::max(out.occupancy.max_input, now.max_input);
    out.occupancy.max_output = std::max(out.occupancy.max_output, now.max_output);
    // While messages are waited for, only what opens at once is worth waiting for as well.
    out.deadlock = net.find_deadlock(plan.messages == 0 ? last_end : net.now());
    if (!out.deadlock.empty()) {
      out.deadlock_at = net.now();
      break;
    }
    const bool enough = out.intervals.size() >= plan.least_intervals;
    if (plan.messages > 0) {
      interrupted = !goes_on(static_cast<double>(net.stats().delivered - delivered_before) /
                             static_cast<double>(plan.messages));
      continue;
    }
    if (plan.stop_early && enough && estimate_mean(latency).relative() <= plan.precision &&
        !is_backlog_growing(out.intervals, waiting_before)) {
      break;
    }
    interrupted = !goes_on(static_cast<double>(out.intervals.size()) / plan.most_intervals);
  }
  const auto n = static_cast<double>(out.intervals.size());
  out.occupancy.mean_input /= n;
  out.occupancy.mean_output /= n;
  out.latency = estimate_mean(latency);
  out.network_latency = estimate_mean(network);
  out.transient = find_transient(latency);
  const Picos time = out.intervals.back().end - out.intervals.front().begin;
  double wanted = 0, delivered = 0;
  for (const Interval& interval : out.intervals) {
    wanted += static_cast<double>(interval.wanted_bytes);
    delivered += static_cast<double>(interval.wire_bytes);
  }
  const double whole = link_capacity(net, time);
  out.accepted_load = whole == 0 ? 0 : delivered / whole;
  out.offered_load = whole == 0 ? 0 : wanted / whole;
  out.held_back = held_back_share(net, out.intervals);
  if (!out.deadlock.empty()) {
    out.state = RunState::Deadlocked;
  } else if (interrupted) {
    out.state = RunState::Interrupted;
  } else if (latency.empty()) {
    out.state = RunState::Undelivered;
  } else if (is_backlog_growing(out.intervals, waiting_before) || out.held_back > kTolerance) {
    out.state = RunState::Saturated;
  } else if (out.latency.relative() > plan.precision) {
    out.state = RunState::Imprecise;
  }
  return out;
}

SaturationPoint find_saturation(const std::function<SteadyResult(double)>& run, double tolerance) {
  SaturationPoint out;
  double low = 0, high = 1;
  const auto holds = [&](double load) {
    const SteadyResult result = run(load);
    ++out.runs;
    if (result.state == RunState::Full || result.state == RunState::Interrupted ||
        result.state == RunState::Undelivered) {
      out.ended_early_at = load;
      out.ended_early_by = result.state;
    }
    if (result.state == RunState::Deadlocked) {
      // Loads at which it does not hold fall.
      out.deadlocked_at = load;
      out.deadlock = result.deadlock;
      out.deadlock_found = result.deadlock_at;
    }
    const bool stable = result.state == RunState::Stable || result.state == RunState::Imprecise;
    if (stable) {
      out.load = load;
      out.accepted = result.accepted_load;
      out.generated = out.unreachable = 0;
      for (const Interval& interval : result.intervals) {
        out.generated += interval.generated;
        out.unreachable += count_unreachable(interval.discarded);
      }
    }
    return stable;
  };
  if (holds(1)) return out;
  while (!out.ended_early_at && high - low > tolerance) {
    const double middle = (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return out;
}

}  // namespace smd::sim
