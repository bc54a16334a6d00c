#include "smd/app/config_value.h"

#include <fmt/core.h>

#include <string_view>

namespace smd {
namespace {

/// Longer values are cut in messages, which are one line each.
constexpr std::size_t kShown = 60;
constexpr std::size_t kShownList = 120;

/// The first `bytes` of `text`, less the character that would be split.
std::string_view cut(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

struct Printer {
  std::string operator()(bool value) const { return value ? "true" : "false"; }

  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }

  std::string operator()(double value) const { return fmt::format("{}", value); }

  std::string operator()(const std::string& value) const {
    if (value.size() <= kShown) return quote_toml(value);
    return quote_toml(cut(value, kShown)) + "...";
  }

  std::string operator()(const ConfigList& list) const {
    std::string text = "[";
    for (const ConfigValue& item : list) {
      if (text.size() > 1) text += ", ";
      text += print_config_value(item);
      if (text.size() > kShownList) return fmt::format("{}...]", cut(text, kShownList));
    }
    return text + "]";
  }

  std::string operator()(const ConfigOther& other) const { return other.text; }
};

}  // namespace

std::string print_config_value(const ConfigValue& value) {
  return std::visit(Printer{}, value.value);
}

std::string quote_toml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace smd
