// Answers that people read better than as a table of their keys.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace smd::bin {

/// Routes hop by hop, changes and alarms one per line; any other answer, or one of another shape,
/// as print_answer_text shows it. Control characters of foreign text never reach the terminal.
[[nodiscard]] std::string print_command_answer(const std::string& command,
                                               const nlohmann::json& result);

}  // namespace smd::bin
