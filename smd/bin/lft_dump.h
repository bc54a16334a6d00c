// Unicast forwarding tables as text (docs/formats/tables.md): what `dump_fts` and `dump_lfts`
// print, what OpenSM writes into opensm-lfts.dump, what `smd dry-run --dump` writes into lft.txt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"

namespace smd::bin {

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

}  // namespace smd::bin
