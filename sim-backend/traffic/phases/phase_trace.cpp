#include "sim-backend/traffic/phases/phase_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace smd::sim {
namespace {

PhaseInput input_of(const Phase& phase, HostNum ranks) {
  return {.ranks = ranks, .bytes = phase.bytes, .root = phase.root};
}

/// What the busiest rank sends or receives.
std::uint64_t most_bytes(const std::vector<PhaseMessage>& messages, HostNum ranks) {
  std::vector<std::uint64_t> out(ranks, 0), in(ranks, 0);
  std::uint64_t most = 0;
  for (const PhaseMessage& message : messages) {
    most = std::max(most, out[message.from] += message.bytes);
    most = std::max(most, in[message.to] += message.bytes);
  }
  return most;
}

double round_ns(const std::vector<PhaseMessage>& messages, const PhaseTiming& timing) {
  return double(most_bytes(messages, timing.ranks)) / timing.bytes_per_ns / timing.speed;
}

Picos to_picos_of(double ns) { return std::llround(ns * double(kNano)); }

}  // namespace

PhaseSum sum_phases(const std::vector<Phase>& phases, const PhaseTiming& timing) {
  PhaseSum sum;
  std::vector<PhaseMessage> messages;
  for (const Phase& phase : phases) {
    const PhaseInput input = input_of(phase, timing.ranks);
    const std::uint32_t rounds = phase.pattern->rounds(input);
    const double times = double(phase.times) * double(timing.repeat);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      messages.clear();
      phase.pattern->list(input, round, messages);
      sum.lasts_ns += times * round_ns(messages, timing);
      sum.messages += times * double(messages.size());
      for (const PhaseMessage& message : messages) sum.bytes += times * message.bytes;
    }
    sum.lasts_ns += times * double(phase.pause_ns) / timing.speed;
  }
  return sum;
}

std::string print_trace_line(const TraceLine& line) {
  std::string at = fmt::format("{}", line.at / kNano);
  if (line.at % kNano != 0) at += fmt::format(".{:03}", line.at % kNano);
  const std::uint8_t level = line.sl.value_or(0);
  const std::string sl = level == 0 ? "" : fmt::format(" {}", level);
  return fmt::format("{} {} {} {}{}\n", at, line.source, line.destination, line.bytes, sl);
}

PhaseTrace::PhaseTrace(std::vector<Phase> phases, const PhaseTiming& timing)
    : phases_(std::move(phases)),
      timing_(timing),
      rng_(timing.seed),
      base_(static_cast<Picos>(timing.start_ns) * kNano),
      delay_(timing.ranks, 0) {
  if (phases_.empty()) turn_ = timing_.repeat;
  if (!at_end()) begin_phase();
}

void PhaseTrace::begin_phase() {
  if (timing_.jitter_ns == 0) return;
  for (Picos& delay : delay_) {
    const auto late = rng_.below(timing_.jitter_ns * std::uint64_t{kNano} + 1);
    delay = to_picos_of(double(late) / double(kNano) / timing_.speed);
  }
}

void PhaseTrace::make_round() {
  const Phase& phase = phases_[phase_];
  messages_.clear();
  phase.pattern->list(input_of(phase, timing_.ranks), round_, messages_);
  for (const PhaseMessage& message : messages_) {
    held_.push({.line = {.at = base_ + delay_[message.from],
                         .source = timing_.first_host + message.from,
                         .destination = timing_.first_host + message.to,
                         .bytes = message.bytes,
                         .sl = timing_.sl},
                .number = made_++});
  }
  end_round(to_picos_of(round_ns(messages_, timing_)));
}

void PhaseTrace::end_round(Picos lasts) {
  const Phase& phase = phases_[phase_];
  base_ += lasts;
  if (++round_ < phase.pattern->rounds(input_of(phase, timing_.ranks))) return;
  round_ = 0;
  base_ += to_picos_of(double(phase.pause_ns) / timing_.speed);
  if (++time_ == phase.times) {
    time_ = 0;
    if (++phase_ == phases_.size()) {
      phase_ = 0;
      ++turn_;
    }
  }
  if (!at_end()) begin_phase();
}

std::optional<TraceLine> PhaseTrace::next() {
  while (!at_end() && (held_.empty() || held_.top().line.at >= base_)) make_round();
  if (held_.empty()) return std::nullopt;
  const TraceLine line = held_.top().line;
  held_.pop();
  return line;
}

}  // namespace smd::sim
