#include "sim-backend/traffic/arrivals.h"

#include <algorithm>
#include <cmath>

namespace smd::sim {
namespace {

constexpr double kLongest = 10'000;

/// In (0, 1].
double draw_unit(Rng& rng) { return (static_cast<double>(rng.next() >> 11) + 1) * 0x1.0p-53; }

double draw_exponential(double mean, Rng& rng) { return -mean * std::log(draw_unit(rng)); }

/// A Pareto law cut at kLongest times its least value, which keeps its variance finite; `mean` is
/// that of what is left: mean = least (shape - kLongest^(1 - shape)) / (shape - 1).
double draw_pareto(double mean, double shape, Rng& rng) {
  const double least = mean * (shape - 1) / (shape - std::pow(kLongest, 1 - shape));
  return least * std::min(std::pow(draw_unit(rng), -1 / shape), kLongest);
}

double draw_pause(const ArrivalModel& model, Rng& rng) {
  // A burst of b messages lasts b gaps of the least length, the last of which ends in the pause.
  const double mean = model.burst * (model.mean_gap - model.least_gap);
  return model.kind == ArrivalKind::OnOff ? draw_exponential(mean, rng)
                                          : draw_pareto(mean, model.shape, rng);
}

std::uint64_t draw_burst(const ArrivalModel& model, Rng& rng) {
  if (model.kind == ArrivalKind::SelfSimilar) {
    // Rounded up as often as keeps the mean.
    const double beyond_first = draw_pareto(model.burst - 1, model.shape, rng);
    const double up = static_cast<double>(rng.next() >> 11) * 0x1.0p-53;
    return 1 + static_cast<std::uint64_t>(beyond_first + up);
  }
  // Geometric from 1.
  const double stay = 1 - 1 / std::max(1.0, model.burst);
  if (stay <= 0) return 1;
  return 1 + static_cast<std::uint64_t>(std::log(draw_unit(rng)) / std::log(stay));
}

}  // namespace

bool find_arrivals(std::string_view name, ArrivalKind& out) {
  constexpr std::pair<std::string_view, ArrivalKind> kNames[] = {
      {"poisson", ArrivalKind::Poisson},
      {"constant", ArrivalKind::Constant},
      {"bernoulli", ArrivalKind::Bernoulli},
      {"on-off", ArrivalKind::OnOff},
      {"uniform-gap", ArrivalKind::UniformGap},
      {"self-similar", ArrivalKind::SelfSimilar}};
  for (const auto& [known, kind] : kNames) {
    if (known != name) continue;
    out = kind;
    return true;
  }
  return false;
}

Picos Arrivals::begin(const ArrivalModel& model, Rng& rng) {
  at_ = 0;
  left_ = 0;
  if (model.kind == ArrivalKind::Constant) {
    at_ = model.mean_gap * (1 - draw_unit(rng));
    return static_cast<Picos>(at_);
  }
  if (model.kind == ArrivalKind::OnOff || model.kind == ArrivalKind::SelfSimilar) {
    at_ = draw_pause(model, rng) * draw_unit(rng);
    left_ = draw_burst(model, rng) - 1;
    return static_cast<Picos>(at_);
  }
  return next(model, 0, rng);
}

Picos Arrivals::next(const ArrivalModel& model, Picos now, Rng& rng) {
  // A source that was held up goes on from there.
  at_ = std::max(at_, static_cast<double>(now));
  switch (model.kind) {
    case ArrivalKind::Poisson:
      at_ += draw_exponential(model.mean_gap, rng);
      break;
    case ArrivalKind::Constant:
      at_ += model.mean_gap;
      break;
    case ArrivalKind::UniformGap:
      at_ += 2 * model.mean_gap * draw_unit(rng);
      break;
    case ArrivalKind::Bernoulli: {
      const double slot = static_cast<double>(model.slot);
      const double chance = std::min(1.0, slot / model.mean_gap);
      const double slots =
          chance >= 1 ? 1 : 1 + std::floor(std::log(draw_unit(rng)) / std::log(1 - chance));
      at_ = (std::floor(at_ / slot + 0.5) + slots) * slot;
      break;
    }
    case ArrivalKind::OnOff:
    case ArrivalKind::SelfSimilar:
      at_ += model.least_gap;
      if (left_ == 0) {
        at_ += draw_pause(model, rng);
        left_ = draw_burst(model, rng);
      }
      --left_;
      break;
  }
  return std::max(now + 1, static_cast<Picos>(at_));
}

}  // namespace smd::sim
