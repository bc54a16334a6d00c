// What servers on the loop share: an address that listens, and taking connections.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "smd/base/result.h"
#include "smd/base/text.h"
#include "smd/runtime/runtime.h"

namespace smd {

// A TCP socket that listens, as its descriptor: Asio stays out of this header.

struct TcpListener {
  int family = 0;       // AF_INET or AF_INET6
  int descriptor = -1;  // the caller's
  unsigned port = 0;    // the one that was given, where 0 was asked for
};

/// Busy where the address is taken, none of this machine's or of a link that is not there; Invalid
/// for a name other than localhost, which is 127.0.0.1: nothing is looked up.
[[nodiscard]] Result<TcpListener> open_tcp_listener(const HostPort& at);

// Takes connections one after another, and pauses after an error: out of descriptors, accepting
// again at once would spin. A template of the acceptor, so that Asio stays out of this header.

inline constexpr Duration kAcceptPause = std::chrono::seconds(1);

/// `Acceptor` is one of boost::asio::basic_socket_acceptor's kind, and listens.
template <class Acceptor>
class AcceptLoop {
 public:
  using Socket = typename Acceptor::protocol_type::socket;

  struct Handlers {
    std::function<void(Socket)> on_socket;
    std::function<void(const std::string& why)> on_error;  // before the pause
    std::function<bool()> has_room = [] { return true; };  // else nobody is taken until start()
  };

  /// `runtime` outlives this.
  AcceptLoop(Runtime& runtime, Acceptor acceptor, Handlers handlers)
      : state_(std::make_shared<State>(runtime, std::move(acceptor), std::move(handlers))) {}

  ~AcceptLoop() { close(); }

  AcceptLoop(const AcceptLoop&) = delete;

  /// Begins, or goes on when there is room again; harmless while it goes on anyway.
  void start() { state_->accept(); }

  /// Afterwards no handler runs.
  void close() {
    state_->closed = true;
    state_->retry.reset();
    state_->acceptor.reset();
  }

 private:
  // Asio may still hold its handler when the loop goes, so they share this.
  struct State : std::enable_shared_from_this<State> {
    State(Runtime& r, Acceptor a, Handlers h)
        : runtime(r), acceptor(std::move(a)), handlers(std::move(h)) {}

    void accept() {
      if (closed || under_way || !handlers.has_room()) return;
      under_way = true;
      acceptor->async_accept([self = this->shared_from_this()](const auto& error, Socket socket) {
        if (self->closed) return;
        if (error) return self->pause(error.message());
        self->under_way = false;
        self->handlers.on_socket(std::move(socket));
        self->accept();
      });
    }

    void pause(const std::string& why) {
      handlers.on_error(why);
      retry = Timer(runtime, runtime.now() + kAcceptPause, [this] {
        under_way = false;
        accept();
      });
    }

    Runtime& runtime;
    std::optional<Acceptor> acceptor;
    Handlers handlers;
    Timer retry;
    bool under_way = false;  // a wait for a connection, or a pause
    bool closed = false;
  };

  std::shared_ptr<State> state_;
};

}  // namespace smd
