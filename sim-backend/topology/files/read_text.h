// A file that somebody named, whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "smd/base/result.h"

namespace smd::sim {

/// NoDevice: there is no such file. Io: it is a directory, cannot be read, or has more than `most`
/// bytes.
[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& path, std::size_t most);

}  // namespace smd::sim
