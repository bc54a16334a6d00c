// A table block to look at: where it is, and what to write when it is not as it should be.
#pragma once

#include <functional>
#include <optional>

#include "smd/fabric/fabric.h"

namespace smd {

struct TableCheck {
  PortIdx port = kNone<PortIdx>;  // the agent is reached through this port
  AttributeId attribute = AttributeId::SlToVlMappingTable;
  std::uint32_t modifier = 0;

  /// What to Set, given what the agent holds; nothing when it is right.
  std::function<std::optional<SmpData>(const SmpData& now)> repair;
};

}  // namespace smd
