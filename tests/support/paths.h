// Where the sources and what was built from them lie. Only one file of all tests knows it at
// compile time, so that every other object is the same wherever the repository stands.
#pragma once

#include <string>

namespace smd::test {

/// "etc/smd.toml" below the top of the repository, as an absolute path.
std::string source_path(const std::string& relative = "");

/// "bin/smd" below the build folder, as an absolute path.
std::string build_path(const std::string& relative = "");

}  // namespace smd::test
