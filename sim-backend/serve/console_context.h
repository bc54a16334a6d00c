// What the console's commands share: the served fabric, and the words of the line that runs.
#pragma once

#include <cstdint>
#include <string>

#include "sim-backend/serve/console.h"

namespace smd::sim {

struct ConsoleContext {
  SimFabric& fabric;
  Switchboard& board;
  ConsoleWords words;
  bool& quit;
};

/// What a command prints, or what is wrong with its line.
using ConsoleAnswer = Result<std::string>;

struct ConsolePort {
  std::uint32_t node = kNoNode;
  PortNum port;
};

[[nodiscard]] Result<std::uint32_t> find_named(const ConsoleContext& context,
                                               const std::string& name);

[[nodiscard]] std::string name_of(const ConsoleContext& context, std::uint32_t node);

/// The node that the next target means; a port with it is a fault.
[[nodiscard]] Result<std::uint32_t> next_node(ConsoleContext& context);

/// Nothing is done where a line says more than its command takes.
[[nodiscard]] Result<void> check_end(ConsoleContext& context);

// Commands that only look: console_show.cpp.
ConsoleAnswer run_route(ConsoleContext& context);
ConsoleAnswer run_dump(ConsoleContext& context);
ConsoleAnswer run_congestion(ConsoleContext& context);

}  // namespace smd::sim
