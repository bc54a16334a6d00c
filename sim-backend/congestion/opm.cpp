// OPM: what comes into an output buffer above the threshold is marked.
#include "sim-backend/congestion/marking.h"

namespace smd::sim {
namespace {

class OutputMarking final : public Marking {
 public:
  explicit OutputMarking(unsigned percent) : percent_(percent) {}

  void on_output(const MarkPoint& at, Marks& marks) override {
    if (is_above(at.used, at.capacity, percent_)) marks |= kFirstMark;
  }

  [[nodiscard]] bool may_occur(Marks marks) const override { return marks <= kFirstMark; }

 private:
  unsigned percent_;
};

}  // namespace

std::unique_ptr<Marking> mark_by_output(const MarkThresholds& thresholds) {
  return std::make_unique<OutputMarking>(thresholds.output);
}

}  // namespace smd::sim
