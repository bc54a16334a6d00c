// A line of the qos-ulps section: an application, and the SL of its paths.
#pragma once

#include "smd/policy/qos_values.h"

namespace smd::qos_text {

struct Ulp {
  int line = 0;
  std::uint8_t sl = 0;
  bool is_default = false;  // of what no rule matches
  QosMatch match;
  std::vector<NumberRange> sources;  // GUIDs
  std::vector<NumberRange> targets;
  bool either = false;  // a source or a target is enough
};

/// "sdp, port-num 10000-20000 : 3". None, and a fault, where it is none.
[[nodiscard]] std::optional<Ulp> read_ulp(Values& values, std::string_view text);

}  // namespace smd::qos_text
