// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace smd::sim {

/// A file that was there stays until the new one is complete. Devices and pipes are written
/// directly. What goes wrong is said on stderr.
[[nodiscard]] bool write_file(const std::filesystem::path& path, const std::string& text);

/// Appends the next piece of a long text; false when there is none.
using TextPieces = std::function<bool(std::string&)>;

/// The same, piece by piece.
[[nodiscard]] bool write_file(const std::filesystem::path& path, const TextPieces& pieces);

/// With all above it. What goes wrong is said on stderr.
[[nodiscard]] bool make_folder(const std::filesystem::path& path);

/// std::system_error where it takes no more; run_program() says so.
void print_to_stdout(const TextPieces& pieces);

}  // namespace smd::sim
