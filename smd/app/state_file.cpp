#include "smd/app/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace smd::app {
namespace {

Error io_error(const std::string& path, int error) {
  return {Errc::Io, fmt::format("{}: {}", path, std::strerror(error))};
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return tl::unexpected<Error>(io_error(path, errno));
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::close(fd);
      return tl::unexpected<Error>(io_error(path, error));
    }
    done += static_cast<std::size_t>(n);
  }
  const bool synced = ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  if (!synced) return tl::unexpected<Error>(io_error(path, error));
  return {};
}

}  // namespace

std::string state_path(const std::string& state_dir, std::string_view name) {
  return fmt::format("{}/{}", state_dir, name);
}

Parsed<std::string> read_state(const std::string& state_dir, std::string_view name) {
  const std::string path = state_path(state_dir, name);
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (error) return fault(path, 0, fmt::format("cannot be read: {}", error.message()));
  if (!exists) return std::string{};
  std::ifstream in(path, std::ios::binary);
  if (!in) return fault(path, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

Result<void> write_state(const std::string& state_dir,
                         std::string_view name,
                         const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(state_dir, error);
  if (error) return fail(Errc::Io, fmt::format("{}: {}", state_dir, error.message()));
  const std::string path = state_path(state_dir, name);
  const std::string fresh = path + ".new";
  if (auto written = write_file(fresh, text); !written) return written;
  std::filesystem::rename(fresh, path, error);
  if (error) return fail(Errc::Io, fmt::format("{}: {}", path, error.message()));
  return {};
}

}  // namespace smd::app
