// Where Prometheus reads the daemon's numbers: `GET /metrics` over HTTP, on the daemon's loop.
//
// One request per connection. Who does not send it, or does not take its answer, is cut after a
// while; where there are too many, the oldest gives way, so that nobody who holds connections open
// keeps others out. The numbers are put together once for all who ask within a short time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "smd/base/result.h"
#include "smd/runtime/asio_runtime.h"

namespace smd {

struct MetricsServerOptions {
  std::string listen;                               // HOST:PORT, or the path of a Unix socket
  unsigned mode = 0660;                             // of its file
  std::size_t max_clients = 16;                     // at one time
  std::size_t max_request = 8 * 1024;               // bytes of the line and headers of a request
  Duration patience = std::chrono::seconds(10);     // from a client's coming to its going
  Duration fresh = std::chrono::milliseconds(200);  // numbers no older than this are given again
};

class MetricsServer {
 public:
  using Source = std::function<std::string()>;  // see exposition.h

  /// Invalid where `listen` is neither; Busy where it is taken or is none of this machine's.
  /// `runtime` outlives the server.
  [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> listen(AsioRuntime& runtime,
                                                                     Source source,
                                                                     MetricsServerOptions options);

  /// Closes every connection.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;

  /// Of TCP; 0 of a Unix socket.
  [[nodiscard]] unsigned port() const;

  [[nodiscard]] std::size_t client_count() const;

 private:
  struct Impl;
  explicit MetricsServer(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace smd
