// LIPD: linear inter-packet delay, in packet times.
#include <cmath>

#include "sim-backend/congestion/pace.h"

namespace smd::sim {
namespace {

class Lipd final : public Pace {
 public:
  [[nodiscard]] double initial() const override { return 0; }

  void on_marked(double& delay) const override { delay += 1; }

  bool on_clean(double& delay) const override {
    const bool some = delay > 0;
    delay = std::max(0.0, delay - 1);
    return some;
  }

  [[nodiscard]] Picos gap(double delay, Picos packet) const override {
    return std::llround((1 + delay) * static_cast<double>(packet));
  }
};

}  // namespace

std::unique_ptr<Pace> pace_lipd() { return std::make_unique<Lipd>(); }

}  // namespace smd::sim
