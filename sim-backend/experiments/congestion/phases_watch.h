// What is seen of two programs at once: latencies of all packets and of the first program's, and
// what hosts take, window by window.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/experiments/congestion/phases_run.h"
#include "sim-backend/packet/packet_net.h"

namespace smd::sim {

class PhasesWatch final : public PacketObserver {
 public:
  struct Sum {
    std::uint64_t packets = 0;
    double latency = 0;

    void add(double cycles) {
      ++packets;
      latency += cycles;
    }

    [[nodiscard]] double mean() const { return packets == 0 ? 0 : latency / double(packets); }

    [[nodiscard]] PhasesOf told() const { return {packets, mean()}; }
  };

  /// `header`: bytes of a packet beside its payload.
  PhasesWatch(const PhasesSetup& setup, unsigned header) : setup_(setup), header_(header) {}

  void on_delivered(const Delivery& arrival) override;

  /// Highest mean of the windows from `from` to before `to`; windows of few packets do not count.
  [[nodiscard]] static double peak(const std::vector<Sum>& windows,
                                   std::size_t from,
                                   std::size_t to);

  /// Into `out`: what each host took, before, while and after the second program was there. `end`:
  /// the window in which all of it is consumed; there are two more.
  void tell_rates(std::size_t end, PhasesResult& out) const;

  std::vector<Sum> all, firsts;  // by latency window
  std::vector<double> bytes;     // by rate window
  Sum before, of[2];
  std::uint64_t arrived[2] = {0, 0};

 private:
  const PhasesSetup& setup_;
  unsigned header_;
};

}  // namespace smd::sim
