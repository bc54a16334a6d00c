// FABRIC as people name it: a generator's call or a file.
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/generator.h"
#include "sim-backend/topology/net_lines.h"

namespace smd::sim {
namespace {

constexpr std::size_t kMaxFile = std::size_t{512} << 20;

Result<std::string> read_text(const std::filesystem::path& path) {
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
    if (text.size() > kMaxFile) return fail(Errc::Io, "is larger than any fabric: 512 MB at most");
  }
  if (in.bad()) return fail(Errc::Io, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

bool looks_like_path(std::string_view fabric) {
  return fabric.find('/') != std::string_view::npos || fabric.find('.') < fabric.find(':');
}

}  // namespace

Parsed<FabricSpec> load_fabric(const std::string& fabric) {
  const std::string name = fabric.substr(0, fabric.find(':'));
  if (find_generator(name) != nullptr) return generate(fabric);
  const std::filesystem::path path(fabric);
  const Result<std::string> text = read_text(path);
  if (text) {
    const Includer include = [&path](const std::string& other) {
      return read_text(path.parent_path() / other);
    };
    return build_fabric(read_net_lines(*text, fabric, include));
  }
  if (text.error().code != Errc::NoDevice || looks_like_path(fabric)) {
    return fault(fabric, 0, text.error().context);
  }
  return fault(
      fabric,
      0,
      fmt::format("neither a file nor a generator: did you mean \"{}\"?", nearest_generator(name)));
}

Parsed<FabricSpec> parse_fabric(std::string_view text, const std::string& file) {
  return build_fabric(read_net_lines(text, file, {}));
}

}  // namespace smd::sim
