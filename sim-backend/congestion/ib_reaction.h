// BECN at an adapter by annex A10 of IBA 1.2.1: an index into the congestion control table, per QP
// (here: per source, destination and SL) or per SL of the port.
//
//   BECN          index += CCTI_Increase, at most CCTI_Limit
//   CCTI_Timer    every so many times 1.024 us: index -= 1, at least CCTI_Min
//   injection     the next packet begins table[index] packet times after the end of this one
//
// The timer runs freely from the start. A delay is what it was when the packet went.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "sim-backend/congestion/ib_registers.h"
#include "sim-backend/packet/congestion_hooks.h"
#include "sim-backend/packet/destination_map.h"

namespace smd::sim {

class IbReaction final : public Reaction {
 public:
  explicit IbReaction(HostNum hosts) : ports_(hosts) {}

  /// Indices stay; they come within the new bounds when they are next looked at.
  void set(HostNum host, const IbCaRegisters& registers);

  /// Called when the index of a flow comes to its Trigger_Threshold; empty: nobody.
  using Observer = std::function<void(const Flow&, Picos)>;

  void set_observer(Observer observer) { observer_ = std::move(observer); }

  /// The host has an index per SL, not per QP.
  [[nodiscard]] bool is_per_sl(HostNum host) const;

  Picos allowed_at(const Flow& flow, Picos now) override;
  void on_injected(const Flow& flow, Picos begin, Picos end) override;
  void on_feedback(const Flow& flow, const Feedback& feedback, Picos now) override;

  /// As it is at `now`.
  [[nodiscard]] unsigned index(const Flow& flow, Picos now);

  /// Times that an index of the host reached its Trigger_Threshold (0: never counts).
  [[nodiscard]] std::uint64_t triggered(HostNum host) const { return ports_.at(host).triggered; }

  [[nodiscard]] std::uint64_t becns(HostNum host) const { return ports_.at(host).becns; }

 private:
  struct Throttle {
    Picos allowed = 0;
    Picos looked = 0;
    std::uint16_t index = 0;
  };

  struct Port {
    IbCaRegisters registers;
    std::array<DestinationMap<Throttle>, cc::kSls> flows;  // by destination; per SL one alone
    std::uint64_t triggered = 0;
    std::uint64_t becns = 0;
  };

  [[nodiscard]] Throttle& find(const Flow& flow);
  void tick(const Port& port, std::uint8_t sl, Throttle& at, Picos now) const;

  std::vector<Port> ports_;
  Observer observer_;
};

}  // namespace smd::sim
