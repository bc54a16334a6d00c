#include "smd/program/phase_runner.h"

#include <algorithm>
#include <utility>

#include "smd/program/block_choice.h"

namespace smd {

void PhaseRunner::start(std::function<void()> done) {
  done_ = std::move(done);
  block_turns();
}

void PhaseRunner::block_turns() {
  if (at_ == plan().phases.size()) return write_leftovers();
  parts_.turns.block(phase().block, [this](Unconfirmed unconfirmed) {
    if (!interrupts("blocking turns", std::move(unconfirmed))) restore_turns();
  });
}

void PhaseRunner::restore_turns() {
  parts_.turns.restore(phase().restore, [this](Unconfirmed unconfirmed) {
    if (!interrupts("restoring turns", std::move(unconfirmed))) deactivate();
  });
}

void PhaseRunner::deactivate() {
  parts_.ports.deactivate(phase().deactivate, [this](Unconfirmed unconfirmed) {
    if (!interrupts("deactivating ports", std::move(unconfirmed))) write_rows();
  });
}

void PhaseRunner::write_rows() {
  const auto then = [this](Unconfirmed unconfirmed) {
    if (interrupts("writing SL-to-VL rows", std::move(unconfirmed))) return;
    if (std::exchange(defaults_set_, true)) return write_entries();
    parts_.switches.set_default_ports([this] { write_entries(); });
  };
  phase().rows ? parts_.rows.write(then) : then({});
}

void PhaseRunner::write_entries() {
  const bool writes = !phase().entries.empty() || phase().to_wanted || plan().phases.size() == 1;
  const bool all =
      writes && block_choice(run_) != BlockChoice::Changed && !std::exchange(whole_written_, true);
  parts_.blocks.write(
      phase().to_wanted ? choose_blocks(run_) : choose_blocks(run_, phase().entries, all),
      [this](Unconfirmed unconfirmed) {
        if (interrupts("writing entries", std::move(unconfirmed))) return;
        raise_tops();
      });
}

void PhaseRunner::raise_tops() {
  parts_.switches.raise_tops([this](Unconfirmed unconfirmed) {
    if (!interrupts("raising LinearFDBTop", std::move(unconfirmed))) activate();
  });
}

void PhaseRunner::activate() {
  parts_.ports.activate(phase().activate, [this] {
    ++at_;
    run_.report.phases_done = at_;
    const bool drains = plan().in_flight == InFlight::Drained && at_ < plan().phases.size() &&
                        run_.input.drain_time > Duration{0};
    if (!drains) return block_turns();
    parts_.stage.later(run_.input.drain_time, [this] { block_turns(); });
  });
}

/// Blocks that no entry of the plan touched, and that LinearFDBTop may be about to put in force.
void PhaseRunner::write_leftovers() {
  if (!std::exchange(defaults_set_, true))
    return parts_.switches.set_default_ports([this] { write_leftovers(); });
  parts_.blocks.write(choose_leftovers(run_), [this](Unconfirmed unconfirmed) {
    if (!interrupts("writing what no phase touched", std::move(unconfirmed))) finish();
  });
}

void PhaseRunner::finish() {
  std::string unwanted = find_unwanted_block(run_);
  if (unwanted.empty()) unwanted = parts_.rows.find_unwanted();
  if (!unwanted.empty() && plan().kind != TransitionKind::Initial) {
    run_.report.plan_interrupted = {
        .phase = at_, .why = unwanted + " is not as wanted after the last phase", .switches = {}};
  }
  std::exchange(done_, nullptr)();
}

bool PhaseRunner::interrupts(std::string_view list, Unconfirmed unconfirmed) {
  if (unconfirmed.empty() || plan().kind == TransitionKind::Initial) return false;
  std::string why = fmt::format(
      "{} of phase {}: {}, {}", list, at_ + 1, unconfirmed.nodes.front(), unconfirmed.first);
  std::ranges::sort(unconfirmed.nodes);
  const auto twice = std::ranges::unique(unconfirmed.nodes);
  unconfirmed.nodes.erase(twice.begin(), twice.end());
  run_.report.plan_interrupted = {
      .phase = at_, .why = std::move(why), .switches = std::move(unconfirmed.nodes)};
  std::exchange(done_, nullptr)();
  return true;
}

}  // namespace smd
