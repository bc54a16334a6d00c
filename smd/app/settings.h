// What the manager needs to know of the configuration, in the types of the layers it wires.
#pragma once

#include <string>
#include <vector>

#include "smd/app/config.h"
#include "smd/policy/lid_assignment.h"
#include "smd/policy/port_policy.h"
#include "smd/policy/qos.h"
#include "smd/smp/smp_client.h"

namespace smd::app {

struct Settings {
  SmpClientConfig smp;
  PortPolicy ports;
  QosPolicy qos;
  LidPolicy lids;
  std::string engine = "updn";
  bool engine_fallback =
      true;  // a refused or unsafe engine is replaced by updn; else the cycle fails
  std::vector<Guid> roots;
  bool literal = false;        // mode "basic"
  Duration sweep_interval{0};  // 0: only traps and commands
  Duration debounce = std::chrono::milliseconds(100);
  Duration debounce_max = std::chrono::seconds(1);
  std::uint8_t sm_priority = 0;
  SmKey sm_key;
};

[[nodiscard]] Settings make_settings(const Config& config);

}  // namespace smd::app
