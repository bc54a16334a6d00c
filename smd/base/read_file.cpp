#include "smd/base/read_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace smd {
namespace {

tl::unexpected<Error> system_error(const char* what) {
  const int number = errno;
  if (number == ENOENT || number == ENOTDIR) return fail(Errc::NoDevice, "no such file");
  const Errc code = number == EACCES || number == EPERM ? Errc::NoPermission
                    : number == EIO                     ? Errc::Malformed
                                                        : Errc::Io;
  return fail(code, fmt::format("{}: {}", what, std::strerror(number)));
}

tl::unexpected<Error> too_large(std::size_t most) {
  const bool whole = most >= 1 << 20;
  return fail(
      Errc::Io,
      fmt::format(
          "is too large: {} {} at most", whole ? most >> 20 : most, whole ? "MiB" : "bytes"));
}

/// Why a file of this kind is not read; empty when it is.
std::string_view refusal(mode_t mode, Pipes pipes) {
  if (S_ISREG(mode)) return "";
  if (S_ISFIFO(mode)) return pipes == Pipes::Accepted ? "" : "is a pipe: name a regular file";
  if (S_ISDIR(mode)) return "is a directory: name a file in it";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "is a device: name a regular file";
  return "is no regular file";
}

/// Judged before it is opened: opening a device may act on it.
Result<mode_t> judge(const std::filesystem::path& path, Pipes pipes) {
  struct stat status {};

  if (::stat(path.c_str(), &status) != 0) return system_error("cannot be read");
  const std::string_view no = refusal(status.st_mode, pipes);
  if (!no.empty()) return fail(Errc::Io, std::string(no));
  return status.st_mode;
}

Result<void> wait_for_bytes(int fd) {
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  while (::poll(&wait, 1, -1) < 0) {
    if (errno != EINTR) return system_error("cannot be read");
  }
  return {};
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t most, Pipes pipes) {
  const auto judged = judge(path, pipes);
  if (!judged) return tl::unexpected<Error>(judged.error());
  // Opening a pipe that nobody writes into would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_error("cannot be opened");

  struct stat status {};

  // What was judged may have been replaced since.
  if (::fstat(file.get(), &status) != 0) return system_error("cannot be read");
  if (const std::string_view no = refusal(status.st_mode, pipes); !no.empty())
    return fail(Errc::Io, std::string(no));
  const bool is_pipe = S_ISFIFO(status.st_mode);
  if (!is_pipe && static_cast<std::uintmax_t>(status.st_size) > most) return too_large(most);
  std::string text;
  if (!is_pipe) text.reserve(static_cast<std::size_t>(status.st_size));
  std::string chunk(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t n = ::read(file.get(), chunk.data(), chunk.size());
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && is_pipe) {
      if (auto ready = wait_for_bytes(file.get()); !ready)
        return tl::unexpected<Error>(ready.error());
      continue;
    }
    if (n < 0) return system_error("cannot be read");
    text.append(chunk, 0, static_cast<std::size_t>(n));
    if (text.size() > most) return too_large(most);
  }
  if (is_pipe && text.empty()) return fail(Errc::Io, "is a pipe that nobody writes into");
  return text;
}

Result<void> check_regular_file(const std::filesystem::path& path) {
  const auto judged = judge(path, Pipes::Refused);
  if (!judged) return tl::unexpected<Error>(judged.error());
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error("cannot be opened");
  return {};
}

}  // namespace smd
