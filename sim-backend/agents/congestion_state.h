// Congestion control of one management port, as its manager wrote it and packets obey it
// (IBA annex A10). A switch has one, at port 0; an adapter one per port.
#pragma once

#include <vector>

#include "smd/mad/congestion.h"
#include "smd/runtime/runtime.h"

namespace smd::sim {

/// What an agent's clock shows: units of 1.024 us.
[[nodiscard]] std::uint32_t congestion_ticks(TimePoint now);

/// When packets that leave by a port are marked.
struct MarkingRule {
  std::uint8_t threshold = 0;      // 0: never
  std::uint8_t packet_size = 0;    // units of 64 bytes: shorter packets are not marked
  std::uint16_t marking_rate = 0;  // mean of packets between two marks
  bool starvation = false;         // the threshold is that of credit starvation

  friend bool operator==(const MarkingRule&, const MarkingRule&) = default;
};

struct CongestionState {
  cc::KeyInfo key;
  TimePoint lease_end;         // of the protection; the default when no lease runs
  cc::ClassPortInfo traps_to;  // its trap fields alone are used; LID 0: nobody is told

  cc::SwitchSetting switch_setting;
  std::vector<cc::PortSetting> port_settings;  // by port; those beyond are not valid

  cc::CaSetting ca_setting;
  std::uint16_t ccti_limit = 0;     // the highest index in use
  std::vector<cc::CctEntry> table;  // entries beyond are 0

  cc::SwitchLog switch_log;  // since it was last read; newest event first
  cc::CaLog ca_log;

  /// The port's own rule, or else the switch's.
  [[nodiscard]] MarkingRule rule_of(PortNum port) const;

  /// 0 beyond the table.
  [[nodiscard]] cc::CctEntry delay_at(std::size_t index) const {
    return index < table.size() ? table[index] : cc::CctEntry{};
  }

  /// A switch marked a packet at its port.
  void log_mark(PortNum port, const cc::SwitchLogEvent& event);

  /// The index of an adapter's flow came to its trigger.
  void log_trigger(const cc::CaLogEvent& event);

  friend bool operator==(const CongestionState&, const CongestionState&) = default;
};

}  // namespace smd::sim
