// Fabrics that several tests use.
#pragma once

#include <map>

#include "tests/unit/sim-management/rig.h"

namespace smd::sim::test {

///  H0.1 - 1.S1.2 - 1.S2.3 - 1.H3
inline FabricSpec line(LinkWidth width = LinkWidth::X4, LinkSpeed speed = LinkSpeed::Edr) {
  Drawing draw;
  const auto h0 = draw.ca("h0");
  const auto s1 = draw.sw("s1");
  const auto s2 = draw.sw("s2");
  const auto h3 = draw.ca("h3");
  draw.cable(h0, 1, s1, 1, width, speed);
  draw.cable(s1, 2, s2, 1, width, speed);
  draw.cable(s2, 3, h3, 1, width, speed);
  return draw.spec();
}

/// LIDs 1 to 4 along the line, and the tables that route them.
inline void configure_line(Rig& rig) {
  rig.set_lid({}, 1, 1);
  rig.set_lid({1}, 0, 2);
  rig.set_lid({1, 2}, 0, 3);
  rig.set_lid({1, 2, 3}, 1, 4);
  rig.set_routes({1}, {{1, 1}, {2, 0}, {3, 2}, {4, 2}});
  rig.set_routes({1, 2}, {{1, 1}, {2, 1}, {3, 0}, {4, 3}});
}

inline void activate_line(Rig& rig) {
  rig.activate({}, 1);
  rig.activate({1}, 1);
  rig.activate({1}, 2);
  rig.activate({1, 2}, 1);
  rig.activate({1, 2}, 3);
  rig.activate({1, 2, 3}, 1);
}

/// The 8 switches and 7 adapters of the thesis's Figure 67, or with switch 16 and adapters 17 and
/// 18 its Figure 68. Node index = label - 1.
inline FabricSpec figure(bool with_16) {
  Drawing draw;
  const unsigned labels = with_16 ? 18 : 15;
  for (unsigned label = 1; label <= labels; ++label) {
    const bool is_ca = label == 1 || label == 7 || (label >= 11 && label <= 15) || label >= 17;
    const std::string name = "node-" + std::to_string(label);
    is_ca ? draw.ca(name) : draw.sw(name, 4);
  }
  const auto cable = [&](unsigned a, unsigned pa, unsigned b, unsigned pb) {
    draw.cable(a - 1, pa, b - 1, pb);
  };
  cable(1, 1, 2, 3);
  cable(2, 1, 3, 4);
  cable(2, 2, 4, 1);
  cable(3, 1, 5, 3);
  cable(3, 2, 6, 1);
  cable(3, 3, 7, 1);
  cable(4, 2, 8, 1);
  cable(4, 3, 9, 1);
  cable(4, 4, 6, 2);
  cable(5, 1, 10, 1);
  cable(5, 2, 11, 1);
  cable(6, 3, 10, 2);
  cable(6, 4, 12, 1);
  cable(8, 2, 13, 1);
  cable(9, 2, 14, 1);
  cable(10, 3, 15, 1);
  if (with_16) {
    cable(16, 2, 8, 3);
    cable(16, 4, 9, 3);
    cable(16, 1, 17, 1);
    cable(16, 3, 18, 1);
  }
  return draw.spec();
}

}  // namespace smd::sim::test
