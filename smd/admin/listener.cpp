#include "smd/admin/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <utility>

#include "smd/runtime/tcp_listener.h"

namespace smd {

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
