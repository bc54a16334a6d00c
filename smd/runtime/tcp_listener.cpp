#include "smd/runtime/tcp_listener.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace smd {

Result<TcpListener> open_tcp_listener(const HostPort& at) {
  using boost::asio::ip::tcp;
  boost::system::error_code error;
  boost::asio::io_context io;
  tcp::resolver resolver(io);
  tcp::acceptor acceptor(io);
  const auto found = resolver.resolve(at.host, at.port, tcp::resolver::passive, error);
  const tcp::endpoint end = error ? tcp::endpoint() : found.begin()->endpoint();
  if (!error) acceptor.open(end.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(end, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) return fail(Errc::Busy, error.message());
  const unsigned port = acceptor.local_endpoint().port();
  return TcpListener{end.protocol().family(), acceptor.release(), port};
}

}  // namespace smd
