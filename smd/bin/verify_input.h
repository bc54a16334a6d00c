// What `smd verify` looks at: a fabric, and the tables that somebody dumped from its switches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "smd/bin/table_dumps.h"
#include "smd/fabric/fabric.h"
#include "smd/routing/tables.h"

namespace smd::bin {

struct VerifyInput {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  RoutingTables routing;
  std::optional<SlSets> offered;   // SLs of paths, where they were dumped
  std::optional<SlSets> of_hosts;  // of these the ones from hosts, where some are from switches
  std::vector<std::string> notes;  // what was assumed
};

/// What was read, and where it comes from, for messages.
struct Dumps {
  LftDump lft;
  std::optional<std::vector<DumpedSlToVl>> sl2vl;
  std::optional<std::vector<DumpedPath>> path_sl;
  std::string fabric_file;
  std::string lft_file;
  std::string sl2vl_file;
  std::string path_sl_file;
};

/// Switches are matched by GUID, end ports by port GUID. LIDs are those of the fabric file; where
/// it has none, what the dump says. Every switch needs its table. Paths of which no record speaks
/// have SL 0.
[[nodiscard]] Parsed<VerifyInput> join_dumps(const sim::FabricSpec& spec, const Dumps& dumps);

}  // namespace smd::bin
