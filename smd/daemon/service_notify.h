// What systemd is told: ready, reloading, stopping, one line of status, still alive. Without
// systemd (NOTIFY_SOCKET is not set) every call does nothing.
#pragma once

#include <optional>
#include <string>

#include "smd/runtime/runtime.h"

namespace smd {

class ServiceNotify {
 public:
  void ready();

  /// Call ready() when it is over, also when it failed.
  void reloading();

  void stopping();

  /// One line for `systemctl status`.
  void status(const std::string& line);

  /// "Still alive"; due within each watchdog_interval().
  void watchdog();

  /// WatchdogSec of the unit; nothing when no watchdog listens.
  [[nodiscard]] std::optional<Duration> watchdog_interval() const;
};

}  // namespace smd
