// Tables as text (docs/formats/tables.md): forwarding tables, SL-to-VL tables, SLs of paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"
#include "smd/mad/tables.h"

namespace smd::bin {

// Unicast forwarding tables as text (docs/formats/tables.md): what `dump_fts` and `dump_lfts`
// print, what OpenSM and smd write into opensm-lfts.dump.

struct DumpedEntry {
  Lid lid;
  PortNum port;

  friend bool operator==(const DumpedEntry&, const DumpedEntry&) = default;
};

struct DumpedSwitch {
  int line = 0;  // of its heading
  Guid guid;
  Lid lid;                           // of the switch itself; 0 where the heading does not say
  Lid top;                           // last LID that the heading announces
  std::vector<DumpedEntry> entries;  // LIDs ascending; without what leads nowhere

  friend bool operator==(const DumpedSwitch&, const DumpedSwitch&) = default;
};

/// Whose LID a line says it is.
struct DumpedOwner {
  Guid port_guid;  // 0: no line says
  int line = 0;

  friend bool operator==(const DumpedOwner&, const DumpedOwner&) = default;
};

struct LftDump {
  std::vector<DumpedSwitch> switches;  // each GUID once
  std::vector<DumpedOwner> owners;     // by LID

  friend bool operator==(const LftDump&, const LftDump&) = default;
};

/// Total: any text gives tables or 1 to 20 faults.
[[nodiscard]] Parsed<LftDump> parse_lft_dump(std::string_view text, const std::string& file);

// SL-to-VL tables as text (docs/formats/tables.md): what OpenSM and smd write into
// opensm-sl2vl.dump.

struct DumpedRow {
  PortNum in;
  PortNum out;
  SlToVl vls{};

  friend bool operator==(const DumpedRow&, const DumpedRow&) = default;
};

struct DumpedSlToVl {
  int line = 0;  // of the heading
  Guid guid;
  std::vector<DumpedRow> rows;  // by output, then input; each pair once

  friend bool operator==(const DumpedSlToVl&, const DumpedSlToVl&) = default;
};

/// Of switches; those of adapters are read and left out. Total: any text gives tables or 1 to 20
/// faults.
[[nodiscard]] Parsed<std::vector<DumpedSlToVl>> parse_sl2vl_dump(std::string_view text,
                                                                 const std::string& file);

// The SLs of paths as text: what `saquery -p` prints of a subnet's PathRecords
// (docs/formats/tables.md).

struct DumpedPath {
  int line = 0;  // of the record's beginning
  Lid source;
  Lid destination;
  Sl sl;

  friend bool operator==(const DumpedPath&, const DumpedPath&) = default;
};

/// Total: any text gives paths or 1 to 20 faults.
[[nodiscard]] Parsed<std::vector<DumpedPath>> parse_path_sl_dump(std::string_view text,
                                                                 const std::string& file);

// Multicast tables as text (docs/formats/tables.md): what OpenSM and smd write into opensm.mcfdbs.

struct DumpedCopies {
  int line = 0;
  Guid guid;  // of the switch
  Lid mlid;
  std::vector<PortNum> ports;  // ascending

  friend bool operator==(const DumpedCopies&, const DumpedCopies&) = default;
};

/// Total: any text gives entries, each switch and MLID once, or 1 to 20 faults.
[[nodiscard]] Parsed<std::vector<DumpedCopies>> parse_mft_dump(std::string_view text,
                                                               const std::string& file);

// Who is in which group: what `saquery -m` prints, or the records of groups in OpenSM's
// opensm-sa.dump (docs/formats/tables.md).

struct DumpedMember {
  int line = 0;
  Lid mlid;
  Guid port_guid;
  std::uint8_t join_state = 0;

  friend bool operator==(const DumpedMember&, const DumpedMember&) = default;
};

/// Total: any text gives members or 1 to 20 faults.
[[nodiscard]] Parsed<std::vector<DumpedMember>> parse_member_dump(std::string_view text,
                                                                  const std::string& file);

}  // namespace smd::bin
