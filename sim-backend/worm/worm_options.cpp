#include "sim-backend/worm/worm_options.h"

#include <fmt/core.h>

namespace smd::sim {

std::string check_options(const WormOptions& options) {
  if (options.cycle <= 0) return "a cycle takes time";
  if (options.cycle > kLongestWormCycle) return "a cycle takes 65,535 ps at most";
  if (options.cable == 0) return "a cable takes a cycle at least";
  if (options.transfer > 1) return "a switch's transfer takes 0 or 1 cycles";
  if (options.routing == 0 || options.detection == 0 || options.dma == 0) {
    return "routing, detection and DMA take at least a cycle each";
  }
  if (options.flow == WormFlow::Credits) {
    return options.buffer == 0 ? "a buffer holds at least a flit" : "";
  }
  if (options.allocation == WormAllocation::Atomic) {
    return "atomic allocation needs credits: STOP and GO do not tell that a buffer is empty";
  }
  if (options.go == 0 || options.go > options.stop) return "GO lies above 0 and not above STOP";
  const std::uint32_t least = options.stop + 1 + options.slack();
  if (options.buffer < least) {
    return fmt::format("a buffer of {} flits overflows: STOP above {} lets {} in",
                       options.buffer,
                       options.stop,
                       least);
  }
  return {};
}

}  // namespace smd::sim
