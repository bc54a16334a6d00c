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

}  // namespace smd
