// Our state as files of OpenSM 3.3, so that a site that goes back to it keeps its LIDs, groups,
// subscriptions and services; and what OpenSM leaves on its disk, read so that a site that changes
// managers keeps the same: guid2lid, and opensm-sa.dump.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smd/policy/lid_assignment.h"
#include "smd/state/client_records.h"
#include "smd/state/state_bundle.h"

namespace smd {

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
[[nodiscard]] OpensmDumpText print_opensm_dump(const ClientRecords& records,
                                               const DumpContext& context);

struct OpensmFile {
  std::string name;  // as OpenSM calls it
  std::string text;
  std::string note;  // what is in it, in words
};

/// A line of GUID, first LID, last LID for each port, in GUID order, and an empty one behind it.
[[nodiscard]] std::string print_guid2lid(const LidBook& book);

/// What export_for_opensm() may write, by name.
inline constexpr std::string_view kOpensmStateFiles[] = {
    "guid2lid", "opensm-sa.dump", "partitions.ordered"};

struct ExportContext {
  std::string from;  // for the messages
  std::uint64_t subnet_prefix = kDefaultSubnetPrefix;
  std::int64_t wall_ms = 0;  // since 1970
};

/// guid2lid, opensm-sa.dump where there are records for it, and partitions that were ordered. A
/// state without LIDs is a fault.
[[nodiscard]] Parsed<std::vector<OpensmFile>> export_for_opensm(const StateBundle& bundle,
                                                                const ExportContext& context);

// What OpenSM left.

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
