#include "tests/lint/definitions.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>

namespace smd::lint {
namespace {

constexpr std::size_t kLongestHead = 300;  // what a definition needs before its brace

std::string join_lines(const SourceFile& file) {
  std::string text;
  for (const Line& line : file.lines) text += line.text + '\n';
  return text;
}

/// Comments, literals and the preprocessor's lines as spaces; lines stay where they are.
class Blanker {
 public:
  explicit Blanker(std::string text) : text_(std::move(text)) {}

  std::string blank() {
    while (at_ < text_.size()) step();
    return std::move(text_);
  }

 private:
  [[nodiscard]] bool is_here(std::string_view what) const {
    return text_.compare(at_, what.size(), what) == 0;
  }

  void blank_to(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) {
      if (text_[at_] != '\n') text_[at_] = ' ';
    }
  }

  /// Behind `what`, from `from` on; the end of the text where it does not come.
  [[nodiscard]] std::size_t behind(std::string_view what, std::size_t from) const {
    const std::size_t found = text_.find(what, from);
    return found == std::string::npos ? text_.size() : found + what.size();
  }

  [[nodiscard]] std::size_t behind_quote(char quote) const {
    std::size_t i = at_ + 1;
    while (i < text_.size() && text_[i] != quote) i += text_[i] == '\\' ? 2 : 1;
    return i + 1;
  }

  [[nodiscard]] std::size_t line_end() const {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string::npos && end > at_ && text_[end - 1] == '\\')
      end = text_.find('\n', end + 1);
    return end == std::string::npos ? text_.size() : end;
  }

  [[nodiscard]] bool begins_line() const {
    const std::size_t before = text_.find_last_not_of(" \t", at_ == 0 ? 0 : at_ - 1);
    return at_ == 0 || before == std::string::npos || text_[before] == '\n';
  }

  void step() {
    const bool in_word = at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
    if (is_here("//") || (text_[at_] == '#' && begins_line())) return blank_to(line_end());
    if (is_here("/*")) return blank_to(behind("*/", at_));
    if (is_here("R\"") && !in_word) {
      const std::size_t open = text_.find('(', at_);
      const std::string end = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
      return blank_to(behind(end, open));
    }
    if (text_[at_] == '"') return blank_to(behind_quote('"'));
    if (text_[at_] == '\'' && !in_word) return blank_to(behind_quote('\''));  // else 10'000
    ++at_;
  }

  std::string text_;
  std::size_t at_ = 0;
};

/// In one line, single spaces between words.
std::string squeeze(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
    if (out.size() > kLongestHead) break;
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

std::optional<std::string> find_name(const std::string& head, const std::regex& pattern) {
  std::smatch match;
  if (!std::regex_match(head, match, pattern)) return std::nullopt;
  return match[1];
}

/// The name of the type that these words before a '{' define.
std::optional<std::string> find_type(const std::string& head) {
  static const std::regex type(
      R"re((?:template ?<.*> ?)?(?:struct|class|union|enum class|enum) (?:alignas\([^)]*\) ?)?(\w+)(?: final)?(?: ?:[^:].*)?)re");
  return find_name(head, type);
}

/// The name that these words before a ';' give to a type.
std::optional<std::string> find_alias(const std::string& head) {
  static const std::regex alias(R"re((?:template ?<.*> ?)?using (\w+) =.*)re");
  return find_name(head, alias);
}

class DefinitionReader {
 public:
  explicit DefinitionReader(const SourceFile& file)
      : in_header_(file.path.ends_with(".h")), text_(Blanker(join_lines(file)).blank()) {}

  std::vector<Definition> read() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\n') ++line_;
      if (text_[i] == '{') open(i);
      if (text_[i] == '}' && !scopes_.empty()) scopes_.pop_back();
      if (text_[i] == ';' && is_outside()) add(find_alias(head(i)));
      if (text_[i] == '{' || text_[i] == '}' || text_[i] == ';') begin_ = i + 1;
    }
    return std::move(out_);
  }

 private:
  /// Text that every name in it is preceded by; nothing where no name counts.
  using Scope = std::optional<std::string>;

  [[nodiscard]] std::string head(std::size_t end) const {
    return squeeze(std::string_view(text_).substr(begin_, end - begin_));
  }

  /// In namespaces alone.
  [[nodiscard]] bool is_outside() const { return std::ranges::all_of(scopes_, &Scope::has_value); }

  void open(std::size_t at) {
    static const std::regex space(R"re((?:inline )?namespace ?([\w:]*))re");
    Scope inside;
    if (is_outside()) {
      const std::string words = head(at);
      const auto name = find_name(words, space);
      if (words == "extern") inside = "";
      if (name && (!name->empty() || in_header_)) inside = name->empty() ? "" : *name + "::";
      if (!name) add(find_type(words));
    }
    scopes_.push_back(std::move(inside));
  }

  void add(const std::optional<std::string>& name) {
    if (!name) return;
    std::string whole;
    for (const Scope& scope : scopes_) whole += *scope;
    out_.push_back({line_, whole + *name});
  }

  bool in_header_;
  std::string text_;
  int line_ = 1;
  std::size_t begin_ = 0;
  std::vector<Scope> scopes_;
  std::vector<Definition> out_;
};

}  // namespace

std::vector<Definition> definitions_of(const SourceFile& file) {
  return DefinitionReader(file).read();
}

std::vector<std::string> find_double_definitions(const std::vector<SourceFile>& files) {
  struct Where {
    std::string path;
    int line = 0;
  };

  std::map<std::string, Where> first;
  std::vector<std::string> faults;
  for (const SourceFile& file : files) {
    for (const Definition& each : definitions_of(file)) {
      const auto [known, is_new] = first.try_emplace(each.name, Where{file.path, each.line});
      if (is_new || known->second.path == file.path) continue;
      faults.push_back(file.path + ":" + std::to_string(each.line) + ": " + each.name +
                       ": also in " + known->second.path + ":" +
                       std::to_string(known->second.line));
    }
  }
  return faults;
}

}  // namespace smd::lint
