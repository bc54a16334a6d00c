#include "smd/replica/tls_stream.h"

#include <fmt/core.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <utility>

namespace smd::replica {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

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

}  // namespace

std::unique_ptr<Stream> make_tls_stream(std::shared_ptr<TlsSocket> socket) {
  return std::make_unique<TlsStream>(std::move(socket));
}

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

std::string explain(TlsSocket& socket, const ErrorCode& error) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated)
    return "the other end closed the connection";
  const long verdict = SSL_get_verify_result(socket.native_handle());
  if (verdict != X509_V_OK)
    return fmt::format("its certificate is not good: {}", X509_verify_cert_error_string(verdict));
  return error.message();
}

}  // namespace smd::replica
