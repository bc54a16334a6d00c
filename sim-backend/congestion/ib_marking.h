// FECN by annex A10 of IBA 1.2.1.
//
// A packet that leaves is marked when what stands behind it is above the threshold: in the output
// buffer and in the input buffers in line for it, in shares of one buffer
// (smd/congestion/throttle.h tells fractions from the scale of 0 to 15) and
//   - the port is the root of the congestion: the packet did not wait for credit, or
//   - the port's bit in VictimMask says that victims mark too, or
//   - the port's bit in CreditMask says that waiting for credit is congestion too, with CSThreshold
//     or the port's own threshold of that kind.
// Packets shorter than PacketSize are not marked; MarkingRate packets pass between two marks of a
// port and VL.
//
// Left out: CSReturnDelay.
#pragma once

#include <functional>
#include <vector>

#include "sim-backend/congestion/ib_registers.h"
#include "sim-backend/packet/congestion_hooks.h"

namespace smd::sim {

class IbMarking final : public Marking {
 public:
  /// All thresholds 0: nothing is marked.
  explicit IbMarking(std::size_t nodes) : registers_(nodes) {}

  void set(std::uint32_t node, const IbSwitchRegisters& registers);

  /// Called for every packet that is marked, also of one that was before; empty: nobody.
  using Observer = std::function<void(const MarkPoint&)>;

  void set_observer(Observer observer) { observer_ = std::move(observer); }

  void on_departure(const MarkPoint& point, Marks& marks) override;

  [[nodiscard]] bool may_occur(Marks marks) const override { return marks <= kFirstMark; }

  /// Packets that the switch has marked.
  [[nodiscard]] std::uint64_t marked(std::uint32_t node) const;

 private:
  [[nodiscard]] bool is_congested(const IbSwitchRegisters& at, const MarkPoint& point) const;

  std::vector<IbSwitchRegisters> registers_;
  std::vector<std::uint64_t> marked_;        // by node
  std::vector<std::uint32_t> since_marked_;  // by output VL; counts down to 0
  Observer observer_;
};

}  // namespace smd::sim
