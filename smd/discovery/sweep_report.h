// What a discovery is to ask; and what it found: the snapshot, how to reach each node, and
// everything that was not as it should be.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/base/shared.h"
#include "smd/fabric/delta.h"
#include "smd/fabric/fabric.h"
#include "smd/mad/port_info.h"
#include "smd/smp/smp_client.h"

namespace smd {

enum class RequestSet : std::uint8_t {
  /// A link known from one end is not asked from the other, and a raised PortStateChange is cleared
  /// before the switch's ports are read, so that a change during the reading raises it again.
  /// Partial: only suspects are asked, routes are directed over surviving links, and a switch that
  /// lost no link is not probed.
  Fewest,

  /// Those of the thesis (full discovery, Table 12): every up port is probed, the way back
  /// included, and LIDs are set while discovering. Partial: every known switch is asked for
  /// SwitchInfo by LID first, SMPs to re-routed devices take an initial LID-routed segment to the
  /// last switch whose route still works, every missing switch is probed, and every up port of a
  /// new switch is explored.
  Thesis,
};

/// What is done about what another manager left switched on (vendor attributes): nothing, not even
/// asked; said; or switched off.
enum class Leftovers : std::uint8_t { Ignore, Report, Clear };

struct DiscoveryOptions {
  RequestSet requests = RequestSet::Fewest;
  MKey m_key;

  /// Partial discovery with Fewest: switches that have a SwitchPortStateTable are asked for it, and
  /// PortInfo of those ports alone whose state it says is another one.
  bool port_state_tables = true;

  /// Nothing is set: PortStateChange stays raised where it is, and what came after the ports were
  /// read does not show. Full discovery with Fewest only.
  bool read_only = false;

  /// Thesis only: called with the port's GUID for every port that takes a LID; what it returns is
  /// sent as Set(PortInfo) at once.
  std::function<std::optional<PortInfo>(Guid, const PortInfo&)> set_end_port;
};

/// A port that is up, but whose other end did not answer, or answered nonsense, or cannot be asked:
/// a directed route has at most 63 hops.
struct SilentPort {
  Guid node;
  PortNum port;
  std::string why;
  bool out_of_reach = false;  // of directed routes: no node behind it was asked
  bool left_out = false;      // by leave_out() or leave_out_links(): it may have answered

  /// Reasons name requests and routes, which are others from look to look.
  friend bool operator==(const SilentPort& a, const SilentPort& b) {
    return a.node == b.node && a.port == b.port && a.out_of_reach == b.out_of_reach &&
           a.left_out == b.left_out;
  }
};

/// Two nodes with one GUID: the first stays in the snapshot, the second is left out.
struct DuplicateGuid {
  Guid guid;
  HopPath first;
  HopPath second;

  friend bool operator==(const DuplicateGuid&, const DuplicateGuid&) = default;
};

[[nodiscard]] SilentPort out_of_reach(Guid node, PortNum port);

struct SweepReport {
  std::shared_ptr<const Fabric> fabric;
  Shared<IndexVector<NodeIdx, HopPath>> path;  // directed route from the manager to each node
  std::vector<SilentPort> silent;
  std::vector<DuplicateGuid> duplicates;
};

/// The directed route that enters `port`'s node so that its agent may be asked to change that port:
/// an adapter's ports are each reached through their own link. Requires: an end port, or any port
/// of a switch.
[[nodiscard]] HopPath path_to(const SweepReport& report, PortIdx port);

/// `report` as it would be if the named nodes had not answered: they are silent for the reason
/// given, and what only they lead to is not there. The manager's own node stays.
[[nodiscard]] SweepReport leave_out(const SweepReport& report,
                                    const std::map<Guid, std::string>& nodes);

/// `report` as it would be if nobody had answered through the links that end at these ports.
[[nodiscard]] SweepReport leave_out_links(const SweepReport& report,
                                          const std::map<PortRef, std::string>& ends);

}  // namespace smd
