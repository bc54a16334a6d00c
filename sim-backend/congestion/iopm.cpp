// IOPM: input and output buffers mark independently, each its own bit.
#include "sim-backend/congestion/marking.h"

namespace smd::sim {
namespace {

class InputOutputMarking final : public Marking {
 public:
  explicit InputOutputMarking(const MarkThresholds& thresholds) : thresholds_(thresholds) {}

  void on_input(const MarkPoint& at, const SwitchQueues&, Marks& marks) override {
    if (is_above(at.used, at.capacity, thresholds_.input)) marks |= kFirstMark;
  }

  void on_output(const MarkPoint& at, Marks& marks) override {
    if (is_above(at.used, at.capacity, thresholds_.output)) marks |= kSecondMark;
  }

  [[nodiscard]] bool may_occur(Marks marks) const override {
    return marks <= (kFirstMark | kSecondMark);
  }

 private:
  MarkThresholds thresholds_;
};

}  // namespace

std::unique_ptr<Marking> mark_by_both(const MarkThresholds& thresholds) {
  return std::make_unique<InputOutputMarking>(thresholds);
}

}  // namespace smd::sim
