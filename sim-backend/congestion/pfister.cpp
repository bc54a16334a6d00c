// Pfister's slots: one more for each mark, as many as there are marks.
#include <cmath>

#include "sim-backend/congestion/pace.h"

namespace smd::sim {
namespace {

class PfisterSlots final : public Pace {
 public:
  explicit PfisterSlots(double slot) : slot_(slot) {}

  [[nodiscard]] double initial() const override { return 0; }

  void on_marked(double& slots) const override { slots += 1; }

  bool on_clean(double& slots) const override {
    const bool some = slots > 0;
    slots = std::max(0.0, slots - 1);
    return some;
  }

  [[nodiscard]] Picos gap(double slots, Picos packet) const override {
    return std::llround((1 + slots * slot_) * static_cast<double>(packet));
  }

 private:
  double slot_;
};

}  // namespace

double pfister_slot(unsigned hot_sources, unsigned ports) {
  return std::max(1.0, static_cast<double>(hot_sources) / std::max(1u, ports));
}

std::unique_ptr<Pace> pace_pfister(double slot) { return std::make_unique<PfisterSlots>(slot); }

}  // namespace smd::sim
