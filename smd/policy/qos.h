// SL-to-VL rows and VL arbitration that the site configured. What it left out is not looked at.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "smd/mad/tables.h"
#include "smd/policy/port_policy.h"

namespace smd {

struct QosTables {
  std::optional<SlToVl> sl_to_vl;
  std::optional<std::vector<VlArbEntry>> high;  // at most 64 entries
  std::optional<std::vector<VlArbEntry>> low;

  [[nodiscard]] bool empty() const { return !sl_to_vl && !high && !low; }

  friend bool operator==(const QosTables&, const QosTables&) = default;
};

/// Its own tables are those of every kind of port that has none.
struct QosPolicy : QosTables {
  std::array<QosTables, kPortKinds> kinds{};

  [[nodiscard]] const QosTables& own(PortKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }

  [[nodiscard]] const std::optional<SlToVl>& row_of(PortKind kind) const {
    return own(kind).sl_to_vl ? own(kind).sl_to_vl : sl_to_vl;
  }

  [[nodiscard]] const std::optional<std::vector<VlArbEntry>>& high_of(PortKind kind) const {
    return own(kind).high ? own(kind).high : high;
  }

  [[nodiscard]] const std::optional<std::vector<VlArbEntry>>& low_of(PortKind kind) const {
    return own(kind).low ? own(kind).low : low;
  }

  [[nodiscard]] bool empty() const;

  friend bool operator==(const QosPolicy&, const QosPolicy&) = default;
};

/// The site's arbitration tables never let the VL send on ports of this kind (IBA 7.6.9). A table
/// that the site leaves alone serves every VL.
[[nodiscard]] bool starves(const QosPolicy& policy, PortKind kind, Vl vl);

/// Data VLs, from VL 0 on, that the site's arbitration tables serve on ports of every kind; 1
/// to 15.
[[nodiscard]] unsigned count_served_vls(const QosPolicy& policy);

/// Whether the block of a port's table is to be looked at.
using CheckFilter = std::function<bool(PortIdx, AttributeId, std::uint32_t modifier)>;

/// One check per row and block that is due, in port order. Ports that map no SLs, and the
/// management ports of switches that have no enhanced one, are not looked at.
[[nodiscard]] std::vector<TableCheck> build_qos_checks(const Fabric& fabric,
                                                       const QosPolicy& policy,
                                                       const CheckFilter& is_due);

/// The row of packets that leave by `out`, whatever they came in by; nothing where it is not
/// looked at. An SL whose VL a link does not have is mapped to the VL modulo the number of lanes
/// that both ends have, as a row that names a missing VL would discard the packets.
[[nodiscard]] std::optional<SlToVl> wanted_row(const Fabric& fabric,
                                               const QosPolicy& policy,
                                               PortIdx out);

/// A part of a port's arbitration table, VLs fitted in the same way; nothing where it is not looked
/// at, or the port has no such part.
[[nodiscard]] std::optional<VlArbBlock> wanted_arbitration(const Fabric& fabric,
                                                           const QosPolicy& policy,
                                                           PortIdx port,
                                                           VlArbPart part);

}  // namespace smd
