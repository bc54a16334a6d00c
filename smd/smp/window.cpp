#include "smd/smp/window.h"

#include <algorithm>

namespace smd {

void SmpWindow::on_answer() {
  if (size_ == max_) return;
  if (lost_ && ++answers_ < size_) return;
  answers_ = 0;
  ++size_;
}

void SmpWindow::on_loss(TimePoint injected, TimePoint now) {
  if (lost_ && injected < halved_at_) return;
  lost_ = true;
  halved_at_ = now;
  answers_ = 0;
  size_ = std::max(min_, size_ / 2);
}

}  // namespace smd
