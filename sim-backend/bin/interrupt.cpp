#include "sim-backend/bin/interrupt.h"

#include <atomic>
#include <csignal>

namespace smd::sim {
namespace {

std::atomic<bool> asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) { asked.store(true); }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};

  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return asked.load(); }

}  // namespace smd::sim
