// The SLs of paths as text: what `saquery -p` prints of a subnet's PathRecords
// (docs/formats/tables.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"

namespace smd::bin {

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

}  // namespace smd::bin
