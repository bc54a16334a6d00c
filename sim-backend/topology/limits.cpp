#include "sim-backend/topology/limits.h"

#include <fmt/core.h>

#include <algorithm>

namespace smd::sim {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string default_id(NodeType type, Guid guid) {
  const char prefix = type == NodeType::Switch ? 'S' : type == NodeType::Router ? 'R' : 'H';
  return fmt::format("{}-{:016x}", prefix, guid.value());
}

std::string_view check_id(std::string_view id) {
  if (id.empty()) return "empty: give every node a name of its own";
  if (id.size() > kMaxId) return "longer than 64 bytes";
  if (id.find_first_of("\"#@") != std::string_view::npos) {
    return "the characters \" # @ are reserved in ids";
  }
  if (std::ranges::any_of(id, is_control)) return "control characters are not allowed in ids";
  return {};
}

std::string_view check_description(std::string_view description) {
  if (description.size() > kMaxDescription) return "longer than the 64 bytes of NodeDescription";
  if (std::ranges::any_of(description, is_control)) {
    return "control characters are not allowed in descriptions";
  }
  return {};
}

}  // namespace smd::sim
