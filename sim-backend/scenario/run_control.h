// What a run and whoever waits for it have to say to each other.
#pragma once

#include <functional>

namespace smd::sim {

class PacketObserver;
class Processes;

struct RunControl {
  /// Asked after every interval: true ends the run, with what it has.
  std::function<bool()> stop = [] { return false; };
  /// Told after every interval what share (0 to 1) of the run is behind it, at least.
  std::function<void(double)> progress = [](double) {};
  /// Several that simulate this run together: all of them run it, each gets all of the result.
  /// Their stop() has to say the same. Requires: a partition or more for each.
  Processes* processes = nullptr;
  /// Looks on beside the run's own meter, from the start; of packets, in a network that does not
  /// change.
  PacketObserver* observer = nullptr;
};

}  // namespace smd::sim
