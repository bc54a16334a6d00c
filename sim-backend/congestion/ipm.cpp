// IPM: what comes into an input buffer above the threshold is marked, wherever it goes.
#include "sim-backend/congestion/marking.h"

namespace smd::sim {
namespace {

class InputMarking final : public Marking {
 public:
  explicit InputMarking(unsigned percent) : percent_(percent) {}

  void on_input(const MarkPoint& at, const SwitchQueues&, Marks& marks) override {
    if (is_above(at.used, at.capacity, percent_)) marks |= kFirstMark;
  }

  [[nodiscard]] bool may_occur(Marks marks) const override { return marks <= kFirstMark; }

 private:
  unsigned percent_;
};

}  // namespace

std::unique_ptr<Marking> mark_by_input(const MarkThresholds& thresholds) {
  return std::make_unique<InputMarking>(thresholds.input);
}

}  // namespace smd::sim
