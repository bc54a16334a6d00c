// The socket file: taking a path over from a daemon that died, never from one that lives.
#pragma once

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

}  // namespace smd
