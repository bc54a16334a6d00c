// FIMD: fast increase, multiplicative decrease: the rate is divided and multiplied by the same.
#include <cmath>

#include "sim-backend/congestion/pace.h"

namespace smd::sim {
namespace {

constexpr double kSlowest = 1.0 / 16384;

class Fimd final : public Pace {
 public:
  explicit Fimd(double factor) : factor_(factor) {}

  [[nodiscard]] double initial() const override { return 1; }

  void on_marked(double& rate) const override { rate = std::max(rate / factor_, kSlowest); }

  bool on_clean(double& rate) const override {
    const bool some = rate < 1;
    rate = std::min(1.0, rate * factor_);
    return some;
  }

  [[nodiscard]] Picos gap(double rate, Picos packet) const override {
    return std::llround(static_cast<double>(packet) / rate);
  }

 private:
  double factor_;
};

}  // namespace

std::unique_ptr<Pace> pace_fimd(double factor) { return std::make_unique<Fimd>(factor); }

}  // namespace smd::sim
