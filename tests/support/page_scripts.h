// Scripts that a page of the documentation prints.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace smd::test {

/// The ```sh blocks of a page, in their order.
inline std::vector<std::string> scripts_of(const std::string& page) {
  std::ifstream file(source_path(page));
  std::vector<std::string> out;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```sh") {
      inside = true;
      out.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      out.back() += line + "\n";
    }
  }
  return out;
}

}  // namespace smd::test
