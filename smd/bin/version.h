// What this build is called (cmake/version.cmake).
#pragma once

#include <string_view>

namespace smd::bin {

/// "0.1.0+git20261201.093412.1a2b3c4d5e"; without what follows "+" where it was built without git.
[[nodiscard]] std::string_view version();

}  // namespace smd::bin
