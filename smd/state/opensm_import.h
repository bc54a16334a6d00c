// What OpenSM leaves on its disk, read so that a site that changes managers keeps its LIDs,
// subscriptions and services: guid2lid, and opensm-sa.dump (OpenSM 3.3).
#pragma once

#include <string>
#include <string_view>

#include "smd/policy/lid_assignment.h"
#include "smd/state/client_records.h"

namespace smd {

/// Lines of GUID, first LID, last LID. A range that is no power of two, or begins at no multiple of
/// its size, is a fault, as is everything that is no such line. `file` is for the messages.
[[nodiscard]] Parsed<LidBook> parse_guid2lid(std::string_view text, const std::string& file);

struct OpensmDump {
  ClientRecords records;
  std::size_t groups = 0;   // multicast groups, which members join again
  std::size_t aliases = 0;  // tables of alias GUIDs
};

/// Records that are known to be there but that are not taken over are counted. Every other line
/// that is no record is a fault.
[[nodiscard]] Parsed<OpensmDump> parse_opensm_dump(std::string_view text,
                                                   const std::string& file,
                                                   const Moment& now);

}  // namespace smd
