// Datagram sockets in the abstract namespace, addressed as libumad2sim addresses them.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "smd/base/result.h"

namespace smd::sim {

/// A descriptor with an owner.
class Fd {
 public:
  Fd() = default;

  explicit Fd(int fd) : fd_(fd) {}

  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  Fd& operator=(Fd&& other) noexcept;
  ~Fd();

  [[nodiscard]] int get() const { return fd_; }

  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct SocketAddress {
  sockaddr_un name{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&name); }

  [[nodiscard]] sockaddr* data() { return reinterpret_cast<sockaddr*>(&name); }
};

/// Abstract names end with a NUL that counts: libumad2sim's do.
[[nodiscard]] Result<SocketAddress> make_address(const std::string& name);

/// Non-blocking, close-on-exec.
[[nodiscard]] Result<Fd> open_datagram_socket();

/// Busy when the name is taken.
Result<void> bind_socket(const Fd& socket, const SocketAddress& address);

/// False when nobody is bound to the address.
[[nodiscard]] bool has_listener(const SocketAddress& address);

}  // namespace smd::sim
