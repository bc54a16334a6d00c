// SL-to-VL tables as text (docs/formats/tables.md): what OpenSM writes into opensm-sl2vl.dump, and
// `smd dry-run --dump` into sl2vl.txt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/mad/tables.h"

namespace smd::bin {

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

}  // namespace smd::bin
