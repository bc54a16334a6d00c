// Attributes of the congestion control agent that switches or adapters alone have: each call is a
// Get or Set, answered in place. Internal to the agent; include cca.h.
#pragma once

#include "sim-backend/agents/cca.h"

namespace smd::sim::cca {

/// One request: the registers it is about, and where its attribute lies.
struct Call {
  const CcaRequest& request;
  CongestionState& state;
  bool set;
  bool hide_key;
  std::uint32_t modifier;
  MadBytes& mad;

  [[nodiscard]] cc::Data data() const {
    return std::span<std::byte, kMadSize>(mad).subspan<cc::kDataOffset>();
  }

  [[nodiscard]] cc::LogData log_data() const {
    return std::span<std::byte, kMadSize>(mad).subspan<cc::kLogOffset>();
  }

  [[nodiscard]] const NodeState& node() const { return request.node; }
};

MadStatus answer_switch_setting(const Call& call);
MadStatus answer_port_settings(const Call& call);

MadStatus answer_ca_setting(const Call& call);
MadStatus answer_table(const Call& call);

}  // namespace smd::sim::cca
