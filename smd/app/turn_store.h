// Turns that may be blocked, in the state directory (app/state_file.h): whoever starts next opens
// them again. One per line: GUID, input, output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/program/turn_memory.h"

namespace smd::app {

[[nodiscard]] std::string print_turns(const std::vector<TurnRef>& turns);

/// Every line that is no turn is a fault. `file` is for the messages.
[[nodiscard]] Parsed<std::vector<TurnRef>> parse_turns(std::string_view text,
                                                       const std::string& file);

/// None when the file does not exist; every fault of its text otherwise.
[[nodiscard]] Parsed<std::vector<TurnRef>> load_turns(const std::string& state_dir);

Result<void> save_turns(const std::string& state_dir, const std::vector<TurnRef>& turns);

/// A mark that switches may hold SL-to-VL rows which certain routes needed: whoever starts next
/// looks at all of them.
[[nodiscard]] std::string print_rows_mark(bool set);

[[nodiscard]] Parsed<bool> load_rows_mark(const std::string& state_dir);

Result<void> save_rows_mark(const std::string& state_dir);

}  // namespace smd::app
