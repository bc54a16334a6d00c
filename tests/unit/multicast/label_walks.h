// Meshes with a host at every switch, and paths along their labels.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smd/multicast/label_paths.h"
#include "tests/unit/multicast/random_fabric.h"

namespace smd::test {

/// Switch S1 … row by row, each with a host of the same number; `links` of each link.
inline std::string mesh_text(unsigned rows,
                             unsigned columns,
                             unsigned links = 1,
                             bool torus = false) {
  std::string text;
  for (unsigned s = 1; s <= rows * columns; ++s) text += fmt::format("H{}-S{} ", s, s);
  const auto link = [&](unsigned a, unsigned b) {
    for (unsigned c = 0; c < links; ++c) text += fmt::format("S{}-S{} ", a + 1, b + 1);
  };
  for (unsigned y = 0; y < rows; ++y) {
    for (unsigned x = 0; x < columns; ++x) {
      const unsigned at = y * columns + x;
      if (x + 1 < columns) link(at, at + 1);
      if (y + 1 < rows) link(at, at + columns);
      if (torus && x == 0 && columns > 2) link(at, at + columns - 1);
      if (torus && y == 0 && rows > 2) link(at, at + (rows - 1) * columns);
    }
  }
  return text;
}

struct Walks {
  Walks(const std::string& text, TreeShape shape) : Walks(with_tables(fabric_from(text)), shape) {}

  Walks(std::shared_ptr<const Fabric> snapshot, TreeShape shape) : fabric(std::move(snapshot)) {
    EXPECT_TRUE(paths.adopt(fabric, shape)) << paths.refusal();
  }

  [[nodiscard]] std::uint32_t label(SwitchIdx sw) const { return paths.labels()[sw]; }

  /// The host at the switch with that label.
  [[nodiscard]] PortIdx host(std::uint32_t wanted) const {
    for (const PortIdx port : end_ports(*fabric)) {
      const PortIdx entry = entry_of(*fabric, port);
      if (entry != port && label(fabric->switch_at(entry)) == wanted) return port;
    }
    return kNone<PortIdx>;
  }

  std::vector<SwitchMask> masks(const std::vector<TreeMember>& members, Lid mlid = kFirst) {
    return compute_masks(*fabric, paths.update(mlid, members), members);
  }

  [[nodiscard]] std::vector<std::uint32_t> labels_of_tree() const {
    std::vector<std::uint32_t> out;
    for (const Branch& branch : paths.find(kFirst)->branches) out.push_back(label(branch.sw));
    std::ranges::sort(out);
    return out;
  }

  static constexpr Lid kFirst{0xc000};

  std::shared_ptr<const Fabric> fabric;
  LabelPaths paths;
};

/// Boustrophedon labels of a mesh whose rows have `columns` switches.
inline std::uint32_t label_at(unsigned x, unsigned y, unsigned columns = 6) {
  return y * columns + (y % 2 == 0 ? x : columns - 1 - x);
}

struct Published {
  std::vector<TreeMember> members;
  std::uint32_t source = label_at(3, 2);
};

/// Nine destinations of (3,2), which alone sends (Lin, McKinley and Ni, 1994).
inline Published published(const Walks& walks, bool others_send = true) {
  Published out;
  for (const auto& [x, y] : std::vector<std::pair<unsigned, unsigned>>{
           {0, 0}, {0, 2}, {0, 5}, {1, 3}, {4, 5}, {5, 0}, {5, 1}, {5, 3}, {5, 4}})
    out.members.push_back({walks.host(label_at(x, y)), true, others_send});
  out.members.push_back({walks.host(out.source), false});
  return out;
}

}  // namespace smd::test
