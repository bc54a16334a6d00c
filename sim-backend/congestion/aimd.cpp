// AIMD: additive increase, multiplicative decrease of the rate.
#include <cmath>

#include "sim-backend/congestion/pace.h"

namespace smd::sim {
namespace {

constexpr double kLeastRate = 1.0 / 16384;

class Aimd final : public Pace {
 public:
  Aimd(double factor, double step) : factor_(factor), step_(step) {}

  [[nodiscard]] double initial() const override { return 1; }

  void on_marked(double& rate) const override { rate = std::max(rate / factor_, kLeastRate); }

  bool on_clean(double& rate) const override {
    const bool some = rate < 1;
    rate = std::min(1.0, rate + step_);
    return some;
  }

  [[nodiscard]] Picos gap(double rate, Picos packet) const override {
    return std::llround(static_cast<double>(packet) / rate);
  }

 private:
  double factor_;
  double step_;
};

}  // namespace

std::unique_ptr<Pace> pace_aimd(double factor, double step) {
  return std::make_unique<Aimd>(factor, step);
}

}  // namespace smd::sim
