// The types that a file defines at the level of its namespaces: "smd::sim::Place". Declarations,
// nested types, specialisations and what stands in an anonymous namespace are none.
#pragma once

#include <string>
#include <vector>

#include "tests/lint/source_tree.h"

namespace smd::lint {

struct Definition {
  int line = 0;
  std::string name;  // with its namespaces
};

/// Structs, classes, unions, enums and aliases. Of the preprocessor's branches all count.
[[nodiscard]] std::vector<Definition> definitions_of(const SourceFile& file);

/// One line for each type that a second file defines: "FILE:LINE: NAME: also in FILE:LINE".
[[nodiscard]] std::vector<std::string> find_double_definitions(
    const std::vector<SourceFile>& files);

}  // namespace smd::lint
