// Full discovery: learns the whole subnet by directed routes, in propagation order, pipelined
// through the SMP window.
//
// Lean (default): a link known from one end is not asked from the other, and a raised
// PortStateChange is cleared before the switch's ports are read, so that a change during the
// reading raises it again. Literal: the request set of the thesis (full discovery, Table 12): every
// up port is probed, the way back included, and LIDs are set while discovering.
#pragma once

#include <functional>
#include <memory>

#include "smd/discovery/explorer.h"

namespace smd {

using DiscoveryOptions = ExplorerOptions;

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
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace smd
