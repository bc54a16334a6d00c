// What a discovery found: the snapshot, how to reach each node, and everything that was not as it
// should be.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "smd/base/shared.h"
#include "smd/fabric/fabric.h"
#include "smd/smp/smp_client.h"

namespace smd {

/// A port that is up, but whose other end did not answer, or answered nonsense, or cannot be asked:
/// a directed route has at most 63 hops.
struct SilentPort {
  Guid node;
  PortNum port;
  std::string why;
  bool out_of_reach = false;  // of directed routes: no node behind it was asked

  friend bool operator==(const SilentPort&, const SilentPort&) = default;
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

}  // namespace smd
