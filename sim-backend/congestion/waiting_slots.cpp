// Waiting slots: the first mark costs one round trip, each further one k times as many up to the
// cap, and the first clean acknowledgement takes all of it back.
#include <cmath>

#include "sim-backend/congestion/pace.h"

namespace smd::sim {
namespace {

class WaitingSlots final : public Pace {
 public:
  explicit WaitingSlots(const SlotGrowth& growth) : growth_(growth) {}

  [[nodiscard]] double initial() const override { return 0; }

  /// The value counts marks: slots follow from it.
  void on_marked(double& marks) const override {
    const auto slots = [&](double of) {
      return cc::waiting_slots(
          static_cast<unsigned>(of), growth_.radix, growth_.stages, growth_.cap);
    };
    if (slots(marks + 1) != slots(marks)) marks += 1;
  }

  bool on_clean(double& marks) const override {
    const bool some = marks > 0;
    marks = 0;
    return some;
  }

  [[nodiscard]] Picos gap(double marks, Picos packet) const override {
    const auto slots =
        cc::waiting_slots(static_cast<unsigned>(marks), growth_.radix, growth_.stages, growth_.cap);
    const double wait = static_cast<double>(slots) * static_cast<double>(growth_.round_trip);
    return std::max<Picos>(packet, std::llround(std::min(wait, static_cast<double>(kSecond))));
  }

 private:
  SlotGrowth growth_;
};

}  // namespace

std::unique_ptr<Pace> pace_by_slots(const SlotGrowth& growth) {
  return std::make_unique<WaitingSlots>(growth);
}

}  // namespace smd::sim
