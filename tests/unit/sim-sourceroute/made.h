// Networks and route sets of tests.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "sim-backend/sourceroute/systems.h"

namespace smd::sim::test {

inline RouteNet net_of(const std::string& fabric) {
  auto spec = load_fabric(fabric);
  EXPECT_TRUE(spec) << fabric;
  auto net = RouteNet::build(*spec);
  EXPECT_TRUE(net) << fabric;
  return std::move(*net);
}

inline RouteNet irregular(unsigned switches, unsigned seed) {
  return net_of(
      fmt::format("irregular:switches={},ports=8,links=4,hosts=4,seed={}", switches, seed));
}

inline RouteSet routes(const RouteNet& net, std::string_view system, SystemOptions options = {}) {
  auto made = find_system(system)->build(net, options);
  EXPECT_TRUE(made) << system;
  EXPECT_EQ(check_routes(net, *made), "") << system;
  return std::move(*made);
}

inline bool is_free(const RouteNet& net, const RouteSet& set) {
  const RelationVerdict verdict =
      check_relation(net.fabric(), RouteRelation(net, set), RelationMode::All);
  EXPECT_EQ(verdict.dead_ends, 0u);
  return verdict.acyclic;
}

}  // namespace smd::sim::test
