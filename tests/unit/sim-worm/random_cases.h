// Random networks and worms, run by the literal machine and as streams.
#pragma once

#include <cstdint>
#include <string>

#include "sim-backend/worm/worm_model.h"
#include "tests/support/flit_machine.h"

namespace smd::sim::test {

/// At most 8 switches, 60 worms of 1 to 600 flits, with lanes, forks, worms in transit, STOP and GO
/// or credits, as the seed has it.
enum class CaseKind : std::uint8_t {
  Plain,
  Faults,  // cables go down and come up, and there is no header
  Choices  // of channels; hosts with several of them, switches that end a flit of the head or none
};

[[nodiscard]] FlitCase draw_case(std::uint64_t seed, CaseKind kind = CaseKind::Plain);

/// The same case as streams. `streams` gets what the run came to, `knot` its worms by number.
struct StreamOutcome {
  FlitOutcome outcome;
  std::string audit;
  bool circle = false;  // a knot was found
};

[[nodiscard]] StreamOutcome run_streams(const FlitCase& what, std::int64_t cycles);

/// The first thing in which they differ; empty when there is none.
[[nodiscard]] std::string compare(std::uint64_t seed, CaseKind kind = CaseKind::Plain);

}  // namespace smd::sim::test
