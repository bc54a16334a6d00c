// An answer of the daemon as people read it: aligned, one screen where it can be.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace smd {

/// Any JSON. Objects become lines of key and value, lists of objects tables, with well-known keys
/// first. Control characters of foreign text never reach the terminal. Ends with a line end.
[[nodiscard]] std::string print_answer_text(const nlohmann::json& result);

/// What people read better than as a table of its keys: routes hop by hop, changes and alarms one
/// per line; any other answer, or one of another shape, as print_answer_text() shows it.
[[nodiscard]] std::string print_command_answer(const std::string& command,
                                               const nlohmann::json& result);

}  // namespace smd
