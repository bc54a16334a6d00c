#include <array>

#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {

std::span<const Generator> generators() {
  static const std::array all{
      kFatTree,    kPgft,   kTorus,        kHypercube,  kDragonfly, kDragonflyPlus, kHamming,
      kSlimFly,    kClos,   kRails,        kMultiPlane, kBmin,      kUmin,          kIrregular,
      kIrregular4, kCplant, kExpressTorus, kRealTree,   kExample,
  };
  return all;
}

}  // namespace smd::sim
