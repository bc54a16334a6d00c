// "Did you mean …": the known word closest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::sim {

/// The candidate with the smallest edit distance, the first of equals. Empty when there is none.
[[nodiscard]] std::string_view find_nearest(std::string_view word,
                                            std::span<const std::string_view> candidates);

}  // namespace smd::sim
