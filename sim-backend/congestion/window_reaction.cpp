#include "sim-backend/congestion/window_reaction.h"

#include <algorithm>

#include "smd/base/check.h"

namespace smd::sim {

WindowReaction::WindowReaction(HostNum hosts, WindowOptions options)
    : options_(std::move(options)),
      flows_(hosts,
             {.window = open_window(options_.window),
              .pace = options_.pace == nullptr ? 0 : options_.pace->initial()}) {}

Picos WindowReaction::allowed_at(const Flow& flow, Picos) {
  const State& at = find(flow);
  if (at.outstanding >= window_of(options_.window, at.window)) return kNever;
  if (options_.pace == nullptr || at.packet == 0) return 0;
  return at.begin + options_.pace->gap(at.pace, at.packet);
}

void WindowReaction::on_queued(const Flow& flow) {
  State& at = find(flow);
  if (at.waiting++ > 0 || options_.recovery == Recovery::Progressive) return;
  reset_window(options_.window, at.window);
  if (options_.pace != nullptr) at.pace = options_.pace->initial();
}

void WindowReaction::on_unqueued(const Flow& flow) { --find(flow).waiting; }

void WindowReaction::on_injected(const Flow& flow, Picos begin, Picos end) {
  State& at = find(flow);
  ++at.outstanding;
  most_outstanding_ = std::max(most_outstanding_, at.outstanding);
  at.begin = begin;
  at.packet = end - begin;
  step_window(options_.window, at.window);
}

void WindowReaction::on_lost(const Flow& flow) {
  State& at = find(flow);
  SMD_CHECK(at.outstanding > 0, "more packets came back than were sent");
  --at.outstanding;
}

void WindowReaction::on_feedback(const Flow& flow, const Feedback& feedback, Picos) {
  State& at = find(flow);
  if (feedback.acknowledges) {
    SMD_CHECK(at.outstanding > 0, "more acknowledgements came than packets were sent");
    --at.outstanding;
  }
  const Pace* pace = options_.pace.get();
  if (feedback.marks == 0) {
    if (pace == nullptr || !pace->on_clean(at.pace)) widen_window(options_.window, at.window);
    return;
  }
  const bool severe = !options_.two_bits || feedback.marks == (kFirstMark | kSecondMark);
  const bool narrowed = narrow_window(options_.window, at.window);
  if (severe && !narrowed && pace != nullptr) pace->on_marked(at.pace);
}

WindowReaction::View WindowReaction::view(const Flow& flow) {
  const State& at = find(flow);
  return {.window = window_of(options_.window, at.window),
          .outstanding = at.outstanding,
          .pace = at.pace};
}

}  // namespace smd::sim
