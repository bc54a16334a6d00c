#include "sim-backend/topology/net_comment.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace smd::sim {
namespace {

/// The numbers behind the words lid and lmc.
std::string take_address(std::string_view text, Address& address) {
  Cursor in(text);
  while (!in.at_end()) {
    in.skip_space();
    const std::string_view word = in.word();
    if (word != "lid" && word != "lmc") continue;
    in.skip_space();
    const auto value = in.number();
    const std::uint64_t most = word == "lid" ? kTopUnicastLid.value() : 7;
    if (!value || *value > most) return fmt::format("{} is a number from 0 to {}", word, most);
    if (word == "lid") {
      address.lid = Lid{static_cast<std::uint16_t>(*value)};
    } else {
      address.lmc = static_cast<std::uint8_t>(*value);
    }
  }
  return {};
}

/// "4xEDR"; "4x???" where the program does not know the speed, "?????" where nor the width. A name
/// may have question marks as well, but no rate is less.
void take_rate(std::string_view word, PortComment& said) {
  constexpr std::string_view kUnknown = "???";
  if (word == "?????") {
    said.width = LinkWidth::None;
    said.speed = LinkSpeed::None;
    said.is_speed_unknown = true;
    return;
  }
  const std::size_t x = word.find('x');
  if (x == std::string_view::npos || x == 0) return;
  const LinkWidth width = parse_link_width(word.substr(0, x + 1));
  const LinkSpeed speed = parse_link_speed(word.substr(x + 1));
  const bool is_unknown = word.substr(x + 1) == kUnknown;
  if (width == LinkWidth::None || (speed == LinkSpeed::None && !is_unknown)) return;
  said.width = width;
  said.speed = speed;
  said.is_speed_unknown = is_unknown;
}

/// ibsim also takes a name without quotes, up to the first of these.
std::string_view unquoted_name(std::string_view text) {
  std::size_t end = text.size();
  for (const std::string_view mark : {" enhanced port ", " base port ", " lid ", " lmc "}) {
    end = std::min(end, text.find(mark));
  }
  return trim(text.substr(0, end));
}

}  // namespace

HeaderComment parse_header_comment(std::string_view text) {
  HeaderComment said;
  text = trim(text);
  if (text.empty()) return said;
  std::string_view behind;
  if (text.front() == '"') {
    const std::size_t end = text.rfind('"');
    if (end == 0) {
      said.fault = "the description has no closing quote";
      return said;
    }
    said.description = text.substr(1, end - 1);
    behind = text.substr(end + 1);
  } else {
    const std::string_view name = unquoted_name(text);
    if (!name.empty()) said.description = name;
    behind = text.substr(name.size());
  }
  said.enhanced_port0 = behind.find("enhanced port 0") != std::string_view::npos;
  said.fault = take_address(behind, said.address);
  return said;
}

PortComment parse_port_comment(std::string_view text) {
  PortComment said;
  const std::size_t open = text.find('"');
  const std::size_t close = text.rfind('"');
  const bool has_name = open != close;
  said.fault = take_address(has_name ? text.substr(0, open) : text, said.address);
  Cursor behind(has_name ? text.substr(close + 1) : text);
  while (!behind.at_end()) {
    behind.skip_space();
    take_rate(behind.word(), said);
  }
  return said;
}

bool is_decoration(std::string_view line) {
  constexpr std::array<std::string_view, 6> kBeginnings{
      "Chassis", "Non-Chassis", "Hostname:", "DR path", "ibwarn:", "DISCOVERED"};
  return std::ranges::any_of(kBeginnings,
                             [line](std::string_view word) { return line.starts_with(word); });
}

void skip_external_port(Cursor& in) {
  Cursor ahead = in;
  if (!ahead.eat("[ext ")) return;
  const std::size_t end = ahead.rest().find(']');
  if (end == std::string_view::npos) return;
  in = Cursor(ahead.rest().substr(end + 1));
}

}  // namespace smd::sim
