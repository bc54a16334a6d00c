#include "smd/smp/window.h"

#include <algorithm>

namespace smd {
namespace {

constexpr unsigned kLeastCaution = 2;
constexpr unsigned kMostCaution = 64;

}  // namespace

void SmpWindow::on_answer() {
  if (size_ == max_) return;
  if (size_ >= known_good_ && ++answers_ < size_ * caution_) return;
  answers_ = 0;
  ++size_;
}

void SmpWindow::on_loss(TimePoint injected, TimePoint now, unsigned burst) {
  if (wall_ != 0 && injected < halved_at_) return;
  const unsigned lost_at = std::clamp(burst, min_, size_);
  const bool same_wall = wall_ != 0 && 4 * lost_at >= 3 * wall_ && 3 * lost_at <= 4 * wall_;
  caution_ = same_wall ? std::min(2 * caution_, kMostCaution) : kLeastCaution;
  wall_ = lost_at;
  known_good_ = std::max(min_, lost_at * 3 / 4);
  size_ = std::max(min_, lost_at / 2);
  answers_ = 0;
  halved_at_ = now;
}

}  // namespace smd
