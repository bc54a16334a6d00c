#include "sim-backend/congestion/window.h"

#include <algorithm>
#include <climits>

namespace smd::sim {

unsigned WindowRule::ceiling() const {
  return kind == WindowKind::Fractional ? (mean_per_mille + 999) / 1000 : most;
}

WindowState open_window(const WindowRule& rule) {
  const auto most = static_cast<std::uint16_t>(rule.ceiling());
  return {.now = most, .ceiling = most};
}

void reset_window(const WindowRule& rule, WindowState& state) {
  state.now = static_cast<std::uint16_t>(rule.ceiling());
}

bool narrow_window(const WindowRule& rule, WindowState& state) {
  if (!rule.reacts() || state.now <= 1) return false;
  --state.now;
  return true;
}

void widen_window(const WindowRule& rule, WindowState& state) {
  if (rule.reacts() && state.now < rule.ceiling()) ++state.now;
}

void step_window(const WindowRule& rule, WindowState& state) {
  if (rule.kind != WindowKind::Fractional) return;
  const unsigned whole = rule.mean_per_mille / 1000;
  unsigned error = state.error + rule.mean_per_mille % 1000;
  state.ceiling = static_cast<std::uint16_t>(whole);
  if (error >= 1000) {
    error -= 1000;
    ++state.ceiling;
  }
  state.error = static_cast<std::uint16_t>(error);
}

unsigned window_of(const WindowRule& rule, const WindowState& state) {
  if (rule.kind == WindowKind::None) return UINT_MAX;
  if (rule.kind != WindowKind::Fractional) return state.now;
  return std::min(state.now, state.ceiling);
}

}  // namespace smd::sim
