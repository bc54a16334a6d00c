#include "smd/admin/socket_server.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "smd/admin/listener.h"
#include "smd/base/log.h"
#include "smd/runtime/tcp_listener.h"

namespace smd {
namespace {

namespace asio = boost::asio;
using asio::local::stream_protocol;
using ErrorCode = boost::system::error_code;

struct Client {
  explicit Client(stream_protocol::socket s) : socket(std::move(s)) {}

  stream_protocol::socket socket;
  std::array<char, 4096> chunk{};
  std::string in;   // bytes of requests not yet run
  std::string out;  // the answer under way
  std::size_t sent = 0;
  bool last = false;  // closes when `out` is sent
  Timer stall;
  Timer idle;
};

using ClientPtr = std::shared_ptr<Client>;
using Connections = AcceptLoop<stream_protocol::acceptor>;

}  // namespace

// Asio may still hold handlers when the server goes, so they share Impl and look at `closed`.
struct SocketServer::Impl : std::enable_shared_from_this<Impl> {
  Impl(AsioRuntime& r, const CommandTable& c, SocketServerOptions o, SocketFile f)
      : runtime(r), commands(c), options(std::move(o)), file(std::move(f)) {}

  void accept() {
    connections.emplace(
        runtime,
        stream_protocol::acceptor(runtime.io(), stream_protocol(), file->release_listener()),
        Connections::Handlers{
            .on_socket = [this](stream_protocol::socket socket) { on_client(std::move(socket)); },
            .on_error =
                [](const std::string& why) {
                  log::warn("admin.accept_failed", "why=\"{}\" retry_in=1s", why);
                }});
    connections->start();
  }

  void on_client(stream_protocol::socket socket) {
    const auto client = std::make_shared<Client>(std::move(socket));
    ErrorCode error;
    client->socket.non_blocking(true, error);
    if (error) return;
    if (clients.size() >= options.max_clients) make_room();
    clients.push_back(client);
    await_request(client);
    read(client);
  }

  /// Who waits for no answer goes first; else who has waited for longest.
  void make_room() {
    const auto idle =
        std::ranges::find_if(clients, [](const ClientPtr& client) { return client->out.empty(); });
    const ClientPtr client = idle != clients.end() ? *idle : clients.front();
    const std::string why = fmt::format(
        "{} clients, and another came: this one was idle for longest", options.max_clients);
    if (!client->out.empty()) return cut(client, why);
    refuse(client, why);
    if (client->socket.is_open()) drop(client);
  }

  /// The client is now the one that was idle last.
  void await_request(const ClientPtr& client) {
    std::erase(clients, client);
    clients.push_back(client);
    client->idle = Timer(runtime, runtime.now() + options.idle, [this, client] {
      refuse(ClientPtr(client), "no request came for a while");
    });
  }

  void read(const ClientPtr& client) {
    client->socket.async_read_some(
        asio::buffer(client->chunk),
        [self = shared_from_this(), client](const ErrorCode& error, std::size_t bytes) {
          if (self->closed || !client->socket.is_open()) return;
          if (error) return self->drop(client);
          client->in.append(client->chunk.data(), bytes);
          self->serve(client);
        });
  }

  /// Runs one complete request; those that were sent with it wait for a turn of the loop each, and
  /// for the reader of this one's answer.
  void serve(const ClientPtr& client) {
    const std::size_t end = client->in.find('\n');
    if (std::min(end, client->in.size()) > options.max_request) {
      return refuse(client,
                    fmt::format("the request is longer than {} bytes", options.max_request));
    }
    if (end == std::string::npos) return read(client);
    const std::string request = client->in.substr(0, end);
    client->in.erase(0, end + 1);
    client->idle.reset();
    client->out = commands.answer(request) + "\n";
    client->sent = 0;
    if (flush(client)) serve_next(client);
  }

  void serve_next(const ClientPtr& client) {
    await_request(client);
    if (client->in.find('\n') == std::string::npos) return serve(client);
    runtime.post([self = shared_from_this(), client] {
      if (!self->closed && client->socket.is_open()) self->serve(client);
    });
  }

  void refuse(const ClientPtr& client, const std::string& why) {
    log::warn("admin.client_cut", "why=\"{}\"", why);
    client->idle.reset();
    client->out = print_error_answer(why) + "\n";
    client->sent = 0;
    client->last = true;
    flush(client);
  }

  /// Sends what the socket takes; true when all of the answer is out and the client stays. An
  /// answer that fits leaves before the handler returns, so that even `shutdown` is answered.
  bool flush(const ClientPtr& client) {
    while (client->sent < client->out.size()) {
      ErrorCode error;
      client->sent += client->socket.write_some(asio::buffer(client->out) + client->sent, error);
      if (error == asio::error::would_block || error == asio::error::try_again) {
        await_reader(client);
        return false;
      }
      if (error) {
        drop(client);
        return false;
      }
    }
    client->out.clear();
    client->stall.reset();
    if (client->last) {
      drop(client);
      return false;
    }
    return true;
  }

  void await_reader(const ClientPtr& client) {
    if (client->out.size() - client->sent > options.max_backlog) {
      return cut(client, "its answer is too long to wait for it");
    }
    client->stall = Timer(runtime, runtime.now() + options.stall, [this, client] {
      cut(client, "it does not read its answer");
    });
    client->socket.async_wait(stream_protocol::socket::wait_write,
                              [self = shared_from_this(), client](const ErrorCode& error) {
                                if (self->closed || !client->socket.is_open()) return;
                                if (error) return self->drop(client);
                                if (self->flush(client)) self->serve_next(client);
                              });
  }

  void cut(const ClientPtr& client, std::string_view why) {
    log::warn("admin.client_cut", "why=\"{}\"", why);
    drop(client);
  }

  void drop(const ClientPtr& client) {
    ErrorCode ignored;
    client->socket.close(ignored);
    client->stall.reset();
    client->idle.reset();
    std::erase(clients, client);
  }

  void close() {
    closed = true;
    connections.reset();
    while (!clients.empty()) drop(ClientPtr(clients.back()));
  }

  AsioRuntime& runtime;
  const CommandTable& commands;
  const SocketServerOptions options;
  std::optional<SocketFile> file;
  std::optional<Connections> connections;
  std::vector<ClientPtr> clients;  // the one that was answered last is last
  bool closed = false;
};

SocketServer::SocketServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

SocketServer::~SocketServer() {
  impl_->close();
  impl_->file.reset();
}

Result<std::unique_ptr<SocketServer>> SocketServer::listen(AsioRuntime& runtime,
                                                           const CommandTable& commands,
                                                           SocketServerOptions options) {
  auto file = SocketFile::open(options.path, options.mode);
  if (!file) return tl::unexpected<Error>(file.error());
  log::info("admin.listen", "socket={} mode={:o}", options.path, options.mode);
  auto impl = std::make_shared<Impl>(runtime, commands, std::move(options), std::move(*file));
  impl->accept();
  return std::unique_ptr<SocketServer>(new SocketServer(std::move(impl)));
}

std::size_t SocketServer::client_count() const { return impl_->clients.size(); }

}  // namespace smd
