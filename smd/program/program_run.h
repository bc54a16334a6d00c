// One run of the programmer, shared by its parts: where they read, and where they note.
#pragma once

#include <string>

#include "smd/program/program_input.h"
#include "smd/program/program_report.h"

namespace smd {

struct ProgramRun {
  Runtime& runtime;
  SmpClient& client;
  ProgramState& state;
  CostMeter& meter;
  ProgramInput input;
  ProgramReport report;

  /// Of external switch ports; nothing: as it is. Set before any port is.
  IndexVector<PortIdx, std::optional<PartitionEnforcement>> enforcement{};

  [[nodiscard]] const Fabric& fabric() const { return *input.report->fabric; }

  [[nodiscard]] NodeIdx node_of(SwitchIdx sw) const { return fabric().switch_node[sw]; }

  [[nodiscard]] Guid guid_of(SwitchIdx sw) const { return fabric().node_guid[node_of(sw)]; }

  void fault(NodeIdx node, PortNum port, std::string what);
  void not_kept(NodeIdx node, PortNum port, std::string what);
};

/// What of a list could not be confirmed.
struct Unconfirmed {
  std::vector<Guid> nodes;  // in the order in which they failed; one may be there twice
  std::string first;

  [[nodiscard]] bool empty() const { return nodes.empty(); }

  void add(Guid node, const std::string& what) {
    if (nodes.empty()) first = what;
    nodes.push_back(node);
  }
};

[[nodiscard]] bool accepted(const Result<SmpReply>& reply);

/// Why it was not accepted.
[[nodiscard]] std::string describe_failure(const Result<SmpReply>& reply);

}  // namespace smd
