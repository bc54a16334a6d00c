// What a server listens on: a path, or an address.
#pragma once

#include <optional>
#include <string>

#include "smd/admin/socket_file.h"

namespace smd {

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
