#include "sim-backend/serve/unix_socket.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace smd::sim {

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<SocketAddress> make_address(const std::string& name) {
  SocketAddress address;
  address.name.sun_family = AF_UNIX;
  constexpr std::size_t kRoom = sizeof address.name.sun_path - 2;  // a NUL at either end
  if (name.empty() || name.size() > kRoom) {
    return fail(Errc::Invalid,
                fmt::format("socket name of {} characters, at most {} fit", name.size(), kRoom));
  }
  std::memcpy(address.name.sun_path + 1, name.data(), name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 2);
  return address;
}

Result<Fd> open_datagram_socket() {
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return fail(Errc::Io, fmt::format("socket: {}", std::strerror(errno)));
  return fd;
}

Result<void> bind_socket(const Fd& socket, const SocketAddress& address) {
  if (::bind(socket.get(), address.data(), address.length) == 0) return {};
  const char* name = address.name.sun_path + 1;
  if (errno == EADDRINUSE) {
    return fail(Errc::Busy, fmt::format("socket name {} is taken", name));
  }
  return fail(Errc::Io, fmt::format("cannot bind {}: {}", name, std::strerror(errno)));
}

bool has_listener(const SocketAddress& address) {
  const Result<Fd> probe = open_datagram_socket();
  if (!probe) return true;  // nothing learned
  return ::connect(probe->get(), address.data(), address.length) == 0 || errno != ECONNREFUSED;
}

}  // namespace smd::sim
