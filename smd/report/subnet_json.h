// The active subnet as smctl shows it: nodes, links, routes, and its congestion control. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "smd/cc/cc_manager.h"
#include "smd/cc/path_watch.h"
#include "smd/manager/multicast_manager.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

/// A node by name, description, GUID ("0x…") or LID. Invalid when there is none, or more than one.
[[nodiscard]] Result<NodeIdx> find_node(const ActiveSubnet& now, const std::string& name);

/// kNone where there is none with that GUID.
[[nodiscard]] PortIdx find_end_port(const Fabric& fabric, Guid guid);

/// The GUID of an end port: as such ("0x…"), which nobody need have yet, or of "NODE", "NODE:PORT",
/// "NODE/PORT" or "NODE/P1".
[[nodiscard]] Result<Guid> find_port_guid(const ActiveSubnet& now, const std::string& text);

/// Requires: the port has a link.
[[nodiscard]] nlohmann::json link_json(const ActiveSubnet& now, PortIdx port);

[[nodiscard]] nlohmann::json nodes_json(const ActiveSubnet& now, bool switches_only);

/// Each link once, with the state of its less active end.
[[nodiscard]] nlohmann::json links_json(const ActiveSubnet& now);

/// The hops from node to node by the tables in force, each a link with the LIDs of its ends. A LID
/// means the port that has it, a name the node's first port that has one. Unreachable when the
/// route ends elsewhere.
[[nodiscard]] Result<nlohmann::json> route_json(const ActiveSubnet& now,
                                                const std::string& from,
                                                const std::string& to);

/// Multicast trees: their shape and proof, the largest ones beside shortest ways, cables they
/// share. Requires: the manager has a snapshot.
[[nodiscard]] nlohmann::json multicast_json(const MulticastManager& multicast);

// Congestion control as smctl shows it. Pure.

/// Agents that are as they should be are counted, the others named; hot ports, the most often seen
/// first. `now`: null where nothing is in force.
/// What the watch over switch ports knows, with the most contended links. `now` may be null.
[[nodiscard]] nlohmann::json path_watch_json(const PathWatch& watch, const ActiveSubnet* now);

[[nodiscard]] nlohmann::json congestion_json(const CcManager& cc_manager, const ActiveSubnet* now);

}  // namespace smd
