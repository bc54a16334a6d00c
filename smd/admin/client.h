// The other end of the admin socket: one request, one answer.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "smd/base/result.h"

namespace smd {

struct AdminRequest {
  std::string socket;
  std::chrono::seconds patience{30};  // for each piece of the answer
};

/// What the daemon answers to `command` with `args`, its refusal as Refused. Unreachable when no
/// daemon listens; NoPermission, Timeout, Malformed, Io as they say. Blocks.
[[nodiscard]] Result<nlohmann::json> send_command(const AdminRequest& where,
                                                  const std::string& command,
                                                  const nlohmann::json& args);

// An answer of the daemon as people read it: aligned, one screen where it can be.

/// Any JSON. Objects become lines of key and value, lists of objects tables, with well-known keys
/// first. Control characters of foreign text never reach the terminal. Ends with a line end.
[[nodiscard]] std::string print_answer_text(const nlohmann::json& result);

/// What people read better than as a table of its keys: routes hop by hop, changes and alarms one
/// per line; any other answer, or one of another shape, as print_answer_text() shows it.
[[nodiscard]] std::string print_command_answer(const std::string& command,
                                               const nlohmann::json& result);

}  // namespace smd
