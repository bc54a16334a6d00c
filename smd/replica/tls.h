// Streams of TLS 1.3 over TCP. Both ends show a certificate of the one authority in
// TlsOptions::ca, whose other certificates are worth nothing here; whoever has none, or one that is
// expired, of somebody else or of another name than is wanted, is refused before a byte of his is
// read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "smd/replica/stream.h"
#include "smd/runtime/asio_runtime.h"

namespace smd::replica {

struct TlsOptions {
  std::string listen;                // HOST:PORT or [ADDRESS]:PORT; empty: nobody can connect
  std::string certificate, key, ca;  // PEM files

  /// One of these must be in the certificate of whoever connects, as a name of the host or as its
  /// common name; empty: any will do.
  std::vector<std::string> names{};

  /// For a name, a connection and a handshake together.
  Duration patience = std::chrono::seconds(10);
};

class TlsNetwork final : public Dialer {
 public:
  using OnStream = std::function<void(std::unique_ptr<Stream>)>;

  /// Of handshakes under way at a time; more wait in the kernel.
  static constexpr std::size_t kMostHandshakes = 16;

  /// Io when a file cannot be used, Busy when the address cannot. `runtime` outlives this.
  [[nodiscard]] static Result<std::unique_ptr<TlsNetwork>> open(AsioRuntime& runtime,
                                                                TlsOptions options,
                                                                OnStream on_stream);

  ~TlsNetwork() override;

  /// `peer` as for parse_peer().
  [[nodiscard]] std::unique_ptr<Attempt> dial(const std::string& peer, Done done) override;

  /// Who connected and showed no good certificate, or nothing in time.
  [[nodiscard]] std::uint64_t refused() const;

  /// That it listens on; 0: none.
  [[nodiscard]] std::uint16_t port() const;

 private:
  struct Impl;
  explicit TlsNetwork(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace smd::replica
