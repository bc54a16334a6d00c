// Butterflies and dragonflies under a rule, at several loads: packets of one flit of 64 bytes, on
// routers in which the crossbar holds nothing back (PacketOptions::booksim).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/lab/experiment.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim {

struct RunSize {
  unsigned warm_up = 3000;  // cycles
  unsigned measured = 3000;
  std::size_t seeds = 1;
};

/// One line of a plot: a network, a rule, a pattern.
struct Curve {
  std::string name;
  std::string fabric;
  RoutesSpec routes;
  std::string pattern = "uniform-self";
  std::vector<std::uint32_t> dims;  // of mdn
  std::uint32_t group = 0;          // of adv+1
  std::vector<double> loads{1.0};
  std::function<void(PacketOptions&)> change = [](PacketOptions&) {};
  std::optional<RunSize> length;  // in place of that of the others; with as many seeds
};

struct CurvePoint {
  double load = 0;
  double accepted = 0;  // of the hosts' links
  double latency = 0;   // cycles, from generation; of a network that takes all of it
  double hops = 0;      // routers passed
};

struct MeasuredCurve {
  std::vector<CurvePoint> points;  // by load, means over seeds

  [[nodiscard]] double at(double load) const;
  [[nodiscard]] double peak() const;
};

/// As long as `length` says, but for curves with a length of their own. A run whose counts do not
/// add up, that loses packets or ends in a deadlock is an error.
[[nodiscard]] Result<std::vector<MeasuredCurve>> run_curves(std::span<const Curve> curves,
                                                            const RunSize& length,
                                                            unsigned jobs);

/// A row and a point of the plot for each.
void add_curves(std::span<const Curve> curves,
                std::span<const MeasuredCurve> measured,
                Findings& out);

}  // namespace smd::sim
