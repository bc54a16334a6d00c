// CC_Keys that agents were protected with, in the state directory (app/state_file.h): whoever
// starts next with another one opens the agents with them. One per line, the oldest first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/mad/congestion.h"

namespace smd::app {

[[nodiscard]] std::string print_cc_keys(const std::vector<cc::CcKey>& keys);

/// Every line that is no key is a fault. `file` is for the messages.
[[nodiscard]] Parsed<std::vector<cc::CcKey>> parse_cc_keys(std::string_view text,
                                                           const std::string& file);

/// None when the file does not exist; every fault of its text otherwise.
[[nodiscard]] Parsed<std::vector<cc::CcKey>> load_cc_keys(const std::string& state_dir);

Result<void> save_cc_keys(const std::string& state_dir, const std::vector<cc::CcKey>& keys);

}  // namespace smd::app
