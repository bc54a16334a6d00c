// A transition plan for people: what each phase does, and the first of its entries.
#pragma once

#include <string>

#include "smd/plan/transition.h"

namespace smd::app {

/// Of each list of a phase its length and at most the first twenty elements.
[[nodiscard]] std::string print_transition(const Fabric& fabric, const TransitionPlan& plan);

}  // namespace smd::app
