// The LID book in the state directory (app/state_file.h).
#pragma once

#include <string>

#include "smd/policy/lid_assignment.h"

namespace smd::app {

/// An empty book when the file does not exist; every fault of its text otherwise.
[[nodiscard]] Parsed<LidBook> load_lids(const std::string& state_dir);

/// Creates the directory if needed. After a failure the old file is untouched.
Result<void> save_lids(const std::string& state_dir, const LidBook& book);

}  // namespace smd::app
