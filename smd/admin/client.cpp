#include "smd/admin/client.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "smd/admin/commands.h"

namespace smd {
namespace {

using Json = nlohmann::json;

/// No daemon of ours answers more; something else might answer for ever.
constexpr std::size_t kLongestAnswer = std::size_t{256} << 20;

/// A blocking connection; closes with its scope.
class Connection {
 public:
  explicit Connection(const AdminRequest& where) : where_(where) {}

  ~Connection() {
    if (fd_ >= 0) ::close(fd_);
  }

  Connection(const Connection&) = delete;

  Result<void> open() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (where_.socket.size() >= sizeof address.sun_path) {
      return fail(Errc::Unreachable,
                  fmt::format("{} is no socket path: longer than {} bytes",
                              where_.socket,
                              sizeof address.sun_path - 1));
    }
    where_.socket.copy(address.sun_path, where_.socket.size());
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return trouble();
    const timeval patience{.tv_sec = where_.patience.count(), .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const auto* generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    if (::connect(fd_, generic, sizeof address) != 0) return trouble();
    return {};
  }

  Result<void> send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      // A daemon that refuses the connection says why before it closes: go and read.
      if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};
      if (sent < 0) return trouble();
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  Result<std::string> receive_line() {
    std::string line;
    std::array<char, 65536> chunk;
    while (line.size() < kLongestAnswer) {
      const ssize_t bytes = ::recv(fd_, chunk.data(), chunk.size(), 0);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0) return trouble();
      if (bytes == 0) {
        return fail(Errc::Io, fmt::format("the daemon on {} closed the connection", where_.socket));
      }
      const std::string_view got(chunk.data(), static_cast<std::size_t>(bytes));
      const std::size_t end = got.find('\n');
      line += got.substr(0, end);
      if (end != std::string_view::npos) return line;
    }
    return fail(Errc::Malformed, fmt::format("{} answers without end", where_.socket));
  }

 private:
  [[nodiscard]] tl::unexpected<Error> trouble() const {
    switch (errno) {
      case ENOENT:
      case ECONNREFUSED:
        return fail(Errc::Unreachable,
                    fmt::format("no daemon listens on {}; is smd running?", where_.socket));
      case EACCES:
      case EPERM:
        return fail(Errc::NoPermission,
                    fmt::format("no permission to use {}; another user, or admin.socket_mode",
                                where_.socket));
      case EAGAIN:
        return fail(Errc::Timeout,
                    fmt::format("the daemon on {} gave no answer within {} s",
                                where_.socket,
                                where_.patience.count()));
      default:
        return fail(Errc::Io, fmt::format("{}: {}", where_.socket, std::strerror(errno)));
    }
  }

  const AdminRequest& where_;
  int fd_ = -1;
};

Result<Json> parse_answer(const std::string& line, const std::string& socket) {
  const Json answer = nests_too_deep(line) ? Json() : Json::parse(line, nullptr, false);
  const auto malformed = fail(Errc::Malformed, fmt::format("{} answers no smd's words", socket));
  if (!answer.is_object()) return malformed;
  const auto ok = answer.find("ok");
  if (ok == answer.end() || !ok->is_boolean()) return malformed;
  if (ok->get<bool>()) return answer.value("result", Json());
  const auto error = answer.find("error");
  if (error == answer.end() || !error->is_string()) return malformed;
  return fail(Errc::Refused, error->get<std::string>());
}

}  // namespace

Result<Json> send_command(const AdminRequest& where, const std::string& command, const Json& args) {
  const Json request = {{"command", command}, {"args", args}};
  Connection connection(where);
  const auto line = connection.open()
                        .and_then([&] {
                          return connection.send(
                              request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
                        })
                        .and_then([&] { return connection.receive_line(); });
  if (!line) return tl::unexpected<Error>(line.error());
  return parse_answer(*line, where.socket);
}

}  // namespace smd
