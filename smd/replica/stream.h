// How bytes get from one manager's machine to another's: TLS in production (tls.h), memory in
// simulation.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "smd/base/result.h"

namespace smd::replica {

/// One connection whose ends know each other. Handlers are never called from inside a call.
class Stream {
 public:
  struct Handlers {
    std::function<void(std::span<const std::byte>)> on_bytes;
    std::function<void(const std::string& why)> on_end;  // once; nothing follows
  };

  /// As close().
  virtual ~Stream() = default;

  virtual void start(Handlers handlers) = 0;

  /// Queued behind what still waits.
  virtual void send(std::string bytes) = 0;

  /// Bytes that were given to send() and did not leave yet.
  [[nodiscard]] virtual std::size_t waiting() const = 0;

  /// No handler is called from now on.
  virtual void close() = 0;

  /// Of the other end, for messages.
  [[nodiscard]] virtual std::string name() const = 0;
};

/// Tries to reach a peer as long as it lives.
class Attempt {
 public:
  virtual ~Attempt() = default;
};

class Dialer {
 public:
  using Done = std::function<void(Result<std::unique_ptr<Stream>>)>;

  virtual ~Dialer() = default;

  /// `done` is called once, not from inside this call and not after the attempt is gone; it may
  /// drop the attempt.
  [[nodiscard]] virtual std::unique_ptr<Attempt> dial(const std::string& peer, Done done) = 0;
};

}  // namespace smd::replica
