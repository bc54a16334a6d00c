// Whole conversations with the three sockets of the daemon, in pieces: the administration's (one
// line of JSON out for each line in), the metrics' (HTTP) and that of programs that give orders
// (HTTP with bodies and tokens). The first byte says which socket and how the bytes are cut;
// whatever is sent, the server answers what it must and holds nobody afterwards, and nothing is
// ordered without a token.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "smd/admin/http_server.h"
#include "smd/admin/socket_server.h"
#include "tests/fuzz/decode_checks.h"

namespace smd::fuzz {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBody = 512;
const std::string kToken = "0123456789abcdef";

enum class Socket { Admin, Metrics, Orders };

struct Servers {
  Servers() {
    char name[] = "/tmp/fuzz_sockets.XXXXXX";
    require(::mkdtemp(name) != nullptr);
    folder = name;
    commands.add("echo", "its arguments", [](const Json& args) -> Result<Json> { return args; });
    admin = SocketServer::listen(runtime, commands, {.path = folder + "/admin"}).value();
    HttpServerOptions options;
    options.listen = folder + "/metrics";
    options.taken.burst = ~0u;
    metrics = HttpServer::listen(runtime,
                                 serve_metrics(runtime, [] { return std::string("a 1\n"); }),
                                 std::move(options))
                  .value();
    HttpServerOptions with_bodies;
    with_bodies.listen = folder + "/orders";
    with_bodies.max_body = kMostBody;
    with_bodies.taken.burst = ~0u;
    orders = HttpServer::listen(
                 runtime,
                 [this](const HttpRequest& request) {
                   require(request.body.size() <= kMostBody && !request.method.empty());
                   const bool may = shows_token(request.authorization, std::array{kToken});
                   ordered += may ? 1 : 0;
                   return plain_answer(may ? 200 : 401, request.body);
                 },
                 std::move(with_bodies))
                 .value();
  }

  /// Everything that is ready, and nothing that waits for a time to come.
  void turn() {
    runtime.io().restart();
    runtime.io().poll();
  }

  ~Servers() {
    orders.reset();
    metrics.reset();
    admin.reset();
    (void)::rmdir(folder.c_str());
  }

  AsioRuntime runtime;
  CommandTable commands;
  std::string folder;
  std::unique_ptr<SocketServer> admin;
  std::unique_ptr<HttpServer> metrics;
  std::unique_ptr<HttpServer> orders;
  unsigned ordered = 0;
};

int connect_to(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  require(fd >= 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  require(path.size() < sizeof address.sun_path);
  std::ranges::copy(path, address.sun_path);
  require(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

/// What came so far; whether the other end has closed.
bool read_into(int fd, std::string& answer) {
  char buffer[4096];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) {
      answer.append(buffer, static_cast<std::size_t>(n));
    } else {
      return n == 0;
    }
  }
}

std::string converse(Servers& servers, Socket with, std::string_view text, std::size_t piece) {
  const int fd = connect_to(servers.folder + (with == Socket::Admin     ? "/admin"
                                              : with == Socket::Metrics ? "/metrics"
                                                                        : "/orders"));
  std::string answer;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view part = text.substr(at, piece);
    const ssize_t n = ::send(fd, part.data(), part.size(), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) break;
    at += n > 0 ? static_cast<std::size_t>(n) : 0;
    servers.turn();
    if (read_into(fd, answer)) break;
  }
  (void)::shutdown(fd, SHUT_WR);
  const auto held = [&] {
    return servers.metrics->client_count() + servers.orders->client_count() +
           servers.admin->client_count();
  };
  for (int turns = 0; turns < 100 && held() > 0; ++turns) {
    servers.turn();
    (void)read_into(fd, answer);
  }
  (void)read_into(fd, answer);
  ::close(fd);
  servers.turn();
  require(held() == 0);
  return answer;
}

void check_admin(std::string_view answer) {
  while (!answer.empty()) {
    const std::size_t end = answer.find('\n');
    require(end != std::string_view::npos);
    const Json line = Json::parse(answer.substr(0, end), nullptr, false);
    require(line.is_object() && line.at("ok").is_boolean());
    answer.remove_prefix(end + 1);
  }
}

}  // namespace
}  // namespace smd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  if (size == 0) return 0;
  static fuzz::Servers servers;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  using fuzz::Socket;
  const Socket with = data[0] % 2 == 0   ? Socket::Admin
                      : data[0] % 4 == 1 ? Socket::Metrics
                                         : Socket::Orders;
  const std::size_t piece = data[0] < 4 ? std::max<std::size_t>(1, text.size()) : data[0] / 4u;
  const unsigned ordered = servers.ordered;
  const std::string answer = fuzz::converse(servers, with, text, piece);
  if (with == Socket::Admin) {
    fuzz::check_admin(answer);
  } else {
    fuzz::require(answer.empty() || answer.starts_with("HTTP/1."));
  }
  // As it is, or as base64 of "…:token" has it, which begins with any of three letters.
  const bool has_basic = text.find("asic") != text.npos;
  fuzz::require(servers.ordered == ordered || has_basic || text.find(fuzz::kToken) != text.npos);
  return 0;
}
