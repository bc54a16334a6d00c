// MVPM: an input buffer marks, an output buffer of the same switch or a later one validates.
#include "sim-backend/congestion/marking.h"

namespace smd::sim {
namespace {

class ValidatedMarking final : public Marking {
 public:
  explicit ValidatedMarking(const MarkThresholds& thresholds) : thresholds_(thresholds) {}

  void on_input(const MarkPoint& at, const SwitchQueues&, Marks& marks) override {
    if (is_above(at.used, at.capacity, thresholds_.input)) marks |= kFirstMark;
  }

  void on_output(const MarkPoint& at, Marks& marks) override {
    if ((marks & kFirstMark) == 0) return;
    if (is_above(at.used, at.capacity, thresholds_.output)) marks |= kSecondMark;
  }

  [[nodiscard]] bool may_occur(Marks marks) const override {
    return marks == 0 || marks == kFirstMark || marks == (kFirstMark | kSecondMark);
  }

 private:
  MarkThresholds thresholds_;
};

}  // namespace

std::unique_ptr<Marking> mark_and_validate(const MarkThresholds& thresholds) {
  return std::make_unique<ValidatedMarking>(thresholds);
}

}  // namespace smd::sim
