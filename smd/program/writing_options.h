// How tables, turns and ports are written, whatever they are to be.
#pragma once

#include <cstdint>

#include "smd/runtime/runtime.h"

namespace smd {

/// Which forwarding blocks are written.
enum class BlockChoice : std::uint8_t {
  Changed,  // those that differ from what is confirmed
  ToTop,    // of every switch, all up to the highest LID
  Whole,    // of every switch, all that it has room for
};

struct WritingOptions {
  BlockChoice whole_tables = BlockChoice::ToTop;  // what a plan of whole tables writes

  /// Ports are activated over the new tables; directed where nobody answers.
  bool lid_routed_activation = false;

  bool one_set_activation = false;  // straight to Active, for agents without Armed

  /// A port that is to go down is set to Down also where its link is down already.
  bool deactivates_down_ports = false;

  /// What an entry was is read before it is blocked, where nobody knows it.
  bool reads_before_blocking = true;

  /// SL-to-VL entries of many pairs of ports by one Set, where the switch offers it.
  bool optimized_sl_to_vl = false;

  /// The first SwitchInfo clears PortStateChange; else whoever reads the ports afterwards does.
  bool clears_port_state_change = false;

  /// How long a plan that counts on drained channels waits after each phase, beyond the barrier.
  Duration drain_time{0};
};

/// As the thesis counts SMPs.
inline constexpr WritingOptions kThesisWriting{.whole_tables = BlockChoice::Whole,
                                               .deactivates_down_ports = true,
                                               .reads_before_blocking = false,
                                               .clears_port_state_change = true};

}  // namespace smd
