// Ctrl-C and SIGTERM for commands that keep what they have: the first asks them to end, the second
// ends them.
#pragma once

namespace smd::sim {

void catch_interrupts();

/// From any thread.
[[nodiscard]] bool interrupted();

}  // namespace smd::sim
