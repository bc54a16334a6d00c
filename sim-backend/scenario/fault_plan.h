// What is to happen to the network while it carries traffic: `[[fault]]` of a scenario, read
// against the fabric that it is about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/packet/picos.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {

/// As the scenario says it.
struct FaultText {
  Picos at = 0;  // since the traffic began
  std::string what;
  std::string where;
  int line = 0;
};

/// A link or a node; of a link the end that was named.
struct FaultPlace {
  std::uint32_t node = kNoNode;
  PortNum port;  // 0: the whole node

  [[nodiscard]] bool is_link() const { return port.value() != 0; }

  friend bool operator==(const FaultPlace&, const FaultPlace&) = default;
};

struct PlannedFault {
  Picos at = 0;
  FaultPlace place;
  bool up = false;
  std::string text;  // "link-down sw-0-3:5"
};

struct FaultPlan {
  std::vector<PlannedFault> faults;  // times ascend
  std::vector<FaultPlace> absent;    // at the beginning: what comes up before it ever went down

  [[nodiscard]] bool empty() const { return faults.empty(); }
};

/// "link-down", … : what a fault may be, for messages.
[[nodiscard]] std::string_view fault_grammar();

/// Whether `what` is one of them.
[[nodiscard]] bool is_fault_word(std::string_view what);

/// Every fault that names what the fabric does not have, that goes back in time, comes before
/// `earliest`, changes nothing, or takes the manager's own node away; each with its line in `file`.
[[nodiscard]] Parsed<FaultPlan> plan_faults(const FabricSpec& spec,
                                            const std::vector<FaultText>& texts,
                                            Picos earliest,
                                            const std::string& file);

}  // namespace smd::sim
