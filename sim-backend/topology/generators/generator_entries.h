// The rows of the registry; each is defined beside the function that draws it.
#pragma once

#include "sim-backend/topology/generator.h"

namespace smd::sim {

extern const Generator kFatTree;
extern const Generator kPgft;
extern const Generator kTorus;
extern const Generator kHypercube;
extern const Generator kDragonfly;
extern const Generator kDragonflyPlus;
extern const Generator kHamming;
extern const Generator kSlimFly;
extern const Generator kClos;
extern const Generator kRails;
extern const Generator kMultiPlane;
extern const Generator kBmin;
extern const Generator kUmin;
extern const Generator kIrregular;
extern const Generator kIrregular4;
extern const Generator kCplant;
extern const Generator kExpressTorus;
extern const Generator kRealTree;
extern const Generator kExample;

}  // namespace smd::sim
