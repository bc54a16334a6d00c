// HOST:PORT, as in configuration files.
#pragma once

#include <optional>
#include <string>

namespace smd {

struct HostPort {
  std::string host;  // a name, or an address without brackets
  std::string port;  // 0 to 65535
};

/// HOST:PORT or [ADDRESS]:PORT; nothing where the text is neither.
[[nodiscard]] std::optional<HostPort> parse_host_port(const std::string& text);

}  // namespace smd
