// What a server listens on: a path, or an address. A path is taken over from a daemon that died,
// never from one that lives.
#pragma once

#include <optional>
#include <string>

#include "smd/base/result.h"

namespace smd {

/// A listening Unix socket and the lock that makes its path ours. Owns both descriptors and the
/// file.
class SocketFile {
 public:
  /// Busy when somebody holds the lock or listens; Invalid when the path holds something else than
  /// a socket, which is left alone.
  [[nodiscard]] static Result<SocketFile> open(const std::string& path, unsigned mode);

  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&&) = delete;

  /// Removes the socket file. The lock file stays: removing it would let two daemons hold "the"
  /// lock.
  ~SocketFile();

  /// The listening descriptor; the caller owns it from here on.
  [[nodiscard]] int release_listener();

 private:
  SocketFile() = default;

  std::string path_;
  int lock_ = -1;
  int listener_ = -1;
  bool bound_ = false;
};

// What a server listens on: a path, or an address.

struct Listener {
  std::optional<SocketFile> file;  // goes with the server
  int family = 0;
  int protocol = 0;
  int descriptor = -1;  // whoever takes it owns it
  unsigned port = 0;    // of TCP
};

/// `listen` is an absolute path, whose file gets `mode`, or HOST:PORT. Invalid where it is neither;
/// Busy where it is taken or is none of this machine's.
[[nodiscard]] Result<Listener> open_listener(const std::string& listen, unsigned mode);

}  // namespace smd
