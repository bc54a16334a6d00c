// Waiting for something that another process does. Tests within one process have no use for it.
#pragma once

#include <chrono>
#include <thread>

namespace smd::test {

/// Asks every few milliseconds; false when `holds` was never true up to the limit.
template <class Condition>
bool wait_until(Condition&& holds, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace smd::test
