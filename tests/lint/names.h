// The words that names are made of: "SmpWindow" and "smp_window.h" are both of "smp" and "window".
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lint/source_tree.h"

namespace smd::lint {

using WordSet = std::set<std::string, std::less<>>;

/// In lower case; digits and single letters are no words.
[[nodiscard]] std::vector<std::string> split_name(std::string_view name);

/// The file's own name (line 1), and every struct, class, enum, union and alias that it defines.
struct PlacedName {
  int line = 0;
  std::string name;
};

[[nodiscard]] std::vector<PlacedName> names_of(const SourceFile& file);

/// One line for each word of a name that `known` does not have: where, which name, which word.
[[nodiscard]] std::vector<std::string> find_unknown_words(const SourceFile& file,
                                                          const WordSet& known);

struct Term {
  int line = 0;
  std::vector<std::string> cells;  // term, meaning, origin
};

/// Rows of the glossary's table, its head aside.
[[nodiscard]] std::vector<Term> read_terms(const std::vector<Line>& glossary);

/// Of the terms themselves.
[[nodiscard]] WordSet words_of(const std::vector<Term>& terms);

}  // namespace smd::lint
