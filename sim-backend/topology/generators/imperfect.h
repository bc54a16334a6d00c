// What real trees have and definitions have not: trunks of different width, cables that are
// missing, cables of a lower rate, hosts at spines, an aggregation node on every switch.
#pragma once

#include <array>
#include <string>

#include "sim-backend/topology/generator.h"

namespace smd::sim {

/// Of every generator of trees; without them the tree is perfect.
inline constexpr std::array kImperfectKeys{
    number_key("uneven", "0", 0, 100)
        .means("of 100 switches below the top, so many have a cable that leads to another parent "
               "than it should: trunks get wider and narrower"),
    number_key("missing", "0", 0, 65535)
        .means("cables between switches that are missing; nobody loses the last way to anybody"),
    number_key("slow", "0", 0, 100)
        .means("of 100 cables between switches, so many run at half the speed or less"),
    number_key("spine_hosts", "0", 0, 65535)
        .means("hosts at switches of the top level, in turn, on ports of their own"),
    number_key("aggregation", "0", 0, 1)
        .means("1: every switch has an aggregation node (SHARP) on a port of its own, the last"),
    number_key("seed", "1", 0, 4294967295u).means("of what is chosen at random"),
};

/// The keys of a generator of trees, those above behind its own.
template <std::size_t N>
[[nodiscard]] constexpr auto with_imperfect_keys(const std::array<Key, N>& own) {
  std::array<Key, N + kImperfectKeys.size()> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = own[i];
  for (std::size_t i = 0; i < kImperfectKeys.size(); ++i) all[N + i] = kImperfectKeys[i];
  return all;
}

/// Changes a tree as the arguments say: the same arguments, the same bytes. Requires: switches are
/// named by `switch_name({level, number})`. Invalid, with the reason, where the tree cannot be so.
[[nodiscard]] Result<FabricSpec> make_imperfect(FabricSpec spec, const Arguments& arguments);

}  // namespace smd::sim
