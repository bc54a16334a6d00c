// Discovery of the subnet, full or partial, by either set of requests.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/fabric/delta.h"
#include "smd/fabric/fabric.h"
#include "smd/routing/tables.h"
#include "smd/smp/smp_client.h"

namespace smd {

// Full discovery: learns the whole subnet by directed routes, in propagation order, pipelined
// through the SMP window.

class FullRun;

/// One run. Destroying it cancels what is pending.
class Discovery {
 public:
  /// Fails only when the local node does not answer; everything else is data in the report.
  using Done = std::function<void(Result<SweepReport>)>;

  Discovery(SmpClient& client, DiscoveryOptions options, Epoch epoch);
  ~Discovery();
  Discovery(const Discovery&) = delete;

  /// `done` runs once, last; it may destroy this.
  void start(Done done);

 private:
  std::unique_ptr<FullRun> run_;
};

// Learns what changed by asking where something changed, and keeps the rest of what is known.
//
// Every device is waiting (a probe is out), reachable or missing. A switch whose ports were read
// again, or whose PortStateChange is 0, certifies all of its links. A port that went down makes its
// other end missing, and everything whose route from or to the manager crosses that device; what
// is missing is found again over surviving links, or is gone. A port that came up is explored as
// in full discovery, stopping at devices that are known. (Thesis, partial discovery.)

/// What is known, from the cycle before. Must stay alive while the discovery runs.
struct KnownSubnet {
  const SweepReport* sweep = nullptr;
  const LidMap* lids = nullptr;

  /// Thesis: routes by LID follow these. Fewest: a switch with entries here, but LinearFDBTop 0,
  /// has restarted.
  const ForwardingTables* lft = nullptr;

  /// Fewest: ports that the manager made Active after it had read them in Initialize, since their
  /// switch was last asked. Their links may have come up once more in between, with somebody else
  /// at the other end; their state does not tell. Null: none.
  const std::set<PortRef>* came_up = nullptr;

  /// Switches whose PortStateChange was raised and could not, or should not, be cleared then: it
  /// says nothing of what happened since. Null: none.
  const std::set<Guid>* left_raised = nullptr;
};

struct PartialReport {
  SweepReport sweep;
  Delta delta;
  std::vector<Guid> reread;  // switches whose ports were read again, ascending

  /// Nodes where a link came or went while it was looked at, ascending: suspects of the next look.
  /// Their PortStateChange is set again, too.
  std::vector<Guid> look_again;

  /// Ports of adapters that are, or were, linked to one of KnownSubnet::came_up, whose switch says
  /// that something happened since: they may have been started anew. Ascending.
  std::vector<PortRef> doubtful;

  /// Not empty: what was seen does not fit what was known, and only a full discovery will do; the
  /// rest of the report is empty then.
  std::string full_needed;
};

class PartialRun;

class PartialDiscovery {
 public:
  using Done = std::function<void(Result<PartialReport>)>;

  PartialDiscovery(SmpClient& client, DiscoveryOptions options, Epoch epoch);
  ~PartialDiscovery();
  PartialDiscovery(const PartialDiscovery&) = delete;

  /// `suspects`: switches that reported a change or did not answer; with Fewest also single ports,
  /// at which it is to be asked who is there, whatever their switches say. `done` runs once, last;
  /// it may destroy this; at once when nothing is known. Fails only when the local node does not
  /// answer.
  void start(const KnownSubnet& known,
             std::vector<Guid> suspects,
             std::vector<PortRef> ports,
             Done done);

  void start(const KnownSubnet& known, std::vector<Guid> suspects, Done done) {
    start(known, std::move(suspects), {}, std::move(done));
  }

 private:
  SmpClient& client_;
  DiscoveryOptions options_;
  Epoch epoch_;
  std::unique_ptr<PartialRun> run_;
};

}  // namespace smd
