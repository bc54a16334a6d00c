// Connections between managers: where a peer listens, and how bytes get there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/base/text.h"

namespace smd::replica {

// Where another manager listens, and the name that its certificate must have.

struct Peer {
  std::string name;  // empty: whatever the authority signed
  HostPort at;
};

/// [NAME@]HOST:PORT; nothing where the text is none.
[[nodiscard]] inline std::optional<Peer> parse_peer(const std::string& text) {
  const std::size_t end = text.find('@');
  const std::size_t from = end == std::string::npos ? 0 : end + 1;
  const auto at = parse_host_port(text.substr(from));
  if (!at || end == 0) return std::nullopt;
  return Peer{.name = from == 0 ? std::string() : text.substr(0, end), .at = *at};
}

/// The names of all; empty where one has none, since it may be the one that connects.
[[nodiscard]] inline std::vector<std::string> names_of(const std::vector<std::string>& peers) {
  std::vector<std::string> names;
  for (const std::string& each : peers) {
    const auto peer = parse_peer(each);
    if (!peer || peer->name.empty()) return {};
    names.push_back(peer->name);
  }
  return names;
}

// How bytes get from one manager's machine to another's: TLS in production (tls.h), memory in
// simulation.

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
