// Small files in the state directory: read at start, replaced whole (write, sync, rename) when what
// they hold changes.
#pragma once

#include <string>
#include <string_view>

#include "smd/base/result.h"

namespace smd::app {

[[nodiscard]] std::string state_path(const std::string& state_dir, std::string_view name);

/// Empty when the file does not exist; a fault when it does and cannot be read.
[[nodiscard]] Parsed<std::string> read_state(const std::string& state_dir, std::string_view name);

/// Creates the directory if needed. After a failure the old file is untouched.
Result<void> write_state(const std::string& state_dir,
                         std::string_view name,
                         const std::string& text);

}  // namespace smd::app
