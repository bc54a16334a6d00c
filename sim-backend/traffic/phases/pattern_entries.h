// The patterns there are, each in its own file.
#pragma once

#include "sim-backend/traffic/phases/pattern.h"

namespace smd::sim {

extern const PhasePattern kAllReducePhase;
extern const PhasePattern kAllToAllPhase;
extern const PhasePattern kBroadcastPhase;
extern const PhasePattern kGatherPhase;
extern const PhasePattern kHaloPhase;
extern const PhasePattern kReducePhase;
extern const PhasePattern kRingAllReducePhase;

}  // namespace smd::sim
