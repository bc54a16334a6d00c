#include "sim-backend/topology/files/read_text.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace smd::sim {

Result<std::string> read_text(const std::filesystem::path& path, std::size_t most) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return fail(Errc::NoDevice, "no such file");
  if (std::filesystem::is_directory(status)) {
    return fail(Errc::Io, "is a directory: name a file in it");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Errc::Io, fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string text;
  std::string chunk(std::size_t{1} << 16, '\0');
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) {
      return fail(Errc::Io, fmt::format("is too large: {} MB at most", most >> 20));
    }
  }
  if (in.bad()) return fail(Errc::Io, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

}  // namespace smd::sim
