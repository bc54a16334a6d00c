#include "smd/daemon/service_notify.h"

#include <fmt/core.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace smd {
namespace {

// A service manager that is not there, or does not listen, is no reason to do anything else.
void tell(const std::string& message) { static_cast<void>(sd_notify(0, message.c_str())); }

}  // namespace

void ServiceNotify::ready() { tell("READY=1"); }

void ServiceNotify::reloading() {
  // systemd wants the clock to tell this reload from one before it.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t micros = now.tv_sec * std::int64_t{1000000} + now.tv_nsec / 1000;
  tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", micros));
}

void ServiceNotify::stopping() { tell("STOPPING=1"); }

void ServiceNotify::status(const std::string& line) {
  std::string message = "STATUS=" + line;
  // A line end would start another assignment.
  std::ranges::replace(message, '\n', ' ');
  tell(message);
}

void ServiceNotify::watchdog() { tell("WATCHDOG=1"); }

std::optional<Duration> ServiceNotify::watchdog_interval() const {
  std::uint64_t micros = 0;
  if (sd_watchdog_enabled(0, &micros) <= 0) return std::nullopt;
  return std::chrono::microseconds(micros);
}

}  // namespace smd
