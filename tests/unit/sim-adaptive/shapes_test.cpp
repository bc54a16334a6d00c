// Shapes of networks, as rules need them: found in a fabric, or told by keys; what is not whole.
#include <gmock/gmock.h>

#include <string>

#include "sim-backend/adaptive/shape.h"

namespace smd::sim::test {
namespace shapes_test {

const char* const kGrid = "hamming:dims=4.4,hosts=2";
const char* const kDragonfly = "dragonfly:a=5,c=2,h=2";

Shape shape_of(const char* call, const ShapeKeys& keys = {}) {
  return Shape::find(load_fabric(call).value(), keys).value();
}

TEST(Shapes, AreRecognisedOrNumbered) {
  EXPECT_EQ(shape_of("hamming:dims=3.5,hosts=1").sides(), (std::vector<std::uint32_t>{5, 3}));
  const Shape numbered = shape_of("hamming:dims=3.5,hosts=1", {.dims = {3, 5}});
  EXPECT_EQ(numbered.coordinate(numbered.at({2, 4}), 1), 4u);
  EXPECT_EQ(shape_of(kDragonfly).kind(), ShapeKind::Dragonfly);
  const Shape wide = shape_of("dragonfly:a=4,c=1,h=3,groups=4,global-trunk=4", {.group = 4});
  EXPECT_EQ(wide.kind(), ShapeKind::Dragonfly);
  EXPECT_EQ(wide.trunk(0), 4u);
  EXPECT_EQ(wide.trunk(1), 1u);
}

std::string refused(FabricSpec spec, const ShapeKeys& keys) {
  const auto shape = Shape::find(spec, keys);
  return shape ? "" : shape.error().context;
}

FabricSpec without_cable(const char* call, const std::string& a, const std::string& b) {
  FabricSpec spec = load_fabric(call).value();
  for (NodeSpec& node : spec.nodes) {
    if (node.description != a) continue;
    for (PortSpec& port : node.ports) {
      if (port.peer_node == kNoNode || spec.nodes[port.peer_node].description != b) continue;
      spec.nodes[port.peer_node].ports[port.peer_port.value()].peer_node = kNoNode;
      port.peer_node = kNoNode;
    }
  }
  return spec;
}

TEST(Shapes, WhatIsNotWholeIsRefusedByName) {
  const FabricSpec grid = load_fabric(kGrid).value();
  EXPECT_EQ(refused(grid, {.dims = {4, 5}}), "dims of 20 switches: the fabric has 16");
  EXPECT_EQ(refused(grid, {.group = 5}), "groups of 5 switches each: the fabric has 16");
  EXPECT_THAT(refused(grid, {.dims = {2, 8}}), testing::HasSubstr("is no neighbour in these dims"));
  EXPECT_EQ(refused(without_cable(kGrid, "sw-0-0", "sw-0-3"), {.dims = {4, 4}}),
            "sw-0-0 has no cable to sw-0-3, its neighbour");
  EXPECT_EQ(refused(without_cable(kDragonfly, "sw-0-1", "sw-0-2"), {.group = 5}),
            "sw-0-1 has no cable to sw-0-2, its neighbour");
  EXPECT_THAT(refused(load_fabric("torus:dims=4.5,hosts=1").value(), {}),
              testing::HasSubstr("neither a flattened butterfly nor a dragonfly"));
}

}  // namespace shapes_test
}  // namespace smd::sim::test
