#include "sim-backend/bin/whole_file.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace smd::sim {
namespace {

bool write_text(const std::filesystem::path& path, const TextPieces& pieces) {
  std::ofstream out(path, std::ios::binary);
  std::string text;
  for (bool more = true; more && out.good();) {
    text.clear();
    more = pieces(text);
    out << text;
  }
  out.close();
  return out.good();
}

bool complain(const std::filesystem::path& path, const std::string& why) {
  fmt::print(stderr, "{}: cannot be written: {}\n", path.string(), why);
  return false;
}

}  // namespace

bool write_file(const std::filesystem::path& path, const std::string& text) {
  return write_file(path, [&](std::string& out) {
    out = text;
    return false;
  });
}

bool write_file(const std::filesystem::path& path, const TextPieces& pieces) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool is_new = status.type() == std::filesystem::file_type::not_found;
  const bool by_rename = is_new || std::filesystem::is_regular_file(status);
  // Of its own for each process: tasks of a campaign may share a folder.
  const std::filesystem::path target =
      by_rename ? fmt::format("{}.{}.part", path.string(), ::getpid()) : path.string();
  errno = 0;
  if (!write_text(target, pieces)) {
    const int why = errno;
    if (by_rename) std::filesystem::remove(target, error);
    return complain(path, std::strerror(why));
  }
  if (by_rename) std::filesystem::rename(target, path, error);
  if (!error) return true;
  const std::string why = error.message();
  std::filesystem::remove(target, error);
  return complain(path, why);
}

bool make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return true;
  fmt::print(stderr, "{}: cannot be made: {}\n", path.string(), error.message());
  return false;
}

void print_to_stdout(const TextPieces& pieces) {
  std::string text;
  for (bool more = true; more;) {
    text.clear();
    more = pieces(text);
    fmt::print("{}", text);
  }
}

}  // namespace smd::sim
