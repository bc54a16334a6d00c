// A TCP socket that listens, as its descriptor: Asio stays out of this header.
#pragma once

#include "smd/base/host_port.h"
#include "smd/base/result.h"

namespace smd {

struct TcpListener {
  int family = 0;       // AF_INET or AF_INET6
  int descriptor = -1;  // the caller's
  unsigned port = 0;    // the one that was given, where 0 was asked for
};

/// Busy where the address is taken or none of this machine's. Looks the name up, and waits for
/// that.
[[nodiscard]] Result<TcpListener> open_tcp_listener(const HostPort& at);

}  // namespace smd
