// What outlives the manager besides what clients left, each kind in a file of the state directory
// (state_directory.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/mad/congestion.h"
#include "smd/policy/lid_assignment.h"
#include "smd/program/agent_memory.h"

namespace smd {

/// What outlives the manager: written down when it changes, handed to the next.
struct PersistentState {
  LidBook book;
  std::vector<TurnRef> turns;  // that may be blocked
  bool rows = false;           // switches may hold SL-to-VL rows that certain routes needed
};

/// An empty book when the file does not exist; every fault of its text otherwise.
[[nodiscard]] Parsed<LidBook> load_lids(const std::string& state_dir);

/// Creates the directory if needed. After a failure the old file is untouched.
Result<void> save_lids(const std::string& state_dir, const LidBook& book);

// Turns that may be blocked, in the state directory (app/state_file.h): whoever starts next opens
// them again. One per line: GUID, input, output.

[[nodiscard]] std::string print_turns(const std::vector<TurnRef>& turns);

/// Every line that is no turn is a fault. `file` is for the messages.
[[nodiscard]] Parsed<std::vector<TurnRef>> parse_turns(std::string_view text,
                                                       const std::string& file);

/// None when the file does not exist; every fault of its text otherwise.
[[nodiscard]] Parsed<std::vector<TurnRef>> load_turns(const std::string& state_dir);

Result<void> save_turns(const std::string& state_dir, const std::vector<TurnRef>& turns);

/// A mark that switches may hold SL-to-VL rows which certain routes needed: whoever starts next
/// reads all of them.
[[nodiscard]] std::string print_rows_mark(bool set);

[[nodiscard]] Parsed<bool> load_rows_mark(const std::string& state_dir);

Result<void> save_rows_mark(const std::string& state_dir);

// CC_Keys that agents were protected with, in the state directory (app/state_file.h): whoever
// starts next with another one opens the agents with them. One per line, the oldest first.

[[nodiscard]] std::string print_cc_keys(const std::vector<cc::CcKey>& keys);

/// Every line that is no key is a fault. `file` is for the messages.
[[nodiscard]] Parsed<std::vector<cc::CcKey>> parse_cc_keys(std::string_view text,
                                                           const std::string& file);

/// None when the file does not exist; every fault of its text otherwise.
[[nodiscard]] Parsed<std::vector<cc::CcKey>> load_cc_keys(const std::string& state_dir);

Result<void> save_cc_keys(const std::string& state_dir, const std::vector<cc::CcKey>& keys);

}  // namespace smd
