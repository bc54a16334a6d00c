// opensm-sa.dump: what clients left with the administration, in the words of OpenSM 3.3.
#pragma once

#include <cstdint>
#include <string>

#include "smd/app/kept_records.h"
#include "smd/policy/lid_assignment.h"

namespace smd::app {

struct DumpContext {
  const LidBook& lids;          // Reports go to a LID
  std::uint64_t subnet_prefix;  // of the GIDs of ports
  Moment now;
};

struct OpensmDumpText {
  std::string text;
  std::size_t groups = 0;
  std::size_t subscriptions = 0;
  std::size_t services = 0;
  std::size_t aliases = 0;   // blocks of further GUIDs
  std::size_t left_out = 0;  // of ports without a LID; services that the format cannot name
};

/// One record a line, and an empty one behind it. Leases that ran out are left out.
[[nodiscard]] OpensmDumpText print_opensm_dump(const KeptRecords& records,
                                               const DumpContext& context);

}  // namespace smd::app
