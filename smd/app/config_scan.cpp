#include "smd/app/config_scan.h"

#include <fmt/core.h>

#include <cstdint>

#include "smd/base/printable.h"

namespace smd {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  tl::expected<std::string, ScanFault> run() {
    while (at_ < text_.size()) {
      const auto wrong = is_ascii(text_[at_]) ? take_ascii() : take_wide();
      if (wrong) return tl::unexpected<ScanFault>({line_, *wrong});
    }
    return std::move(ascii_);
  }

 private:
  enum class State { Outside, Comment, Basic, Literal };
  using Wrong = std::optional<std::string_view>;

  void copy() { ascii_ += text_[at_++]; }

  Wrong take_ascii() {
    const char c = text_[at_];
    if (c == '\n') {
      // A string still open here is malformed, and the library stops at this line.
      state_ = State::Outside;
      ++line_;
    } else if (state_ == State::Outside) {
      const std::string_view here = text_.substr(at_, 3);
      if (here == "\"\"\"" || here == "'''") return "a string of several lines; no option takes it";
      if (c == '#') state_ = State::Comment;
      if (c == '"') state_ = State::Basic;
      if (c == '\'') state_ = State::Literal;
    } else if (state_ == State::Basic && c == '\\') {
      return take_escape();
    } else if ((state_ == State::Basic && c == '"') || (state_ == State::Literal && c == '\'')) {
      state_ = State::Outside;
    }
    copy();
    return std::nullopt;
  }

  Wrong take_escape() {
    copy();
    if (at_ == text_.size() || text_[at_] == '\n') return std::nullopt;
    if (!is_ascii(text_[at_])) return "a backslash before a character beyond ASCII";
    copy();
    return std::nullopt;
  }

  Wrong take_wide() {
    const auto character = decode_utf8(text_.substr(at_));
    if (!character) return "bytes that are no UTF-8";
    if (state_ == State::Comment) {
      ascii_ += '?';
    } else if (state_ == State::Basic) {
      ascii_ += fmt::format("\\U{:08X}", character->code_point);
    } else {
      return "a character beyond ASCII outside of double quotes and comments";
    }
    at_ += character->bytes;
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  State state_ = State::Outside;
  std::string ascii_;
};

}  // namespace

tl::expected<std::string, ScanFault> to_ascii_toml(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return Scanner(text).run();
}

}  // namespace smd
