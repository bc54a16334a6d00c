#include "smd/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace smd {

void check_failed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "smd: bug at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace smd
