// SL-to-VL rows and VL arbitration that the site configured. What it left out is not looked at.
#pragma once

#include <optional>
#include <vector>

#include "smd/mad/tables.h"
#include "smd/policy/table_check.h"

namespace smd {

struct QosPolicy {
  std::optional<SlToVl> sl_to_vl;
  std::optional<std::vector<VlArbEntry>> high;  // at most 64 entries
  std::optional<std::vector<VlArbEntry>> low;

  [[nodiscard]] bool empty() const { return !sl_to_vl && !high && !low; }
};

/// One check per row and block, in port order. An SL whose VL a link does not have is mapped to the
/// VL modulo the number of lanes that both ends have, as a row that names a missing VL would
/// discard the packets.
[[nodiscard]] std::vector<TableCheck> build_qos_checks(const Fabric& fabric,
                                                       const QosPolicy& policy);

}  // namespace smd
