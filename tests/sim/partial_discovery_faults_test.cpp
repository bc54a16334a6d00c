// Partial discovery on a wire that loses, repeats and reorders, and with changes at every moment of
// a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "smd/policy/port_policy.h"
#include "tests/sim/partial_lab.h"

namespace smd::test {
namespace partial_discovery_faults_test {

constexpr const char* kFabric = "irregular:switches=10,ports=8,links=3,hosts=2,seed=7";

TEST(PartialDiscoveryFaults, ALossyWireChangesNothingInTheResult) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    PartialLab lab(sim::load_fabric(kFabric).value(), {.seed = seed, .retries = 12});
    lab.bring_up();
    const auto sw = static_cast<std::uint32_t>(lab.node(fmt::format("sw-{}", 1 + seed % 9)));
    if (seed % 3 == 0) {
      lab.fabric.set_node(sw, false);
    } else if (seed % 3 == 1) {
      lab.fabric.set_node(sw, false);
      lab.fabric.set_node(sw, true);
    } else {
      lab.fabric.set_link(sw, port(1), false);
      lab.fabric.set_link(sw, port(2), false);
    }
    lab.fabric.set_wire_faults({.drop = 0.05, .duplicate = 0.05, .reorder = 0.3});
    const auto found = lab.partial(lab.poll().all());
    lab.fabric.set_wire_faults({});
    ASSERT_TRUE(found);
    ASSERT_EQ(found->full_needed, "");
    EXPECT_EQ(find_difference(lab.full(), found->sweep), "") << "seed " << seed;
  }
}

/// What changes at the given request.
struct Moment {
  const char* name;
  std::function<void(PartialLab&)> change;
};

std::vector<Moment> moments() {
  const auto sw = [](PartialLab& lab, unsigned n) { return lab.node(fmt::format("sw-{}", n)); };
  return {
      {"link down", [=](PartialLab& lab) { lab.fabric.set_link(sw(lab, 3), port(1), false); }},
      {"link flap",
       [=](PartialLab& lab) {
         lab.fabric.set_link(sw(lab, 4), port(2), false);
         lab.fabric.set_link(sw(lab, 4), port(2), true);
       }},
      {"switch off", [=](PartialLab& lab) { lab.fabric.set_node(sw(lab, 5), false); }},
      {"switch restarts",
       [=](PartialLab& lab) {
         lab.fabric.set_node(sw(lab, 6), false);
         lab.fabric.set_node(sw(lab, 6), true);
       }},
      {"first change is undone", [=](PartialLab& lab) { lab.fabric.set_node(sw(lab, 7), true); }},
  };
}

/// Looks again and again at whoever reports, starting from what was found before; a full discovery
/// where one is asked for. True when everybody is quiet in the end.
bool look_until_quiet(PartialLab& lab) {
  for (unsigned look = 0; look < 6; ++look) {
    const auto suspects = lab.raised();
    if (suspects.empty()) return true;
    auto found = lab.partial(suspects);
    if (!found) return false;
    lab.known = found->full_needed.empty() ? std::move(found->sweep) : lab.full();
  }
  return false;
}

// A change at request n of the first look, for every n: whatever the first look makes of it, the
// looks that PortStateChange asks for afterwards find the rest.
TEST(PartialDiscoveryFaults, AChangeAtEveryMomentIsNotLost) {
  for (const Moment& moment : moments()) {
    bool reached = true;
    for (std::size_t n = 1; reached; ++n) {
      PartialLab lab(sim::load_fabric(kFabric).value());
      lab.bring_up();
      lab.fabric.set_node(lab.node("sw-7"), false);
      lab.fabric.set_link(lab.node("sw-2"), port(1), false);
      const auto suspects = lab.poll().all();
      lab.transport.clear();
      reached = false;
      lab.transport.on_request = [&](std::size_t count) {
        if (count != n) return;
        reached = true;
        moment.change(lab);
      };
      auto found = lab.partial(suspects);
      lab.transport.on_request = nullptr;
      ASSERT_TRUE(found) << moment.name << " at " << n;
      lab.known = found->full_needed.empty() ? std::move(found->sweep) : lab.full();
      ASSERT_TRUE(look_until_quiet(lab)) << moment.name << " at " << n;
      ASSERT_EQ(find_difference(lab.full(), lab.known), "") << moment.name << " at " << n;
      if (n > 400) FAIL() << moment.name << ": no end";
    }
  }
}

// Under an M_Key that is not ours, which lets Gets pass.
TEST(PartialDiscoveryFaults, SwitchesWherePortStateChangeCannotBeClearedAreReadAllTheSame) {
  PartialLab lab(sim::load_fabric(kFabric).value());
  lab.bring_up();
  std::vector<Guid> locked;
  for (const char* const name : {"sw-2", "sw-3", "sw-5"}) {
    const NodeIdx node = *lab.known.fabric->find_node(lab.guid(name));
    PortInfo own = lab.fabric.port_info(lab.node(name), port(0));
    own.m_key = MKey{0xdef};
    own.m_key_protect_bits = 1;
    SmpRequest request{.route = SmpRoute::directed((*lab.known.path)[node]),
                       .method = Method::Set,
                       .attribute = AttributeId::PortInfo};
    encode_port_info(set_body(own, PortState::NoChange), request.data);
    ASSERT_TRUE(lab.call(request));
    locked.push_back(lab.guid(name));
  }
  lab.fabric.set_node(lab.node("sw-7"), false);
  lab.fabric.set_link(lab.node("sw-2"), port(1), false);
  lab.fabric.set_link(lab.node("sw-3"), port(1), false);
  lab.fabric.set_link(lab.node("sw-5"), port(1), false);
  auto found = lab.partial(lab.poll().all());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->full_needed, "");
  EXPECT_TRUE(std::ranges::includes(found->reread, locked));
  const SweepReport all = lab.full();
  EXPECT_EQ(find_difference(all, found->sweep), "");
  for (const Guid guid : locked) {
    const auto node = all.fabric->find_node(guid);
    ASSERT_TRUE(node) << guid.value();
    EXPECT_TRUE(all.fabric->switch_info[all.fabric->switch_of[*node]].port_state_change);
  }
  // The next look finds the bit as it was, and what changed since.
  lab.known = std::move(found->sweep);
  lab.fabric.set_link(lab.node("sw-2"), port(1), true);
  found = lab.partial(lab.raised());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->full_needed, "");
  EXPECT_EQ(find_difference(lab.full(), found->sweep), "");
  EXPECT_EQ(found->delta.ports_up.size(), 2u);
}

}  // namespace partial_discovery_faults_test
}  // namespace smd::test
