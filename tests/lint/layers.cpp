#include "tests/lint/layers.h"

#include <regex>
#include <set>
#include <sstream>

namespace smd::lint {
namespace {

/// All that a pure folder may include in angle brackets. What can read, write, wait, or tell the
/// time is not here.
const std::set<std::string, std::less<>> kPureHeaders = {"algorithm",
                                                         "array",
                                                         "bit",
                                                         "bitset",
                                                         "boost/container/flat_map.hpp",
                                                         "cassert",
                                                         "cctype",
                                                         "charconv",
                                                         "climits",
                                                         "cmath",
                                                         "compare",
                                                         "concepts",
                                                         "cstddef",
                                                         "cstdint",
                                                         "cstring",
                                                         "deque",
                                                         "exception",
                                                         "fmt/core.h",
                                                         "fmt/format.h",
                                                         "fmt/ranges.h",
                                                         "functional",
                                                         "initializer_list",
                                                         "iterator",
                                                         "limits",
                                                         "list",
                                                         "map",
                                                         "memory",
                                                         "new",
                                                         "numbers",
                                                         "numeric",
                                                         "optional",
                                                         "queue",
                                                         "ranges",
                                                         "set",
                                                         "span",
                                                         "sstream",
                                                         "stack",
                                                         "stdexcept",
                                                         "stop_token",
                                                         "string",
                                                         "string_view",
                                                         "system_error",
                                                         "tl/expected.hpp",
                                                         "tuple",
                                                         "type_traits",
                                                         "typeinfo",
                                                         "unordered_map",
                                                         "unordered_set",
                                                         "utility",
                                                         "variant",
                                                         "vector"};

std::string_view parent_of(std::string_view folder) { return folder.substr(0, folder.rfind('/')); }

}  // namespace

std::vector<Layer> parse_layers(const std::vector<Line>& lines) {
  std::vector<Layer> layers;
  for (const Line& line : lines) {
    std::istringstream words(line.text.substr(0, line.text.find('#')));
    Layer layer;
    std::string mark;
    if (!(words >> layer.folder)) continue;
    while (words >> mark) {
      layer.pure = layer.pure || mark == "pure";
      layer.apart = layer.apart || mark == "apart";
    }
    layers.push_back(layer);
  }
  return layers;
}

std::optional<std::size_t> find_layer(const std::vector<Layer>& layers, std::string_view path) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!is_below(path, layers[i].folder)) continue;
    if (!found || layers[i].folder.size() > layers[*found].folder.size()) found = i;
  }
  return found;
}

std::optional<std::string> find_wrong_arrow(const std::vector<Layer>& layers,
                                            std::string_view from,
                                            std::string_view target) {
  const auto below = find_layer(layers, target);
  const auto above = find_layer(layers, from);
  if (!above) return std::string(from) + " is in no folder of smd/LAYERS";
  if (!below) return std::string(target) + " is in no folder of smd/LAYERS";
  const std::string& lower = layers[*below].folder;
  const std::string& upper = layers[*above].folder;
  if (lower.starts_with("sim-backend") && upper.starts_with("smd/") && upper != "smd/bin") {
    return "only smd/bin may include sim-backend, not " + upper;
  }
  if (*below != *above && layers[*below].apart && layers[*above].apart &&
      parent_of(lower) == parent_of(upper)) {
    return upper + " and " + lower + " stand apart in smd/LAYERS";
  }
  if (*below > *above) return upper + " stands below " + lower + " in smd/LAYERS";
  return std::nullopt;
}

std::optional<std::string> find_impurity(std::string_view line) {
  const std::string code = strip_comment(line);
  for (const Include& include : includes_of({{1, code}})) {
    if (include.system && !kPureHeaders.contains(include.target)) {
      return "<" + include.target + "> is not among the headers of pure folders";
    }
    if (include.target == "smd/base/log.h" || include.target == "smd/base/progress.h")
      return "pure folders do not log; they return";
  }
  static const std::regex effect(
      R"re(\b(steady_clock|system_clock|high_resolution_clock|clock_gettime|getenv|random_device|thread_local|fopen|fmt::print|std::cout|std::cerr|std::rand)\b)re");
  std::smatch match;
  if (std::regex_search(code, match, effect)) return match.str() + " is an effect";
  static const std::regex global(
      R"re(^\s*(inline\s+)?static\s+(?!const\b|constexpr\b|inline\s+const)[^()]*[;={])re");
  if (std::regex_search(code, global)) return "a static that is not const is global state";
  return std::nullopt;
}

}  // namespace smd::lint
