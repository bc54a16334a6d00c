#include "tests/support/paths.h"

namespace smd::test {

std::string source_path(const std::string& relative) {
  return relative.empty() ? SMD_SOURCE_DIR : SMD_SOURCE_DIR "/" + relative;
}

std::string build_path(const std::string& relative) {
  return relative.empty() ? SMD_BINARY_DIR : SMD_BINARY_DIR "/" + relative;
}

}  // namespace smd::test
