#include "smd/base/host_port.h"

namespace smd {

std::optional<HostPort> parse_host_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  HostPort out{.host = text.substr(0, colon), .port = text.substr(colon + 1)};
  if (out.port.empty() || out.port.size() > 5 ||
      out.port.find_first_not_of("0123456789") != std::string::npos || std::stoul(out.port) > 65535)
    return std::nullopt;
  if (out.host.front() == '[' && out.host.back() == ']' && out.host.size() > 2) {
    out.host = out.host.substr(1, out.host.size() - 2);
  } else if (out.host.find_first_of(":[] ") != std::string::npos) {
    return std::nullopt;
  }
  return out;
}

}  // namespace smd
