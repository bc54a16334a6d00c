// What differs between two sets of routes, each on its own snapshot. For verification only: found
// by comparing all links, LIDs, entries, SLs and SL-to-VL rows, whatever the makers of the routes
// say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "smd/fabric/delta.h"
#include "smd/routing/tables.h"
#include "smd/routing/verify/vl_flow.h"

namespace smd {

struct RoutesOnFabric {
  const Fabric* fabric = nullptr;
  const LidMap* lids = nullptr;
  const RoutingTables* routing = nullptr;
};

/// Routes as they are followed, switch by switch.
class RouteSide {
 public:
  explicit RouteSide(const RoutesOnFabric& on);

  /// Counts who sends. False where there is more than one piece: an end port without a switch, a
  /// LID whose owner has none, tables for other switches.
  bool prepare();

  /// The switch that an end port is, or is linked to.
  [[nodiscard]] SwitchIdx switch_by(PortIdx end) const {
    const SwitchIdx own = fabric_.switch_at(end);
    if (own != kNone<SwitchIdx>) return own;
    const PortIdx peer = fabric_.peer[end];
    return peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric_.switch_at(peer);
  }

  [[nodiscard]] PortIdx owner(std::size_t lid) const {
    return lid < lids_.owner.size() ? lids_.owner[lid] : kNone<PortIdx>;
  }

  /// Whether its paths from hosts are counted as loads: the first LID of a host.
  [[nodiscard]] bool is_base_of_host(std::size_t lid) const {
    const PortIdx port = lids_.owner[lid];
    return lids_.base[port].value() == lid && fabric_.is_host(port);
  }

  [[nodiscard]] PortNum entry(SwitchIdx sw, std::size_t lid) const {
    return lid < width_ ? tables_.route(sw, Lid{static_cast<std::uint16_t>(lid)}) : kNoRoute;
  }

  /// kNone: the switch has no such port.
  [[nodiscard]] PortIdx egress(SwitchIdx sw, std::size_t lid) const {
    const NodeIdx node = fabric_.switch_node[sw];
    const PortNum number = entry(sw, lid);
    return number.value() > fabric_.num_ports(node) ? kNone<PortIdx>
                                                    : fabric_.port_of(node, number);
  }

  /// Null: all is on one VL.
  [[nodiscard]] const SlClasses* sl_classes() const {
    return sl_classes_ ? &*sl_classes_ : nullptr;
  }

  /// Null: every path may take any SL.
  [[nodiscard]] const PathSls* path_sls() const { return path_sls_; }

  /// Null: one row for all.
  [[nodiscard]] const SlToVlMaps* maps() const { return maps_; }

  /// What enters at a switch and leaves it by a port.
  struct Source {
    bool known = false;
    SlMask open = 0;                      // classes of which no end port's packets are discarded
    std::array<std::uint16_t, 16> vls{};  // by class: VLs that they leave on
  };

  const Source& source(SwitchIdx sw, PortIdx egress);

  /// Classes of the packets from a switch to a LID: none where the path has no SL.
  [[nodiscard]] SlMask offered(SwitchIdx sw, std::size_t lid) const;

  /// What packets of a class count for: as many as there are SLs on their path.
  [[nodiscard]] std::uint32_t weight(unsigned sl_class) const {
    return path_sls_ == nullptr ? class_sizes_[sl_class] : 1;
  }

  [[nodiscard]] const Fabric& fabric() const { return fabric_; }

  [[nodiscard]] const ForwardingTables& tables() const { return tables_; }

  [[nodiscard]] const LidMap& lids() const { return lids_; }

  [[nodiscard]] std::size_t lids_end() const { return lids_.owner.size(); }

  [[nodiscard]] std::size_t width() const { return width_; }

  [[nodiscard]] std::uint64_t end_ports(SwitchIdx sw) const { return end_ports_[sw]; }

  [[nodiscard]] std::uint64_t hosts(SwitchIdx sw) const { return hosts_[sw]; }

 private:
  const Fabric& fabric_;
  const LidMap& lids_;
  const ForwardingTables& tables_;
  std::size_t width_;
  IndexVector<SwitchIdx, std::uint32_t> end_ports_;  // at a switch, itself included
  IndexVector<SwitchIdx, std::uint32_t> hosts_;      // of those
  std::optional<SlClasses> sl_classes_;
  const PathSls* path_sls_ = nullptr;
  const SlToVlMaps* maps_ = nullptr;
  std::array<std::uint32_t, 256> class_sizes_{};
  std::vector<Source> sources_;  // by port, once asked for
};

/// What stays of a snapshot in the next one: nodes by GUID, ports by number.
struct IndexMatch {
  bool as_before = false;                        // every index means what it meant
  IndexVector<SwitchIdx, SwitchIdx> switch_now;  // by former index; kNone: gone
  IndexVector<PortIdx, PortIdx> port_now;        // likewise; empty: as before

  [[nodiscard]] PortIdx now(PortIdx port) const {
    return as_before || port == kNone<PortIdx> ? port : port_now[port];
  }
};

/// An entry that is another one, or leads elsewhere; or a path.
struct ChangedEntry {
  std::uint32_t lid = 0;
  SwitchIdx sw;  // of the former snapshot

  friend auto operator<=>(const ChangedEntry&, const ChangedEntry&) = default;
};

/// Ports of adapters that send no data, ascending.
[[nodiscard]] std::vector<PortRef> list_no_data(const Fabric& fabric);

struct RouteChanges {
  IndexMatch stay;
  std::vector<char> kept;       // by LID: the same owner at the same place
  std::vector<PortIdx> links;   // of switches that stay, by a former port: they lead elsewhere
  std::vector<SwitchIdx> gone;  // of the former snapshot
  std::vector<SwitchIdx> added;
  std::vector<SwitchIdx> other_senders;  // former; with other end ports, which count for all LIDs
  std::vector<ChangedEntry> entries;     // of switches that stay, for LIDs that are kept; sorted
  std::vector<ChangedEntry> sls;         // likewise: paths with another SL
};

/// Whether to look at `some` of `all` paths from a switch to a LID apart: they are few, or there
/// are not many at all.
[[nodiscard]] constexpr bool is_worthwhile(std::size_t some, std::size_t all) {
  return some <= all / 8 || all <= 1 << 16;
}

/// Nothing: more differs than it is worth to look at apart. Requires: both are prepared, and alike.
[[nodiscard]] std::optional<RouteChanges> find_route_changes(const RouteSide& before,
                                                             const RouteSide& now);

/// They tell the same VLs apart, and SLs are given in the same way.
[[nodiscard]] bool are_alike(const RouteSide& before, const RouteSide& now);

}  // namespace smd
