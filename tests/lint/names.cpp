#include "tests/lint/names.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

namespace smd::lint {
namespace {

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::vector<std::string> split_name(std::string_view name) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t first = at;
    while (at < name.size() && is_upper(name[at])) ++at;
    // The last capital of several begins a word, unless they end the name: "LIDBook", "SubnetSM".
    if (at - first > 1 && at < name.size() && is_lower(name[at])) --at;
    if (at - first <= 1) {
      while (at < name.size() && is_lower(name[at])) ++at;
    }
    if (at == first) ++at;  // neither: a digit, '_'
    if (at - first > 1) {
      std::string word(name.substr(first, at - first));
      std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
      words.push_back(std::move(word));
    }
  }
  return words;
}

std::vector<PlacedName> names_of(const SourceFile& file) {
  static const std::regex type(
      R"re(^\s*(?:template <.*>\s*)?(?:struct|class|enum class|enum|union)\s+(?:alignas\([^)]*\)\s*)?(\w+)\s*(?:final\s*)?(?:[:{].*)?$)re");
  static const std::regex alias(R"re(^\s*using (\w+) =.*$)re");
  const std::size_t start = file.path.rfind('/') + 1;
  std::vector<PlacedName> names{{1, file.path.substr(start, file.path.rfind('.') - start)}};
  for (const Line& line : file.lines) {
    const std::string code = strip_comment(line.text);
    std::smatch match;
    if (std::regex_match(code, match, type) || std::regex_match(code, match, alias))
      names.push_back({line.number, match[1]});
  }
  return names;
}

std::vector<std::string> find_unknown_words(const SourceFile& file, const WordSet& known) {
  std::vector<std::string> faults;
  for (const PlacedName& each : names_of(file)) {
    for (const std::string& word : split_name(each.name)) {
      if (known.contains(word)) continue;
      faults.push_back(file.path + ":" + std::to_string(each.line) + ": " + each.name + ": \"" +
                       word + "\" is neither in docs/glossary.md nor in tests/lint/words.txt");
    }
  }
  return faults;
}

std::vector<Term> read_terms(const std::vector<Line>& glossary) {
  std::vector<Term> terms;
  for (const Line& line : glossary) {
    if (!line.text.starts_with("| ") || line.text.starts_with("| term |")) continue;
    Term term{.line = line.number, .cells = {}};
    std::istringstream cells(line.text.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) term.cells.push_back(trimmed(cell));
    terms.push_back(std::move(term));
  }
  return terms;
}

WordSet words_of(const std::vector<Term>& terms) {
  WordSet words;
  for (const Term& term : terms) {
    for (std::string& word : split_name(term.cells.front())) words.insert(std::move(word));
  }
  return words;
}

}  // namespace smd::lint
