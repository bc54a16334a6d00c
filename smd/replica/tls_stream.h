// One TLS connection after its handshake. Includes Asio: for tls*.cpp alone.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <memory>
#include <string>
#include <vector>

#include "smd/replica/stream.h"

namespace smd::replica {

using TlsSocket = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;

[[nodiscard]] std::unique_ptr<Stream> make_tls_stream(std::shared_ptr<TlsSocket> socket);

/// What went wrong with a connection, in one line: the certificate's fault where there is one.
[[nodiscard]] std::string explain(TlsSocket& socket, const boost::system::error_code& error);

/// Why the other end may not be any of `names`: what its certificate says instead. Empty: it is one
/// of them, or there are none. Requires: a handshake that went well.
[[nodiscard]] std::string find_wrong_name(TlsSocket& socket, const std::vector<std::string>& names);

}  // namespace smd::replica
