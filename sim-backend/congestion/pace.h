// How far apart a source sends the packets of a flow: rules that grow the gap with marked
// acknowledgements and shrink it with clean ones. One per source file.
//
//            marked                          clean                 gap from one begin to the next
//   slots    0, 1, k, k^2 … up to the cap    0 at once             slots round trips
//   FIMD     rate / m                        rate · m              packet time / rate
//   AIMD     rate / m                        rate + 1 / 16         packet time / rate
//   LIPD     delay + 1                       delay - 1             (1 + delay) packet times
//   Pfister  slots + 1, without a cap        slots - 1             packet time + slots · slot
//
// What the sources leave open is chosen here: the recovery of FIMD, AIMD, LIPD and Pfister's slots
// per clean acknowledgement, the step of AIMD.
//
// Sources: Ferrer 2012, 3.5, 5.3, 6.2; Renato 2003; Pfister 2005.
#pragma once

#include <memory>

#include "sim-backend/packet/picos.h"
#include "smd/congestion/throttle.h"

namespace smd::sim {

class Pace {
 public:
  virtual ~Pace() = default;

  /// `value` is the flow's own; it begins as, and goes back to, initial().
  [[nodiscard]] virtual double initial() const = 0;
  virtual void on_marked(double& value) const = 0;

  /// Returns true when there was something to take back.
  virtual bool on_clean(double& value) const = 0;

  /// From the beginning of one packet, which took `packet`, until the next may begin.
  [[nodiscard]] virtual Picos gap(double value, Picos packet) const = 0;
};

struct SlotGrowth {
  unsigned radix = 4;   // k
  unsigned stages = 5;  // n
  cc::WaitCap cap = cc::WaitCap::Stages;
  Picos round_trip = 0;  // of an empty path
};

[[nodiscard]] std::unique_ptr<Pace> pace_by_slots(const SlotGrowth& growth);
[[nodiscard]] std::unique_ptr<Pace> pace_fimd(double factor = 2);
[[nodiscard]] std::unique_ptr<Pace> pace_aimd(double factor = 2, double step = 1.0 / 16);
[[nodiscard]] std::unique_ptr<Pace> pace_lipd();

/// `slot`: packet times; the source's formula is not published. pfister_slot() is a choice: after
/// as many marks as a switch has ports the flow is at its share of the hot link.
[[nodiscard]] std::unique_ptr<Pace> pace_pfister(double slot);
[[nodiscard]] double pfister_slot(unsigned hot_sources, unsigned ports);

}  // namespace smd::sim
