// Socket files and their locks; paths and addresses to listen on.
#include "smd/admin/listener.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "smd/runtime/tcp_listener.h"

namespace smd {

namespace {

constexpr int kListenBacklog = 64;

tl::unexpected<Error> system_error(const std::string& what) {
  const int number = errno;
  const Errc code = number == EACCES || number == EPERM ? Errc::NoPermission : Errc::Io;
  return fail(code, fmt::format("{}: {}", what, std::strerror(number)));
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path ||
      path.find('\0') != std::string::npos) {
    return fail(Errc::Invalid,
                fmt::format("socket path '{}' has {} bytes; from 1 to {}",
                            path,
                            path.size(),
                            sizeof address.sun_path - 1));
  }
  path.copy(address.sun_path, path.size());
  return address;
}

/// connect and bind take the generic address, which a Unix address begins with.
const sockaddr* generic(const sockaddr_un& address) {
  return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

Result<int> open_socket() {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error("no socket");
  return fd;
}

/// A full queue of a listener answers EAGAIN: it is alive, if slow.
Result<bool> somebody_listens(const sockaddr_un& address) {
  const auto fd = open_socket();
  if (!fd) return tl::unexpected<Error>(fd.error());
  const int connected = ::connect(*fd, generic(address), sizeof address);
  const int number = errno;
  ::close(*fd);
  if (connected == 0 || number == EAGAIN) return true;
  if (number == ECONNREFUSED || number == ENOENT) return false;
  errno = number;
  return system_error(fmt::format("{} cannot be probed", address.sun_path));
}

/// The folder of a socket does not outlive a restart of the machine; systemd makes it for its unit.
Result<void> make_parent(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return {};
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(error == std::errc::permission_denied ? Errc::NoPermission : Errc::Io,
              fmt::format("{} cannot be made: {}; make it, run smd as root or under systemd, or "
                          "name a socket elsewhere",
                          folder.string(),
                          error.message()));
}

Result<void> make_way(const std::string& path, const sockaddr_un& address) {
  struct stat status {};

  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return system_error(path);
  }
  if (!S_ISSOCK(status.st_mode)) {
    return fail(Errc::Invalid,
                fmt::format("{} exists and is no socket; another path, or remove it", path));
  }
  const auto alive = somebody_listens(address);
  if (!alive) return tl::unexpected<Error>(alive.error());
  if (*alive) return fail(Errc::Busy, fmt::format("another daemon listens on {}", path));
  if (::unlink(path.c_str()) != 0) return system_error(path);
  return {};
}

}  // namespace

Result<SocketFile> SocketFile::open(const std::string& path, unsigned mode) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected<Error>(address.error());

  SocketFile file;
  file.path_ = path;
  const std::string lock = path + ".lock";
  if (auto there = make_parent(path); !there) return tl::unexpected<Error>(there.error());
  file.lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file.lock_ < 0) return system_error(lock);
  if (::flock(file.lock_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(lock);
    return fail(Errc::Busy, fmt::format("another daemon listens on {}", path));
  }
  if (auto clear = make_way(path, *address); !clear) return tl::unexpected<Error>(clear.error());

  const auto listener = open_socket();
  if (!listener) return tl::unexpected<Error>(listener.error());
  file.listener_ = *listener;
  // The file must not be open to all for a moment: it is born with the mode of the unbound socket.
  if (::fchmod(*listener, 0600) != 0) return system_error(path);
  if (::bind(*listener, generic(*address), sizeof *address) != 0) return system_error(path);
  file.bound_ = true;
  if (::listen(*listener, kListenBacklog) != 0) return system_error(path);
  if (::chmod(path.c_str(), static_cast<mode_t>(mode)) != 0) return system_error(path);
  return file;
}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      listener_(std::exchange(other.listener_, -1)),
      bound_(std::exchange(other.bound_, false)) {}

SocketFile::~SocketFile() {
  if (bound_) ::unlink(path_.c_str());
  if (listener_ >= 0) ::close(listener_);
  if (lock_ >= 0) ::close(lock_);
}

int SocketFile::release_listener() { return std::exchange(listener_, -1); }

Result<Listener> open_listener(const std::string& listen, unsigned mode) {
  if (listen.starts_with('/')) {
    auto file = SocketFile::open(listen, mode);
    if (!file) return tl::unexpected<Error>(file.error());
    const int descriptor = file->release_listener();
    return Listener{.file = std::move(*file), .family = AF_UNIX, .descriptor = descriptor};
  }
  const auto at = parse_host_port(listen);
  if (!at) return fail(Errc::Invalid, listen + " is no HOST:PORT, and no absolute path");
  const auto tcp = open_tcp_listener(*at);
  if (!tcp) return fail(tcp.error().code, listen + ": " + tcp.error().context);
  return Listener{.file = std::nullopt,
                  .family = tcp->family,
                  .protocol = IPPROTO_TCP,
                  .descriptor = tcp->descriptor,
                  .port = tcp->port};
}

}  // namespace smd
