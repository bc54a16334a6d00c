#include "smd/admin/metrics_server.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <optional>
#include <utility>

#include "smd/admin/listener.h"
#include "smd/base/log.h"
#include "smd/runtime/tcp_listener.h"

namespace smd {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Stream = asio::generic::stream_protocol;
using ErrorCode = boost::system::error_code;
using Text = std::shared_ptr<const std::string>;

/// Whoever sends more after his request is not worth a clean ending.
constexpr std::size_t kMostRest = 64 * 1024;

struct Client {
  Client(Stream::socket s, std::size_t most) : socket(std::move(s)), in(most) {
    parser.header_limit(static_cast<std::uint32_t>(most));
  }

  Stream::socket socket;
  boost::beast::flat_buffer in;
  http::request_parser<http::empty_body> parser;
  std::string head;
  Text body;
  std::array<char, 1024> rest{};  // what a client says after its request means nothing
  std::size_t rest_bytes = 0;
  Timer patience;
};

using ClientPtr = std::shared_ptr<Client>;
using Connections = AcceptLoop<asio::basic_socket_acceptor<Stream>>;

/// Without the query, and without scheme and authority where a proxy was meant to be asked (RFC
/// 9112, 3.2.2).
std::string_view path_of(std::string_view target) {
  if (!target.starts_with('/')) {
    const std::size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return target;
    target.remove_prefix(scheme + 3);
    target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
  }
  return target.substr(0, target.find('?'));
}

std::string print_head(std::string_view status, std::size_t length, std::string_view more = "") {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: {}\r\n{}Connection: close\r\n\r\n",
      status,
      length,
      more);
}

}  // namespace

// Asio may still hold handlers when the server goes, so they share Impl and look at `closed`.
struct MetricsServer::Impl : std::enable_shared_from_this<Impl> {
  Impl(AsioRuntime& r, Source s, MetricsServerOptions o, Listener l)
      : runtime(r), source(std::move(s)), options(std::move(o)), listener(std::move(l)) {}

  void accept() {
    const Stream protocol(listener.family, listener.protocol);
    connections.emplace(
        runtime,
        asio::basic_socket_acceptor<Stream>(runtime.io(), protocol, listener.descriptor),
        Connections::Handlers{
            .on_socket = [this](Stream::socket socket) { on_client(std::move(socket)); },
            .on_error =
                [](const std::string& why) {
                  log::warn("metrics.accept_failed", "why=\"{}\" retry_in=1s", why);
                }});
    connections->start();
  }

  void on_client(Stream::socket socket) {
    if (clients.size() == options.max_clients) drop(ClientPtr(clients.front()));
    const auto client = std::make_shared<Client>(std::move(socket), options.max_request);
    clients.push_back(client);
    client->patience = Timer(
        runtime, runtime.now() + options.patience, [this, client] { drop(ClientPtr(client)); });
    http::async_read(client->socket,
                     client->in,
                     client->parser,
                     [self = shared_from_this(), client](const ErrorCode& error, std::size_t) {
                       if (self->closed || !client->socket.is_open()) return;
                       self->on_request(client, error);
                     });
  }

  void on_request(const ClientPtr& client, const ErrorCode& error) {
    if (error == http::error::end_of_stream || (error && error.category() != parse_errors()))
      return drop(client);
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refuse(client, "431 Request Header Fields Too Large", "the request is too long\n");
    if (error) return refuse(client, "400 Bad Request", "this is no HTTP request without a body\n");
    const auto& request = client->parser.get();
    const bool head = request.method() == http::verb::head;
    if (!head && request.method() != http::verb::get)
      return refuse(
          client, "405 Method Not Allowed", "GET and HEAD are known\n", "Allow: GET, HEAD\r\n");
    if (path_of({request.target().data(), request.target().size()}) != "/metrics")
      return refuse(client, "404 Not Found", "there is /metrics\n", "", head);
    answer(client, "200 OK", numbers(), "", head);
  }

  static const boost::system::error_category& parse_errors() {
    return make_error_code(http::error::end_of_stream).category();
  }

  Text numbers() {
    if (!text || runtime.now() - made >= options.fresh) {
      text = std::make_shared<const std::string>(source());
      made = runtime.now();
    }
    return text;
  }

  void refuse(const ClientPtr& client,
              std::string_view status,
              std::string_view why,
              std::string_view more = "",
              bool head = false) {
    answer(client, status, std::make_shared<const std::string>(why), more, head);
  }

  void answer(const ClientPtr& client,
              std::string_view status,
              Text body,
              std::string_view more,
              bool head) {
    client->head = print_head(status, body->size(), more);
    client->body = std::move(body);
    const std::array<asio::const_buffer, 2> out = {
        asio::buffer(client->head),
        head ? asio::const_buffer() : asio::const_buffer(asio::buffer(*client->body))};
    asio::async_write(client->socket,
                      out,
                      [self = shared_from_this(), client](const ErrorCode& error, std::size_t) {
                        if (self->closed || !client->socket.is_open()) return;
                        if (error) return self->drop(client);
                        ErrorCode ignored;
                        client->socket.shutdown(Stream::socket::shutdown_send, ignored);
                        self->await_end(client);
                      });
  }

  /// Closing while bytes come in would take the answer from a client that has not read it yet.
  void await_end(const ClientPtr& client) {
    client->socket.async_read_some(
        asio::buffer(client->rest),
        [self = shared_from_this(), client](const ErrorCode& error, std::size_t bytes) {
          if (self->closed || !client->socket.is_open()) return;
          client->rest_bytes += bytes;
          error || client->rest_bytes > kMostRest ? self->drop(client) : self->await_end(client);
        });
  }

  void drop(const ClientPtr& client) {
    ErrorCode ignored;
    client->socket.close(ignored);
    client->patience.reset();
    std::erase(clients, client);
  }

  void close() {
    closed = true;
    connections.reset();
    while (!clients.empty()) drop(ClientPtr(clients.back()));
    listener.file.reset();
  }

  AsioRuntime& runtime;
  const Source source;
  const MetricsServerOptions options;
  Listener listener;
  std::optional<Connections> connections;
  std::list<ClientPtr> clients;  // the oldest first
  Text text;
  TimePoint made;
  bool closed = false;
};

MetricsServer::MetricsServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() { impl_->close(); }

Result<std::unique_ptr<MetricsServer>> MetricsServer::listen(AsioRuntime& runtime,
                                                             Source source,
                                                             MetricsServerOptions options) {
  auto listener = open_listener(options.listen, options.mode);
  if (!listener) return tl::unexpected<Error>(listener.error());
  log::info("metrics.listen", "at={} port={}", options.listen, listener->port);
  auto impl =
      std::make_shared<Impl>(runtime, std::move(source), std::move(options), std::move(*listener));
  impl->accept();
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

unsigned MetricsServer::port() const { return impl_->listener.port; }

std::size_t MetricsServer::client_count() const { return impl_->clients.size(); }

}  // namespace smd
