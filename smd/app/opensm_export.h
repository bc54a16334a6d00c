// Our state as files of OpenSM 3.3, so that a site that goes back to it keeps its LIDs, groups,
// subscriptions and services. What is written here opensm_state.h reads back.
#pragma once

#include <string>
#include <vector>

#include "smd/app/state_bundle.h"
#include "smd/policy/lid_assignment.h"

namespace smd::app {

struct OpensmFile {
  std::string name;  // as OpenSM calls it
  std::string text;
  std::string note;  // what is in it, in words
};

/// A line of GUID, first LID, last LID for each port, in GUID order, and an empty one behind it.
[[nodiscard]] std::string print_guid2lid(const LidBook& book);

struct ExportContext {
  std::string from;  // for the messages
  std::uint64_t subnet_prefix = kDefaultSubnetPrefix;
  std::int64_t wall_ms = 0;  // since 1970
};

/// guid2lid, and opensm-sa.dump where there are records for it. A state without LIDs is a fault.
[[nodiscard]] Parsed<std::vector<OpensmFile>> export_for_opensm(const StateBundle& bundle,
                                                                const ExportContext& context);

}  // namespace smd::app
