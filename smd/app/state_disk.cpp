#include "smd/app/state_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "smd/base/read_file.h"

namespace smd::app {
namespace {

tl::unexpected<Error> io_error(const std::string& path, int error) {
  return fail(Errc::Io, fmt::format("{}: {}", path, std::strerror(error)));
}

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
  auto text = read_file(path(name), kLargestState);
  if (text) return std::move(*text);
  if (text.error().code == Errc::NoDevice) return std::nullopt;
  return fail(text.error().code, fmt::format("{}: {}", path(name), text.error().context));
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

Result<StateLock> StateLock::take(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    const bool denied = error == std::errc::permission_denied;
    return fail(denied ? Errc::NoPermission : Errc::Io,
                fmt::format("{}: {}", directory, error.message()));
  }
  const std::string path = directory + "/lock";
  Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (file.get() < 0) return io_error(path, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return io_error(path, errno);
    std::array<char, 24> holder{};
    const ssize_t n = ::pread(file.get(), holder.data(), holder.size(), 0);
    const std::string_view text(holder.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
    const std::string_view pid = text.substr(0, text.find_first_not_of("0123456789"));
    return fail(Errc::Busy,
                fmt::format("another smd keeps its state in {}{}{}; stop it, or name another "
                            "directory",
                            directory,
                            pid.empty() ? "" : ": process ",
                            pid));
  }
  // Only who asks in vain reads it: a disk that is full does not keep the daemon from running.
  const std::string own = fmt::format("{}\n", ::getpid());
  static_cast<void>(!::ftruncate(file.get(), 0));
  static_cast<void>(!::pwrite(file.get(), own.data(), own.size(), 0));
  return StateLock(std::move(file));
}

}  // namespace smd::app
