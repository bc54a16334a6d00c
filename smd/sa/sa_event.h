// What subscribers may want to hear of: traps that the manager received, GIDs that came and went,
// multicast groups that were created and deleted (IBA 14.2.5.1, 14.4.9 to 14.4.11).
#pragma once

#include <functional>
#include <variant>

#include "smd/ib/types.h"
#include "smd/mad/notice.h"

namespace smd::sa {

/// A trap of somebody's agent, as it came.
struct TrapEvent {
  Notice notice;
};

/// Trap 64, or 65 where the port is gone.
struct GidEvent {
  Gid gid;
  bool in_service = true;
};

/// Trap 66, or 67 where the group is deleted.
struct GroupEvent {
  Gid mgid;
  PKey p_key;
  bool created = true;
};

using SaEvent = std::variant<TrapEvent, GidEvent, GroupEvent>;

/// Runs on the loop; may be called at any time, also from inside an answer.
using SaEventSink = std::function<void(const SaEvent&)>;

}  // namespace smd::sa
