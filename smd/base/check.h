// "We have a bug": log one line and abort. systemd restarts the daemon, and restart is a tested
// path.
#pragma once

namespace smd {

[[noreturn]] void check_failed(const char* condition,
                               const char* message,
                               const char* file,
                               int line);

}  // namespace smd

#define SMD_CHECK(condition, message) \
  ((condition) ? void(0) : ::smd::check_failed(#condition, message, __FILE__, __LINE__))
