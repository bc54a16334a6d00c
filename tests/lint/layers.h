// smd/LAYERS: which folder may include which.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lint/source_tree.h"

namespace smd::lint {

struct Layer {
  std::string folder;
  bool pure = false;
  bool apart = false;  // from the other folders of its parent that are apart
};

/// Lowest first.
[[nodiscard]] std::vector<Layer> parse_layers(const std::vector<Line>& lines);

/// The layer that holds `path`: the longest folder above it.
[[nodiscard]] std::optional<std::size_t> find_layer(const std::vector<Layer>& layers,
                                                    std::string_view path);

/// Why a file of `from` may not include `target`; nothing when it may.
[[nodiscard]] std::optional<std::string> find_wrong_arrow(const std::vector<Layer>& layers,
                                                          std::string_view from,
                                                          std::string_view target);

/// Why `line` of a pure folder is not pure; nothing when it is.
[[nodiscard]] std::optional<std::string> find_impurity(std::string_view line);

}  // namespace smd::lint
