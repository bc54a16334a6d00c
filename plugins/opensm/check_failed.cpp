// In place of the daemon's answer to a bug, which is to abort and be restarted: inside OpenSM a bug
// of ours ends the computation, and OpenSM goes on with its next engine.
#include <stdexcept>
#include <string>

#include "smd/base/check.h"

namespace smd {

void check_failed(const char* condition, const char* message, const char* file, int line) {
  throw std::logic_error(std::string("refused: bug at ") + file + ":" + std::to_string(line) +
                         ": " + message + " (" + condition + ")");
}

}  // namespace smd
