// Where another manager listens, and the name that its certificate must have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/base/host_port.h"

namespace smd::replica {

struct Peer {
  std::string name;  // empty: whatever the authority signed
  HostPort at;
};

/// [NAME@]HOST:PORT; nothing where the text is none.
[[nodiscard]] inline std::optional<Peer> parse_peer(const std::string& text) {
  const std::size_t end = text.find('@');
  const std::size_t from = end == std::string::npos ? 0 : end + 1;
  const auto at = parse_host_port(text.substr(from));
  if (!at || end == 0) return std::nullopt;
  return Peer{.name = from == 0 ? std::string() : text.substr(0, end), .at = *at};
}

/// The names of all; empty where one has none, since it may be the one that connects.
[[nodiscard]] inline std::vector<std::string> names_of(const std::vector<std::string>& peers) {
  std::vector<std::string> names;
  for (const std::string& each : peers) {
    const auto peer = parse_peer(each);
    if (!peer || peer->name.empty()) return {};
    names.push_back(peer->name);
  }
  return names;
}

}  // namespace smd::replica
