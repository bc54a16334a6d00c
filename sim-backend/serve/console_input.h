// Lines of a terminal, pipe or file for the console; answers and prompts on stdout.
#pragma once

#include <functional>
#include <memory>

#include "sim-backend/serve/console.h"
#include "smd/runtime/asio_runtime.h"

namespace smd::sim {

class ConsoleInput {
 public:
  /// Reads `fd` until its end, which changes nothing for those who are served. `quit` runs when the
  /// console was told to quit.
  ConsoleInput(AsioRuntime& runtime, Console& console, int fd, std::function<void()> quit);
  ~ConsoleInput();
  ConsoleInput(const ConsoleInput&) = delete;

  static constexpr std::size_t kLongestLine = 4096;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::sim
