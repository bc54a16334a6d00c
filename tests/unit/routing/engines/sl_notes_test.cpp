// Replies travel on the SL of their request. Where the two directions of a path have different SLs,
// a note of the routes says so.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/trees.h"

namespace smd::test {
namespace sl_notes_test {

/// Between any two LIDs of equal offsets at different switches that have a path there and back.
bool has_other_sl_back(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
  if (tables.path_sls.empty()) return false;
  const auto switch_of = [&](PortIdx port) {
    const NodeIdx node = f.node_of[port];
    return f.is_switch(node) ? f.switch_of[node] : f.switch_at(f.peer[port]);
  };
  std::vector<std::pair<Lid, SwitchIdx>> ends;
  for (const PortIdx port : lids.base.indices()) {
    if (lids.base[port] == kUnassignedLid) continue;
    ends.emplace_back(lids.base[port], switch_of(port));
  }
  for (const auto& [a, at_a] : ends) {
    for (const auto& [b, at_b] : ends) {
      if (at_a == at_b || tables.lft.route(at_a, b) == kNoRoute ||
          tables.lft.route(at_b, a) == kNoRoute)
        continue;
      if (tables.path_sls.sl(at_a, b) != tables.path_sls.sl(at_b, a)) return true;
    }
  }
  return false;
}

std::ptrdiff_t count_notes(const RoutingTables& tables) {
  return std::ranges::count_if(tables.notes, [](const std::string& note) {
    return note.starts_with("the two directions of a path may have different SLs");
  });
}

class SlNotes : public ::testing::TestWithParam<const char*> {
 protected:
  // Nothing where the engine refuses.
  static std::optional<RoutingTables> route(const Fabric& f,
                                            const LidMap& lids,
                                            unsigned vls,
                                            const PreviousRoutes* in_force = nullptr) {
    RoutingRequest request{.in_force = in_force, .max_vls = vls};
    if (in_force != nullptr) request.previous = &in_force->routing->orientation;
    auto tables = find_engine(GetParam())->compute(f, lids, request);
    if (!tables) return std::nullopt;
    return std::move(*tables);
  }

  void look_at(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
    const bool differs = has_other_sl_back(f, lids, tables);
    ++(differs ? differ_ : alike_);
    if (differs || std::string_view(GetParam()) == "nue") {
      EXPECT_EQ(count_notes(tables), differs ? 1 : 0);
    }
    if (tables.vls == 1) {
      EXPECT_EQ(count_notes(tables), 0);
    }
  }

  unsigned differ_ = 0, alike_ = 0;
};

TEST_P(SlNotes, AreThereWhereTheTwoDirectionsOfAPathHaveDifferentSls) {
  for (const char* const call : {"torus:dims=4.4,hosts=2",
                                 "torus:dims=5.5,hosts=1",
                                 "torus:dims=5.4,mesh=1,hosts=1",
                                 "fat-tree:k=4,levels=3",
                                 "hamming:dims=4.3,hosts=2",
                                 "dragonfly:a=4,h=1,c=2",
                                 "irregular:switches=16,links=4,hosts=1,seed=2"}) {
    const Generated g = generated(call);
    for (const unsigned vls : {1u, 2u, 8u}) {
      const auto whole = route(g.fabric, g.lids, vls);
      if (!whole) continue;
      SCOPED_TRACE(fmt::format("{} on {}", call, vls));
      look_at(g.fabric, g.lids, *whole);
      const PreviousRoutes in_force{&g.fabric, &g.lids, &*whole};
      const std::vector<PortIdx> channels = find_channels(g.fabric);
      for (std::size_t i = 0; i < channels.size(); i += 1 + channels.size() / 4) {
        std::vector<PortIdx> of_switch;
        std::ranges::copy_if(channels, std::back_inserter(of_switch), [&](PortIdx port) {
          return g.fabric.node_of[port] == g.fabric.node_of[channels[i]];
        });
        for (const std::vector<PortIdx>& lost : {std::vector{channels[i]}, of_switch}) {
          const Fabric cut = without_cables(g.fabric, lost);
          const auto after = route(cut, g.lids, vls, &in_force);
          SCOPED_TRACE(fmt::format("after loss {} of {}", i, lost.size()));
          if (after) look_at(cut, g.lids, *after);
        }
      }
    }
  }
  const std::string_view engine = GetParam();
  EXPECT_GE(alike_, 5u);
  if (engine == "nue") {
    EXPECT_GE(differ_, 20u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    SlNotes,
    ::testing::Values(
        "dfsssp", "dor", "dragonfly", "ftree", "hamming", "itb-vl", "lash", "nue", "updn"),
    [](const auto& row) {
      std::string name{row.param};
      std::erase(name, '-');
      return name;
    });

}  // namespace sl_notes_test
}  // namespace smd::test
