// HTTP on the daemon's loop, over TCP or a Unix socket, with TLS 1.3 where there is a certificate:
// the numbers that Prometheus reads, and whatever else a handler answers.
//
// One request per connection. Who does not send it, or does not take its answer, is cut after a
// while; where there are too many, the oldest gives way, so that nobody who holds connections open
// keeps others out. What never became a request is counted, and no handler sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/runtime/asio_runtime.h"
#include "smd/runtime/rate_limiter.h"

namespace smd {

struct HttpRequest {
  std::string method;         // "GET"
  std::string target;         // path and query
  std::string authorization;  // of the header; empty where there is none
  std::string body;
};

struct HttpAnswer {
  unsigned status = 200;
  std::shared_ptr<const std::string> body;
  std::string type = "text/plain";
  std::string more{};  // lines of the header, each with its end
};

[[nodiscard]] HttpAnswer plain_answer(unsigned status, std::string text, std::string more = "");

struct HttpServerOptions {
  std::string listen;                            // HOST:PORT, or the path of a Unix socket
  unsigned mode = 0660;                          // of its file
  std::size_t max_clients = 16;                  // at one time
  std::size_t max_request = 8 * 1024;            // bytes of the line and headers of a request
  std::size_t max_body = 0;                      // behind them
  Duration patience = std::chrono::seconds(10);  // from a client's coming to its going

  /// How fast clients are taken: a handshake costs more than a request. More wait in the kernel.
  Rate taken{.burst = 1000, .refill = std::chrono::milliseconds(1)};

  std::string certificate{}, key{};  // PEM files; empty: no TLS
  std::string ca{};                  // whoever connects shows a certificate of this authority

  /// Before a pause, when nobody can be taken.
  std::function<void(const std::string& why)> on_accept_failed = [](const std::string&) {};
};

/// Clients by how they ended.
struct HttpStats {
  std::uint64_t answered = 0;      // by the handler
  std::uint64_t malformed = 0;     // no request
  std::uint64_t too_long = 0;      // a request beyond a limit
  std::uint64_t cut = 0;           // nothing in time, or gave way to others
  std::uint64_t no_handshake = 0;  // no TLS, or no certificate that is wanted
};

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  /// Calls `answer` once, now or later: whoever asked is cut where it takes longer than `patience`.
  using Answer = std::function<void(HttpAnswer)>;
  using LateHandler = std::function<void(const HttpRequest&, Answer answer)>;

  /// Invalid where `listen` is neither; Busy where it is taken or is none of this machine's; Io
  /// where a certificate cannot be used. `runtime` outlives the server.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> listen(AsioRuntime& runtime,
                                                                  Handler handler,
                                                                  HttpServerOptions options);

  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> listen_late(AsioRuntime& runtime,
                                                                       LateHandler handler,
                                                                       HttpServerOptions options);

  /// Closes every connection.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  /// Reads its certificates again, for those who connect from now on. Io where they cannot be used:
  /// those of before stay.
  [[nodiscard]] Result<void> read_certificates();

  /// Of TCP; 0 of a Unix socket.
  [[nodiscard]] unsigned port() const;

  [[nodiscard]] std::size_t client_count() const;

  [[nodiscard]] const HttpStats& stats() const;

 private:
  struct Impl;
  explicit HttpServer(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

/// Answers `GET /metrics`. The numbers (see exposition.h) are put together once for all who ask
/// within `fresh`. `runtime` outlives the handler.
[[nodiscard]] HttpServer::Handler serve_metrics(Runtime& runtime,
                                                std::function<std::string()> source,
                                                Duration fresh = std::chrono::milliseconds(200));

/// Whether the header shows one of `tokens`: as Bearer, as Basic by itself, or as the password of
/// any user. Takes as long for a wrong one as for a right one of its length.
[[nodiscard]] bool shows_token(std::string_view authorization, std::span<const std::string> tokens);

/// One token a line, of 16 to 256 characters without blanks; # begins a remark. At least one.
[[nodiscard]] Result<std::vector<std::string>> read_tokens(const std::string& file);

}  // namespace smd
