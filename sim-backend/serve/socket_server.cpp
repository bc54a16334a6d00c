#include "sim-backend/serve/socket_server.h"

#include <fmt/core.h>

#include <array>
#include <boost/asio/local/datagram_protocol.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "sim-backend/serve/unix_socket.h"
#include "smd/base/log.h"

namespace smd::sim {
namespace {

namespace asio = boost::asio;
using Socket = asio::local::datagram_protocol::socket;

constexpr Duration kLifeCheck = std::chrono::seconds(1);
constexpr std::size_t kMostQueued = 1u << 16;  // packets for a client that does not read

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS; }

}  // namespace

struct SocketServer::Impl final : ClientWire {
  struct Line {
    explicit Line(asio::io_context& io) : socket(io) {}

    Socket socket;  // NAME:out<client>; connected to the client's NAME:in<pid> while it lives
    SocketAddress peer;
    bool open = false;
    bool writing = false;
    std::deque<std::array<std::byte, kPacketSize>> queue;
    // One byte more than a datagram has: longer ones must not pass for right ones.
    std::array<std::byte, kPacketSize + 1> buffer;
  };

  Impl(AsioRuntime& r, SimFabric& fabric, std::string socket_name, SwitchboardOptions options)
      : runtime(r),
        name(std::move(socket_name)),
        control(r.io()),
        board(r, fabric, *this, options) {}

  ~Impl() override { ending = true; }

  Result<void> bind_all(unsigned max_clients) {
    auto bound = bind_one(name + ":ctl", control);
    if (!bound) return bound;
    for (unsigned i = 0; i < max_clients; ++i) {
      lines.emplace_back(runtime.io());
      bound = bind_one(fmt::format("{}:out{}", name, i), lines.back().socket);
      if (!bound) return bound;
    }
    for (unsigned i = 0; i < max_clients; ++i) read_packets(i);
    read_control();
    arm_life_check();
    return {};
  }

  Result<void> bind_one(const std::string& socket_name, Socket& into) {
    const Result<SocketAddress> address = make_address(socket_name);
    if (!address) return fail(address.error().code, address.error().context);
    Result<Fd> socket = open_datagram_socket();
    if (!socket) return fail(socket.error().code, socket.error().context);
    if (auto bound = bind_socket(*socket, *address); !bound) return bound;
    into.assign({}, socket->release());
    return {};
  }

  // Control.

  void read_control() {
    control.async_wait(Socket::wait_read, [this](const boost::system::error_code& error) {
      if (error) return;
      while (read_one_control()) {
      }
      read_control();
    });
  }

  bool read_one_control() {
    // One byte more than a datagram has: longer ones must not pass for right ones.
    std::array<std::byte, kControlSize + 1> buffer;
    SocketAddress from;
    from.length = sizeof from.name;
    const ssize_t size = ::recvfrom(
        control.native_handle(), buffer.data(), buffer.size(), 0, from.data(), &from.length);
    if (size < 0) return errno == EINTR;
    const auto frame = decode_control(std::span(buffer).first(static_cast<std::size_t>(size)));
    if (!frame) {
      board.on_malformed(frame.error());
      return true;
    }
    const ControlFrame answer = board.on_control(*frame);
    std::array<std::byte, kControlSize> bytes;
    encode_control(answer, bytes);
    // A client that cannot take its one answer is gone; the life check finds out.
    (void)::sendto(control.native_handle(),
                   bytes.data(),
                   bytes.size(),
                   MSG_NOSIGNAL,
                   from.data(),
                   from.length);
    return true;
  }

  // Packets.

  Result<void> open(unsigned client, std::uint32_t pid) override {
    Line& line = lines[client];
    const Result<SocketAddress> peer = make_address(fmt::format("{}:in{}", name, pid));
    if (!peer) return fail(peer.error().code, peer.error().context);
    // Nothing that others sent while the line was free belongs to the new client.
    std::array<std::byte, kPacketSize> scrap;
    while (::recv(line.socket.native_handle(), scrap.data(), scrap.size(), 0) >= 0) {
    }
    if (::connect(line.socket.native_handle(), peer->data(), peer->length) != 0) {
      return fail(
          Errc::Unreachable,
          fmt::format(
              "process {} has no socket {}:in{}: {}", pid, name, pid, std::strerror(errno)));
    }
    line.peer = *peer;
    line.open = true;
    return {};
  }

  void close(unsigned client) override {
    Line& line = lines[client];
    line.open = false;
    line.queue.clear();
    sockaddr nobody{};
    nobody.sa_family = AF_UNSPEC;
    if (!ending) (void)::connect(line.socket.native_handle(), &nobody, sizeof nobody);
  }

  bool is_alive(unsigned client) override { return has_listener(lines[client].peer); }

  /// Datagrams are taken when their turn has come, not before: what open() throws away is all that
  /// came until then.
  void read_packets(unsigned client) {
    lines[client].socket.async_wait(
        Socket::wait_read, [this, client](const boost::system::error_code& error) {
          if (error) return;
          constexpr int kMostInARow = 16;
          for (int i = 0; i < kMostInARow && read_one_packet(client); ++i) {
          }
          read_packets(client);
        });
  }

  /// False when there is none.
  bool read_one_packet(unsigned client) {
    Line& line = lines[client];
    const ssize_t size =
        ::recv(line.socket.native_handle(), line.buffer.data(), line.buffer.size(), 0);
    if (size >= 0) {
      take_packet(client, static_cast<std::size_t>(size));
      return true;
    }
    const int error = errno;
    if (error == EINTR) return true;
    if (error == EAGAIN || error == EWOULDBLOCK) return false;
    if (error != ECONNREFUSED && error != ECONNRESET)
      log::warn("serve.receive", "client={} {}", client, std::strerror(error));
    lost(client);
    return false;
  }

  void take_packet(unsigned client, std::size_t size) {
    const Line& line = lines[client];
    if (!line.open) return;
    const auto frame = decode_packet(std::span(line.buffer).first(size));
    if (frame) {
      board.on_packet(client, *frame);
    } else {
      board.on_malformed(frame.error());
    }
  }

  void send(unsigned client, const PacketFrame& frame) override {
    Line& line = lines[client];
    if (!line.open) return;
    std::array<std::byte, kPacketSize> bytes;
    encode_packet(frame, bytes);
    if (line.queue.empty() && send_now(client, bytes)) return;
    if (line.queue.size() == kMostQueued) {
      ++overflowed;
      return;
    }
    line.queue.push_back(bytes);
    if (!line.writing) drain_later(client);
  }

  /// False when the client's socket is full.
  bool send_now(unsigned client, const std::array<std::byte, kPacketSize>& bytes) {
    for (;;) {
      if (::send(lines[client].socket.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL) >=
          0) {
        return true;
      }
      if (errno == EINTR) continue;
      if (would_block(errno)) return false;
      lost(client);
      return true;
    }
  }

  void drain_later(unsigned client) {
    lines[client].writing = true;
    lines[client].socket.async_wait(
        Socket::wait_write, [this, client](const boost::system::error_code& error) {
          if (error) return;
          Line& line = lines[client];
          line.writing = false;
          while (!line.queue.empty() && send_now(client, line.queue.front())) {
            line.queue.pop_front();
          }
          if (!line.queue.empty()) drain_later(client);
        });
  }

  /// The process is gone. Not at once: the switchboard may be in the middle of this client.
  void lost(unsigned client) {
    Line& line = lines[client];
    if (!line.open) return;
    line.open = false;
    runtime.post([this, client] {
      if (!lines[client].open) board.disconnect(client);
    });
  }

  void arm_life_check() {
    life_check = Timer(runtime, runtime.now() + kLifeCheck, [this] {
      board.disconnect_dead();
      arm_life_check();
    });
  }

  AsioRuntime& runtime;
  std::string name;
  Socket control;
  std::deque<Line> lines;
  bool ending = false;
  std::uint64_t overflowed = 0;
  Timer life_check;
  Switchboard board;  // last: it closes its clients' lines when it goes
};

SocketServer::SocketServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SocketServer::~SocketServer() = default;

Result<std::unique_ptr<SocketServer>> SocketServer::open(AsioRuntime& runtime,
                                                         SimFabric& fabric,
                                                         const std::string& name,
                                                         SwitchboardOptions options) {
  // The longest name that follows from it is a client's control socket.
  if (auto longest = make_address(name + ":ctl4294967295"); !longest || name.empty()) {
    return fail(Errc::Invalid, fmt::format("socket name '{}' must have 1 to 90 characters", name));
  }
  auto impl = std::make_unique<Impl>(runtime, fabric, name, options);
  if (auto bound = impl->bind_all(options.max_clients); !bound) {
    return fail(bound.error().code, bound.error().context);
  }
  return std::unique_ptr<SocketServer>(new SocketServer(std::move(impl)));
}

Switchboard& SocketServer::switchboard() { return impl_->board; }

std::uint64_t SocketServer::overflowed() const { return impl_->overflowed; }

}  // namespace smd::sim
