#include "smd/replica/tls.h"

#include <fmt/core.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/base/log.h"
#include "smd/base/read_file.h"
#include "smd/base/text.h"
#include "smd/replica/stream.h"
#include "smd/runtime/tcp_listener.h"

namespace smd::replica {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

using TlsSocket = asio::ssl::stream<tcp::socket>;

/// What went wrong with a connection, in one line: the certificate's fault where there is one.
std::string explain(TlsSocket& socket, const ErrorCode& error) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated)
    return "the other end closed the connection";
  const long verdict = SSL_get_verify_result(socket.native_handle());
  if (verdict != X509_V_OK)
    return fmt::format("its certificate is not good: {}", X509_verify_cert_error_string(verdict));
  return error.message();
}

/// Why the other end may not be any of `names`: what its certificate says instead. Empty: it is one
/// of them, or there are none. Requires: a handshake that went well.
std::string find_wrong_name(TlsSocket& socket, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const std::unique_ptr<X509, decltype(&X509_free)> shown(
      SSL_get1_peer_certificate(socket.native_handle()), &X509_free);
  if (!shown) return "it shows no certificate";
  for (const std::string& name : names) {
    if (X509_check_host(shown.get(), name.data(), name.size(), 0, nullptr) == 1) return {};
  }
  std::string wanted;
  for (const std::string& name : names) wanted += (wanted.empty() ? "" : " or ") + name;
  std::array<char, 256> subject{};
  X509_NAME_get_text_by_NID(
      X509_get_subject_name(shown.get()), NID_commonName, subject.data(), subject.size());
  return fmt::format("its certificate is of \"{}\", not of {}", subject.data(), wanted);
}

std::string name_of(const TlsSocket& socket) {
  ErrorCode error;
  const auto end = socket.lowest_layer().remote_endpoint(error);
  if (error) return "somebody who is gone";
  const std::string host = end.address().to_string();
  return end.address().is_v6() ? fmt::format("[{}]:{}", host, end.port())
                               : fmt::format("{}:{}", host, end.port());
}

// Asio may hold handlers when the stream goes, so they share Connection and look at `closed`.
struct Connection : std::enable_shared_from_this<Connection> {
  explicit Connection(std::shared_ptr<TlsSocket> s)
      : socket(std::move(s)), name(name_of(*socket)) {}

  void read() {
    socket->async_read_some(
        asio::buffer(chunk), [self = shared_from_this()](const ErrorCode& error, std::size_t n) {
          if (self->closed) return;
          if (error) return self->end(error);
          self->handlers.on_bytes(std::as_bytes(std::span(self->chunk.data(), n)));
          if (!self->closed) self->read();
        });
  }

  void write() {
    writing = std::exchange(queue, {});
    asio::async_write(*socket,
                      asio::buffer(writing),
                      [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                        if (self->closed) return;
                        if (error) return self->end(error);
                        self->writing.clear();
                        if (!self->queue.empty()) self->write();
                      });
  }

  void end(const ErrorCode& error) {
    const std::string why = explain(*socket, error);
    close();
    if (handlers.on_end) handlers.on_end(why);
  }

  void close() {
    closed = true;
    ErrorCode ignored;
    socket->lowest_layer().close(ignored);
  }

  std::shared_ptr<TlsSocket> socket;
  std::string name;
  Stream::Handlers handlers;
  std::array<char, 16384> chunk{};
  std::string writing;
  std::string queue;
  bool closed = false;
};

class TlsStream final : public Stream {
 public:
  explicit TlsStream(std::shared_ptr<TlsSocket> socket)
      : connection_(std::make_shared<Connection>(std::move(socket))) {}

  ~TlsStream() override { connection_->close(); }

  void start(Handlers handlers) override {
    connection_->handlers = std::move(handlers);
    connection_->read();
  }

  void send(std::string bytes) override {
    if (connection_->closed) return;
    connection_->queue += bytes;
    if (connection_->writing.empty()) connection_->write();
  }

  [[nodiscard]] std::size_t waiting() const override {
    return connection_->writing.size() + connection_->queue.size();
  }

  void close() override { connection_->close(); }

  [[nodiscard]] std::string name() const override { return connection_->name; }

 private:
  std::shared_ptr<Connection> connection_;
};

/// The same complaint about who connects is not made again so soon.
constexpr Duration kQuiet = std::chrono::minutes(1);

Result<void> load(asio::ssl::context& context, const TlsOptions& options) {
  ErrorCode error;
  if (SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_3_VERSION) != 1)
    return fail(Errc::Io, "this OpenSSL has no TLS 1.3");
  context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, error);
  const auto check = [&error](std::string_view key, const std::string& file) -> Result<void> {
    if (!error) return {};
    return fail(Errc::Io,
                fmt::format("replica.{}: {} cannot be used: {}", key, file, error.message()));
  };
  const std::array<std::pair<std::string_view, std::string>, 3> files{
      {{"ca", options.ca}, {"certificate", options.certificate}, {"key", options.key}}};
  for (const auto& [key, file] : files) {
    // The library would read a device for ever.
    if (const auto fine = check_regular_file(file); !fine)
      return fail(
          Errc::Io,
          fmt::format("replica.{}: {} cannot be used: {}", key, file, fine.error().context));
  }
  context.load_verify_file(options.ca, error);
  if (auto fine = check("ca", options.ca); !fine) return fine;
  context.use_certificate_chain_file(options.certificate, error);
  if (auto fine = check("certificate", options.certificate); !fine) return fine;
  context.use_private_key_file(options.key, asio::ssl::context::pem, error);
  if (auto fine = check("key", options.key); !fine) return fine;
  return {};
}

/// A connection that is being made, from either end. Handlers share it; whoever ends it first sets
/// `over`.
struct Handshake {
  Handshake(tcp::socket plain, asio::ssl::context& context) : socket(std::move(plain), context) {}

  void end() {
    over = true;
    deadline.reset();
    ErrorCode ignored;
    socket.lowest_layer().close(ignored);
  }

  TlsSocket socket;
  std::string name;
  Timer deadline;
  bool over = false;
};

using HandshakePtr = std::shared_ptr<Handshake>;
using Connections = AcceptLoop<tcp::acceptor>;

std::unique_ptr<Stream> finish(const HandshakePtr& done) {
  done->over = true;
  done->deadline.reset();
  return std::make_unique<TlsStream>(std::shared_ptr<TlsSocket>(done, &done->socket));
}

}  // namespace

// Asio may hold handlers when the network goes, so they share Impl and look at `closed`.
struct TlsNetwork::Impl : std::enable_shared_from_this<Impl> {
  Impl(AsioRuntime& r, TlsOptions o, OnStream s)
      : runtime(r), options(std::move(o)), on_stream(std::move(s)) {}

  Result<void> listen() {
    const auto at = parse_host_port(options.listen);
    if (!at) return fail(Errc::Invalid, options.listen + " is no HOST:PORT");
    const auto listener = open_tcp_listener(*at);
    if (!listener)
      return fail(listener.error().code, options.listen + ": " + listener.error().context);
    port = static_cast<std::uint16_t>(listener->port);
    const tcp protocol = listener->family == AF_INET6 ? tcp::v6() : tcp::v4();
    connections.emplace(runtime,
                        tcp::acceptor(runtime.io(), protocol, listener->descriptor),
                        Connections::Handlers{
                            .on_socket = [this](tcp::socket socket) { greet(std::move(socket)); },
                            .on_error =
                                [](const std::string& why) {
                                  log::warn("replica.accept_failed", "why=\"{}\" retry_in=1s", why);
                                },
                            .has_room = [this] { return guests.size() < kMostHandshakes; }});
    connections->start();
    return {};
  }

  void greet(tcp::socket plain) {
    ErrorCode error;
    const auto end = plain.remote_endpoint(error);
    if (error) return;
    plain.set_option(tcp::no_delay(true), error);
    auto guest = std::make_shared<Handshake>(std::move(plain), context);
    guest->name = end.address().to_string();
    guests.push_back(guest);
    guest->deadline = Timer(runtime, runtime.now() + options.patience, [this, at = guest.get()] {
      refuse(*at, "it did not finish its handshake in time");
    });
    guest->socket.async_handshake(
        TlsSocket::server, [self = shared_from_this(), guest](const ErrorCode& failed) {
          if (self->closed || guest->over) return;
          if (failed) return self->refuse(*guest, explain(guest->socket, failed));
          const std::string wrong = find_wrong_name(guest->socket, self->options.names);
          if (!wrong.empty()) return self->refuse(*guest, wrong);
          auto stream = finish(guest);
          self->forget(*guest);
          self->on_stream(std::move(stream));
        });
  }

  void refuse(Handshake& guest, const std::string& why) {
    ++refused;
    const std::string line = fmt::format("peer={} why=\"{}\"", guest.name, log::escape(why));
    if (line != said || runtime.now() - said_at > kQuiet) {
      log::warn("replica.refused", "{} so_far={}", line, refused);
      said = line;
      said_at = runtime.now();
    }
    guest.over = true;
    ErrorCode ignored;
    guest.socket.lowest_layer().close(ignored);
    forget(guest);
  }

  void forget(const Handshake& guest) {
    std::erase_if(guests, [&guest](const HandshakePtr& each) { return each.get() == &guest; });
    connections->start();
  }

  void close() {
    closed = true;
    connections.reset();
    for (const HandshakePtr& guest : guests) guest->end();
    guests.clear();
  }

  AsioRuntime& runtime;
  TlsOptions options;
  OnStream on_stream;
  asio::ssl::context context{asio::ssl::context::tls};
  std::optional<Connections> connections;  // none: nobody can connect
  std::uint16_t port = 0;
  std::vector<HandshakePtr> guests;
  bool closed = false;
  std::uint64_t refused = 0;
  std::string said;
  TimePoint said_at;
};

namespace {

/// From a name to a stream, step by step.
class TlsAttempt final : public Attempt {
 public:
  TlsAttempt(AsioRuntime& runtime,
             asio::ssl::context& context,
             Duration patience,
             Dialer::Done done)
      : call_(std::make_shared<Call>(runtime, context, std::move(done))) {
    call_->shake->deadline = Timer(runtime, runtime.now() + patience, [call = call_.get()] {
      call->fail_with("it does not answer in time");
    });
  }

  ~TlsAttempt() override {
    call_->resolver.cancel();
    if (!call_->shake->over) call_->shake->end();
  }

  void start(const Peer& to) {
    if (!to.name.empty()) call_->names = {to.name};
    call_->resolver.async_resolve(
        to.at.host, to.at.port, [call = call_](const ErrorCode& error, const auto& found) {
          if (call->shake->over) return;
          if (error) return call->fail_with(error.message());
          call->connect(found);
        });
  }

  void refuse(AsioRuntime& runtime, std::string why) {
    call_->shake->deadline =
        Timer(runtime, runtime.now(), [call = call_.get(), why] { call->fail_with(why); });
  }

 private:
  struct Call : std::enable_shared_from_this<Call> {
    Call(AsioRuntime& runtime, asio::ssl::context& context, Dialer::Done d)
        : resolver(runtime.io()),
          shake(std::make_shared<Handshake>(tcp::socket(runtime.io()), context)),
          done(std::move(d)) {}

    void connect(const tcp::resolver::results_type& found) {
      asio::async_connect(
          shake->socket.lowest_layer(),
          found,
          [self = shared_from_this()](const ErrorCode& error, const tcp::endpoint&) {
            if (self->shake->over) return;
            if (error) return self->fail_with(error.message());
            self->greet();
          });
    }

    void greet() {
      ErrorCode ignored;
      shake->socket.lowest_layer().set_option(tcp::no_delay(true), ignored);
      shake->socket.async_handshake(
          TlsSocket::client, [self = shared_from_this()](const ErrorCode& error) {
            if (self->shake->over) return;
            if (error) return self->fail_with(explain(self->shake->socket, error));
            const std::string wrong = find_wrong_name(self->shake->socket, self->names);
            if (!wrong.empty()) return self->fail_with(wrong);
            self->done(finish(self->shake));
          });
    }

    void fail_with(const std::string& why) {
      const auto self = shared_from_this();  // the attempt may go inside done()
      if (std::exchange(shake->over, true)) return;
      shake->deadline.reset();  // it would fail once more
      ErrorCode ignored;
      shake->socket.lowest_layer().close(ignored);
      done(fail(Errc::Io, why));
    }

    tcp::resolver resolver;
    std::vector<std::string> names;  // that the other end may have; empty: any
    HandshakePtr shake;
    Dialer::Done done;
  };

  std::shared_ptr<Call> call_;
};

}  // namespace

TlsNetwork::TlsNetwork(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

TlsNetwork::~TlsNetwork() { impl_->close(); }

Result<std::unique_ptr<TlsNetwork>> TlsNetwork::open(AsioRuntime& runtime,
                                                     TlsOptions options,
                                                     OnStream on_stream) {
  auto impl = std::make_shared<Impl>(runtime, std::move(options), std::move(on_stream));
  if (auto fine = load(impl->context, impl->options); !fine)
    return tl::unexpected<Error>(fine.error());
  if (!impl->options.listen.empty()) {
    if (auto fine = impl->listen(); !fine) return tl::unexpected<Error>(fine.error());
    log::info("replica.listen", "at={}", impl->options.listen);
  }
  return std::unique_ptr<TlsNetwork>(new TlsNetwork(std::move(impl)));
}

std::unique_ptr<Attempt> TlsNetwork::dial(const std::string& peer, Done done) {
  auto attempt = std::make_unique<TlsAttempt>(
      impl_->runtime, impl_->context, impl_->options.patience, std::move(done));
  if (const auto to = parse_peer(peer)) {
    attempt->start(*to);
  } else {
    attempt->refuse(impl_->runtime, peer + " is no [NAME@]HOST:PORT");
  }
  return attempt;
}

std::uint64_t TlsNetwork::refused() const { return impl_->refused; }

std::uint16_t TlsNetwork::port() const { return impl_->port; }

}  // namespace smd::replica
