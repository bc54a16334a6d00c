#include "smd/app/state_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace smd::app {
namespace {

tl::unexpected<Error> io_error(const std::string& path, int error) {
  return fail(Errc::Io, fmt::format("{}: {}", path, std::strerror(error)));
}

/// An open file that is closed again.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}

  Descriptor(const Descriptor&) = delete;

  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Result<void> sync(const Descriptor& file, const std::string& path) {
  if (file.get() < 0 || ::fsync(file.get()) != 0) return io_error(path, errno);
  return {};
}

/// The bytes, on the disk when this returns.
Result<void> put(const Descriptor& file, const std::string& path, std::string_view bytes) {
  if (file.get() < 0) return io_error(path, errno);
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return sync(file, path);
}

}  // namespace

Result<std::optional<std::string>> RealDisk::read(const std::string& name) {
  const std::string where = path(name);
  const Descriptor file(::open(where.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT) return std::nullopt;
    return io_error(where, errno);
  }
  std::string text;
  std::array<char, 65536> piece{};
  for (;;) {
    const ssize_t n = ::read(file.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(where, errno);
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
}

Result<void> RealDisk::write(const std::string& name, std::string_view bytes) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) return fail(Errc::Io, fmt::format("{}: {}", directory_, error.message()));
  const std::string where = path(name);
  const Descriptor file(::open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  return put(file, where, bytes);
}

Result<void> RealDisk::append(const std::string& name, std::string_view bytes) {
  const std::string where = path(name);
  const Descriptor file(::open(where.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  return put(file, where, bytes);
}

Result<void> RealDisk::link(const std::string& from, const std::string& to) {
  ::unlink(path(to).c_str());
  if (::link(path(from).c_str(), path(to).c_str()) != 0) return io_error(path(to), errno);
  return {};
}

Result<void> RealDisk::rename(const std::string& from, const std::string& to) {
  if (::rename(path(from).c_str(), path(to).c_str()) != 0) return io_error(path(to), errno);
  return {};
}

void RealDisk::remove(const std::string& name) { ::unlink(path(name).c_str()); }

Result<void> RealDisk::sync_names() {
  return sync(Descriptor(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
              directory_);
}

}  // namespace smd::app
