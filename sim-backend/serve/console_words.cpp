#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "sim-backend/serve/console_context.h"

namespace smd::sim {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool parse_number(std::string_view text, unsigned& value) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base);
  return !text.empty() && error == std::errc{} && rest == end;
}

}  // namespace

void ConsoleWords::skip_blanks() {
  const std::size_t at = rest_.find_first_not_of(kBlanks);
  rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
}

bool ConsoleWords::at_end() {
  skip_blanks();
  return rest_.empty();
}

std::string ConsoleWords::next_word() {
  skip_blanks();
  const std::size_t end = std::min(rest_.find_first_of(kBlanks), rest_.size());
  std::string word(rest_.substr(0, end));
  rest_.remove_prefix(end);
  return word;
}

Result<ConsoleTarget> ConsoleWords::next_target() {
  skip_blanks();
  ConsoleTarget target;
  std::string_view port;
  if (rest_.starts_with('"')) {
    const std::size_t close = rest_.find('"', 1);
    if (close == std::string_view::npos) {
      return fail(Errc::Malformed, "a quote without its end; a node is \"NAME\"");
    }
    target.node = rest_.substr(1, close - 1);
    rest_.remove_prefix(close + 1);
    if (rest_.starts_with('[') || rest_.starts_with(':')) {
      const std::string tail = next_word();
      const bool bracket = tail.front() == '[';
      if (bracket && tail.back() != ']') {
        return fail(Errc::Malformed, "a port is \"NAME\"[PORT]");
      }
      target.has_port = true;
      if (!parse_number(std::string_view(tail).substr(1, tail.size() - (bracket ? 2 : 1)),
                        target.port)) {
        return fail(Errc::Malformed,
                    fmt::format("'{}' is no port number; a port is \"NAME\"[PORT]", tail));
      }
    }
  } else {
    const std::string word = next_word();
    const std::string_view text(word);
    const std::size_t open = text.find('[');
    const std::size_t colon = text.rfind(':');
    if (open != std::string_view::npos && text.back() == ']') {
      port = text.substr(open + 1, text.size() - open - 2);
      target.node = text.substr(0, open);
      target.has_port = true;
    } else if (colon != std::string_view::npos) {
      port = text.substr(colon + 1);
      target.node = text.substr(0, colon);
      target.has_port = true;
    } else {
      target.node = word;
    }
    if (target.has_port && !parse_number(port, target.port)) {
      return fail(Errc::Malformed,
                  fmt::format("'{}' is no port number; a port is NAME:PORT", port));
    }
  }
  // "NODE PORT" as well, as people type it.
  ConsoleWords ahead = *this;
  unsigned number = 0;
  if (!target.has_port && !target.node.empty() && parse_number(ahead.next_word(), number)) {
    *this = ahead;
    target.has_port = true;
    target.port = number;
  }
  if (target.node.empty()) {
    return fail(Errc::Malformed, "a node is missing; write \"NAME\" or \"NAME\"[PORT]");
  }
  return target;
}

Result<unsigned> ConsoleWords::next_number(unsigned largest) {
  const std::string word = next_word();
  unsigned value = 0;
  if (!parse_number(word, value) || value > largest) {
    return fail(Errc::Malformed, fmt::format("'{}' is no number from 0 to {}", word, largest));
  }
  return value;
}

Result<std::uint32_t> find_named(const ConsoleContext& context, const std::string& name) {
  const std::uint32_t node = find_node(context.fabric.spec(), name);
  if (node != kNoNode) return node;
  return fail(Errc::Invalid,
              fmt::format("node '{}' is not in the fabric, or is there twice", name));
}

std::string name_of(const ConsoleContext& context, std::uint32_t node) {
  const NodeSpec& spec = context.fabric.spec().nodes[node];
  return spec.description.empty() ? spec.id : spec.description;
}

Result<std::uint32_t> next_node(ConsoleContext& context) {
  const Result<ConsoleTarget> target = context.words.next_target();
  if (!target) return fail(target.error().code, target.error().context);
  if (target->has_port) return fail(Errc::Invalid, "this command takes a node without a port");
  return find_named(context, target->node);
}

Result<void> check_end(ConsoleContext& context) {
  if (context.words.at_end()) return {};
  return fail(Errc::Malformed,
              fmt::format("'{}' is more than this command takes", context.words.next_word()));
}

}  // namespace smd::sim
