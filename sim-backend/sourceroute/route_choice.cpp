#include "sim-backend/sourceroute/route_choice.h"

#include <algorithm>
#include <array>
#include <utility>

namespace smd::sim {

bool find_choice_kind(std::string_view name, RouteChoiceKind& out) {
  constexpr std::array<std::pair<std::string_view, RouteChoiceKind>, 6> kNames{
      {{"one", RouteChoiceKind::One},
       {"random", RouteChoiceKind::Random},
       {"rotate", RouteChoiceKind::Rotate},
       {"contention", RouteChoiceKind::Contention},
       {"size", RouteChoiceKind::Size},
       {"share", RouteChoiceKind::Share}}};
  const auto found =
      std::ranges::find(kNames, name, &std::pair<std::string_view, RouteChoiceKind>::first);
  if (found == kNames.end()) return false;
  out = found->second;
  return true;
}

RouteChooser::RouteChooser(const RouteChoiceSpec& spec,
                           std::uint32_t first,
                           std::uint32_t second,
                           Rng& rng)
    : spec_(&spec), first_(first), count_(first + second) {
  // Else the first message of every pair would go by the first route.
  const bool turns =
      spec.kind == RouteChoiceKind::Rotate || spec.kind == RouteChoiceKind::Contention;
  if (turns && count_ > 1) next_ = static_cast<std::uint32_t>(rng.below(count_));
  if (spec.kind == RouteChoiceKind::Contention) contention_.assign(count_, 1);
}

std::uint32_t RouteChooser::choose(std::uint32_t bytes, Rng& rng) {
  if (count_ == 1) return 0;
  const bool two_sets = first_ < count_;
  switch (spec_->kind) {
    case RouteChoiceKind::One:
      return 0;
    case RouteChoiceKind::Random:
      return static_cast<std::uint32_t>(rng.below(count_));
    case RouteChoiceKind::Rotate:
      return std::exchange(next_, (next_ + 1) % count_);
    case RouteChoiceKind::Contention:
      return least_contended();
    case RouteChoiceKind::Size:
      return two_sets && bytes > spec_->small ? first_ : 0;
    case RouteChoiceKind::Share:
      return two_sets && !rng.chance(spec_->share) ? first_ : 0;
  }
  return 0;
}

/// Routes alike take turns: else the first would have everything where there is no contention.
std::uint32_t RouteChooser::least_contended() {
  std::uint32_t best = 0;
  double least = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint32_t route = (next_ + i) % count_;
    const double score = contention_[route] + (route < first_ ? 0 : spec_->margin);
    if (i > 0 && score >= least) continue;
    least = score;
    best = route;
  }
  next_ = (best + 1) % count_;
  return best;
}

void RouteChooser::on_left(std::uint32_t route, double contention) {
  if (contention_.empty()) return;
  for (float& other : contention_) {
    other = std::max(1.0f, other - static_cast<float>(spec_->forgets));
  }
  contention_[route] = static_cast<float>(contention);
}

}  // namespace smd::sim
