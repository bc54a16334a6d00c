#include "smd/admin/http_server.h"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <filesystem>

#include <algorithm>
#include <array>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <optional>
#include <utility>

#include "smd/admin/listener.h"
#include "smd/base/fault_list.h"
#include "smd/base/read_file.h"
#include "smd/base/text.h"
#include "smd/runtime/tcp_listener.h"

namespace smd {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Stream = asio::generic::stream_protocol;
using TlsStream = asio::ssl::stream<Stream::socket&>;
using ErrorCode = boost::system::error_code;
using Text = std::shared_ptr<const std::string>;

/// Whoever sends more after his request is not worth a clean ending.
constexpr std::size_t kMostRest = 64 * 1024;

constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLongestToken = 256;

struct HttpClient {
  HttpClient(Stream::socket s, const HttpServerOptions& options, asio::ssl::context* context)
      : socket(std::move(s)), in(options.max_request) {
    parser.header_limit(static_cast<std::uint32_t>(options.max_request));
    parser.body_limit(options.max_body);
    if (context != nullptr) tls.emplace(socket, *context);
  }

  Stream::socket socket;
  std::optional<TlsStream> tls;
  boost::beast::flat_buffer in;
  http::request_parser<http::string_body> parser;
  std::string head;
  Text body;
  std::array<char, 1024> rest{};  // what a client says after its request means nothing
  std::size_t rest_bytes = 0;
  bool is_asking = false;  // what it asked for may be under way
  Timer patience;
};

using HttpClientPtr = std::shared_ptr<HttpClient>;
using HttpConnections = AcceptLoop<asio::basic_socket_acceptor<Stream>>;

/// Does it with the stream that the client's bytes go through.
template <class Do>
void with_stream(HttpClient& client, Do&& act) {
  client.tls ? act(*client.tls) : act(client.socket);
}

/// Without scheme and authority where a proxy was meant to be asked (RFC 9112, 3.2.2).
std::string_view local_part(std::string_view target) {
  if (target.starts_with('/')) return target;
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return target;
  target.remove_prefix(scheme + 3);
  target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
  return target;
}

std::string print_head(const HttpAnswer& answer) {
  const boost::beast::string_view reason =
      http::obsolete_reason(static_cast<http::status>(answer.status));
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n",
      answer.status,
      std::string_view(reason.data(), reason.size()),
      answer.type,
      answer.body->size(),
      answer.more);
}

/// TLS 1.3 alone, and without tickets: no request comes as early data, which somebody could record
/// and send again. Where certificates are wanted, whoever came back with a ticket would be refused.
Result<void> load_certificates(asio::ssl::context& context, const HttpServerOptions& options) {
  if (SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_num_tickets(context.native_handle(), 0) != 1)
    return fail(Errc::Io, "this OpenSSL has no TLS 1.3");
  ErrorCode error;
  const auto unusable = [](const std::string& file, const std::string& why) {
    return fail(Errc::Io, fmt::format("{} cannot be used: {}", file, why));
  };
  for (const std::string& file : {options.certificate, options.key, options.ca}) {
    if (file.empty()) continue;
    // The library would read a device for ever.
    if (const auto fine = check_regular_file(file); !fine)
      return unusable(file, fine.error().context);
  }
  context.use_certificate_chain_file(options.certificate, error);
  if (error) return unusable(options.certificate, error.message());
  context.use_private_key_file(options.key, asio::ssl::context::pem, error);
  if (error) return unusable(options.key, error.message());
  if (options.ca.empty()) return {};
  context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, error);
  context.load_verify_file(options.ca, error);
  if (error) return unusable(options.ca, error.message());
  return {};
}

/// None where there is no certificate.
Result<std::optional<asio::ssl::context>> make_context(const HttpServerOptions& options) {
  std::optional<asio::ssl::context> context;
  if (options.certificate.empty()) return context;
  context.emplace(asio::ssl::context::tls_server);
  if (auto fine = load_certificates(*context, options); !fine)
    return tl::unexpected<Error>(fine.error());
  return context;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::vector<unsigned char> out(text.size() / 4 * 3);
  const std::vector<unsigned char> in(text.begin(), text.end());
  const int size = EVP_DecodeBlock(out.data(), in.data(), static_cast<int>(in.size()));
  if (size < 0) return std::nullopt;
  // Padding comes out as zeros.
  const auto padding =
      static_cast<std::size_t>(std::ranges::count(text.substr(text.size() - 2), '='));
  return std::string(
      out.begin(),
      out.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(size) - padding));
}

bool is_one_of(std::string_view shown, std::span<const std::string> tokens) {
  bool found = false;
  for (const std::string& token : tokens) {
    if (token.size() == shown.size() &&
        CRYPTO_memcmp(token.data(), shown.data(), shown.size()) == 0)
      found = true;
  }
  return found;
}

}  // namespace

HttpAnswer plain_answer(unsigned status, std::string text, std::string more) {
  return {.status = status,
          .body = std::make_shared<const std::string>(std::move(text)),
          .more = std::move(more)};
}

// Asio may still hold handlers when the server goes, so they share Impl and look at `closed`.
struct HttpServer::Impl : std::enable_shared_from_this<Impl> {
  Impl(AsioRuntime& r,
       LateHandler h,
       HttpServerOptions o,
       std::optional<asio::ssl::context> c,
       Listener l)
      : runtime(r),
        handler(std::move(h)),
        options(std::move(o)),
        context(std::move(c)),
        listener(std::move(l)),
        bucket(options.taken) {}

  void accept() {
    const Stream protocol(listener.family, listener.protocol);
    connections.emplace(
        runtime,
        asio::basic_socket_acceptor<Stream>(runtime.io(), protocol, listener.descriptor),
        HttpConnections::Handlers{
            .on_socket = [this](Stream::socket socket) { on_client(std::move(socket)); },
            .on_error = options.on_accept_failed,
            .has_room = [this] { return may_take(); }});
    connections->start();
  }

  bool may_take() {
    const Duration wait = bucket.wait(options.taken, runtime.now());
    if (wait <= Duration{0}) return true;
    resume = Timer(runtime, runtime.now() + wait, [this] { connections->start(); });
    return false;
  }

  void on_client(Stream::socket socket) {
    bucket.take(options.taken, runtime.now());
    if (clients.size() == options.max_clients && !make_room()) {
      ++stats.cut;  // its socket closes, and nothing of it was read
      return;
    }
    const auto client =
        std::make_shared<HttpClient>(std::move(socket), options, context ? &*context : nullptr);
    clients.push_back(client);
    client->patience = Timer(
        runtime, runtime.now() + options.patience, [this, client] { cut(HttpClientPtr(client)); });
    if (!client->tls) return read(client);
    client->tls->async_handshake(asio::ssl::stream_base::server,
                                 [self = shared_from_this(), client](const ErrorCode& error) {
                                   if (self->gone(client)) return;
                                   if (!error) return self->read(client);
                                   ++self->stats.no_handshake;
                                   self->drop(client);
                                 });
  }

  /// The oldest goes of those whose request changes nothing yet.
  bool make_room() {
    const auto oldest = std::ranges::find_if(
        clients, [](const HttpClientPtr& client) { return !client->is_asking; });
    if (oldest == clients.end()) return false;
    cut(HttpClientPtr(*oldest));
    return true;
  }

  [[nodiscard]] bool gone(const HttpClientPtr& client) const {
    return closed || !client->socket.is_open();
  }

  void read(const HttpClientPtr& client) {
    with_stream(*client, [&](auto& stream) {
      http::async_read(stream,
                       client->in,
                       client->parser,
                       [self = shared_from_this(), client](const ErrorCode& error, std::size_t) {
                         if (!self->gone(client)) self->on_request(client, error);
                       });
    });
  }

  void on_request(const HttpClientPtr& client, const ErrorCode& error) {
    if (error == http::error::end_of_stream || (error && error.category() != parse_errors()))
      return drop(client);
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      ++stats.too_long;
      return answer(client, plain_answer(431, "the request is too long\n"));
    }
    if (error == http::error::body_limit && options.max_body > 0) {
      ++stats.too_long;
      return answer(
          client, plain_answer(413, fmt::format("a body of at most {} bytes\n", options.max_body)));
    }
    if (error) {
      ++stats.malformed;
      return answer(
          client,
          plain_answer(400,
                       options.max_body > 0 ? "this is no HTTP request\n"
                                            : "this is no HTTP request without a body\n"));
    }
    client->is_asking = true;
    auto& request = client->parser.get();
    const auto text = [](auto view) { return std::string(view.data(), view.size()); };
    const std::string target = text(request.target());
    handler({.method = text(request.method_string()),
             .target = std::string(local_part(target)),
             .authorization = text(request[http::field::authorization]),
             .body = std::move(request.body())},
            [self = shared_from_this(), client](HttpAnswer out) {
              if (!self->gone(client)) self->on_answer(client, std::move(out));
            });
  }

  void on_answer(const HttpClientPtr& client, HttpAnswer out) {
    ++stats.answered;
    client->is_asking = false;
    if (client->parser.get().method() != http::verb::head) return answer(client, std::move(out));
    client->head = print_head(out);
    write(client, asio::const_buffer());
  }

  static const boost::system::error_category& parse_errors() {
    return make_error_code(http::error::end_of_stream).category();
  }

  void answer(const HttpClientPtr& client, HttpAnswer out) {
    client->head = print_head(out);
    client->body = std::move(out.body);
    if (!client->tls) return write(client, asio::buffer(*client->body));
    // Each buffer would be a record of its own, the second behind an acknowledgement of the first.
    client->head += *client->body;
    write(client, asio::const_buffer());
  }

  void write(const HttpClientPtr& client, asio::const_buffer body) {
    const std::array<asio::const_buffer, 2> out = {asio::buffer(client->head), body};
    with_stream(*client, [&](auto& stream) {
      asio::async_write(
          stream, out, [self = shared_from_this(), client](const ErrorCode& error, std::size_t) {
            if (self->gone(client)) return;
            if (error) return self->drop(client);
            self->end(client);
          });
    });
  }

  void end(const HttpClientPtr& client) {
    if (client->tls) {
      client->tls->async_shutdown([self = shared_from_this(), client](const ErrorCode&) {
        if (!self->gone(client)) self->drop(client);
      });
      return;
    }
    ErrorCode ignored;
    client->socket.shutdown(Stream::socket::shutdown_send, ignored);
    await_end(client);
  }

  /// Closing while bytes come in would take the answer from a client that has not read it yet.
  void await_end(const HttpClientPtr& client) {
    client->socket.async_read_some(
        asio::buffer(client->rest),
        [self = shared_from_this(), client](const ErrorCode& error, std::size_t bytes) {
          if (self->gone(client)) return;
          client->rest_bytes += bytes;
          error || client->rest_bytes > kMostRest ? self->drop(client) : self->await_end(client);
        });
  }

  void cut(const HttpClientPtr& client) {
    ++stats.cut;
    drop(client);
  }

  void drop(const HttpClientPtr& client) {
    ErrorCode ignored;
    client->socket.close(ignored);
    client->patience.reset();
    std::erase(clients, client);
  }

  void close() {
    closed = true;
    resume.reset();
    connections.reset();
    while (!clients.empty()) drop(HttpClientPtr(clients.back()));
    listener.file.reset();
  }

  AsioRuntime& runtime;
  const LateHandler handler;
  const HttpServerOptions options;
  std::optional<asio::ssl::context> context;
  Listener listener;
  std::optional<HttpConnections> connections;
  TokenBucket bucket;
  Timer resume;
  std::list<HttpClientPtr> clients;  // the oldest first
  HttpStats stats;
  bool closed = false;
};

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { impl_->close(); }

Result<std::unique_ptr<HttpServer>> HttpServer::listen(AsioRuntime& runtime,
                                                       Handler handler,
                                                       HttpServerOptions options) {
  return listen_late(
      runtime,
      [handler = std::move(handler)](const HttpRequest& request, const Answer& answer) {
        answer(handler(request));
      },
      std::move(options));
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen_late(AsioRuntime& runtime,
                                                            LateHandler handler,
                                                            HttpServerOptions options) {
  auto context = make_context(options);
  if (!context) return tl::unexpected<Error>(context.error());
  auto listener = open_listener(options.listen, options.mode);
  if (!listener) return tl::unexpected<Error>(listener.error());
  auto impl = std::make_shared<Impl>(
      runtime, std::move(handler), std::move(options), std::move(*context), std::move(*listener));
  impl->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

/// A connection holds what it began with.
Result<void> HttpServer::read_certificates() {
  auto context = make_context(impl_->options);
  if (!context) return tl::unexpected<Error>(context.error());
  impl_->context = std::move(*context);
  return {};
}

unsigned HttpServer::port() const { return impl_->listener.port; }

std::size_t HttpServer::client_count() const { return impl_->clients.size(); }

const HttpStats& HttpServer::stats() const { return impl_->stats; }

HttpServer::Handler serve_metrics(Runtime& runtime,
                                  std::function<std::string()> source,
                                  Duration fresh) {
  struct Page {
    Text text;
    TimePoint made;
  };

  const auto page = std::make_shared<Page>();
  return [&runtime, source = std::move(source), fresh, page](const HttpRequest& request) {
    if (request.method != "GET" && request.method != "HEAD")
      return plain_answer(405, "GET and HEAD are known\n", "Allow: GET, HEAD\r\n");
    if (request.target.substr(0, request.target.find('?')) != "/metrics")
      return plain_answer(404, "there is /metrics\n");
    if (!page->text || runtime.now() - page->made >= fresh)
      *page = {std::make_shared<const std::string>(source()), runtime.now()};
    return HttpAnswer{.body = page->text, .type = "text/plain; version=0.0.4; charset=utf-8"};
  };
}

bool shows_token(std::string_view authorization, std::span<const std::string> tokens) {
  const std::size_t blank = authorization.find(' ');
  if (blank == std::string_view::npos) return false;
  const std::string_view scheme = authorization.substr(0, blank);
  const std::string_view shown = trim(authorization.substr(blank));
  if (scheme != "Bearer" && scheme != "Basic") return false;
  if (is_one_of(shown, tokens)) return true;
  if (scheme != "Basic") return false;
  const auto user_and_password = decode_base64(shown);
  if (!user_and_password) return false;
  const std::size_t colon = user_and_password->find(':');
  return colon != std::string::npos &&
         is_one_of(std::string_view(*user_and_password).substr(colon + 1), tokens);
}

Result<std::vector<std::string>> read_tokens(const std::string& file) {
  const auto text = read_file(file, kLargestSettings);
  if (!text) return fail(text.error().code, fmt::format("{}: {}", file, text.error().context));
  using std::filesystem::perms;
  std::error_code ignored;
  if ((std::filesystem::status(file, ignored).permissions() & perms::others_read) != perms::none)
    return fail(Errc::Invalid,
                fmt::format("{}: whoever reads a token may order partitions, and others may read "
                            "it; chmod 600",
                            file));
  std::vector<std::string> tokens;
  std::string_view rest = *text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view whole = rest.substr(0, end);
    const std::string_view line = trim(whole.substr(0, whole.find('#')));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    const bool fine = line.size() >= kShortestToken && line.size() <= kLongestToken &&
                      std::ranges::all_of(line, [](char c) { return c > ' ' && c < 0x7f; });
    if (!fine)
      return fail(
          Errc::Invalid,
          fmt::format("{}:{}:{}: no token; {} to {} characters of ASCII without blanks, such "
                      "as `openssl rand -hex 32` prints",
                      file,
                      number,
                      column_of(whole, line),
                      kShortestToken,
                      kLongestToken));
    tokens.emplace_back(line);
  }
  if (tokens.empty())
    return fail(Errc::Invalid,
                fmt::format("{} has no token; a line such as `openssl rand -hex 32` prints", file));
  return tokens;
}

}  // namespace smd
