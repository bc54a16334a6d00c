// The file of sm.roots_file: GUIDs of switches, one a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"

namespace smd {

/// In the order of the file; a GUID is "0x" and up to 16 digits, "#" begins a remark. Every line
/// that is neither is a fault.
[[nodiscard]] Parsed<std::vector<Guid>> parse_root_file(std::string_view text,
                                                        const std::string& file);

}  // namespace smd
