// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace smd::sim {

/// A file that was there stays until the new one is complete. Devices and pipes are written
/// directly. What goes wrong is said on stderr.
[[nodiscard]] bool write_file(const std::filesystem::path& path, const std::string& text);

/// With all above it. What goes wrong is said on stderr.
[[nodiscard]] bool make_folder(const std::filesystem::path& path);

/// What goes wrong is said on stderr.
[[nodiscard]] bool print_to_stdout(const std::string& text);

}  // namespace smd::sim
