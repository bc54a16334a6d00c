// The Unix socket that smctl talks to: one line of JSON in, one line out, on the daemon's loop.
//
// A client's next request is read only when its last answer is out, so that what one client can
// make the daemon hold is one request and one answer. Clients that exceed a limit are told why, if
// they still read, and cut; nothing that a client does ends the daemon. Where there are too many,
// the one that has been idle for longest gives way to the newcomer, so that nobody who holds
// connections open keeps others out.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "smd/admin/commands.h"
#include "smd/base/result.h"
#include "smd/runtime/asio_runtime.h"

namespace smd {

struct SocketServerOptions {
  std::string path;
  unsigned mode = 0660;  // of the socket file
  std::size_t max_clients = 64;
  std::size_t max_request = 64 * 1024;         // bytes of one line
  std::size_t max_backlog = 64 * 1024 * 1024;  // bytes of an answer that wait for their reader
  Duration stall = std::chrono::seconds(30);   // a reader that takes nothing for so long is cut
  Duration idle = std::chrono::minutes(1);     // likewise who completes no request for so long
};

class SocketServer {
 public:
  /// Busy when another daemon listens on the path; a socket file that nobody listens on is
  /// replaced. Both references must outlive the server.
  [[nodiscard]] static Result<std::unique_ptr<SocketServer>> listen(AsioRuntime& runtime,
                                                                    const CommandTable& commands,
                                                                    SocketServerOptions options);

  /// Closes every connection and removes the socket file.
  ~SocketServer();
  SocketServer(const SocketServer&) = delete;

  [[nodiscard]] std::size_t client_count() const;

 private:
  struct Impl;
  explicit SocketServer(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace smd
