// Random fabrics, random changes: what partial discovery makes of them is what a discovery from
// nothing finds, in every field.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>

#include "smd/base/rng.h"
#include "smd/fabric/builder.h"
#include "tests/sim/partial_lab.h"

namespace smd::test {
namespace {

using sim::add_node;
using sim::connect;
using sim::FabricSpec;

constexpr unsigned kSwitchPorts = 8;

std::uint64_t below(Rng& rng, std::uint64_t n) { return rng.below(n); }

std::optional<PortNum> free_port(Rng& rng, const FabricSpec& spec, std::uint32_t node) {
  std::vector<PortNum> open;
  for (unsigned p = 1; p <= spec.nodes[node].num_ports(); ++p) {
    if (spec.nodes[node].ports[p].peer_node == sim::kNoNode) open.push_back(port(p));
  }
  if (open.empty()) return std::nullopt;
  return open[below(rng, open.size())];
}

/// A manager's host on the first of up to 12 switches; parallel links, loop-back cables, islands,
/// adapters with one to three ports, some without a cable.
FabricSpec random_fabric(Rng& rng) {
  FabricSpec spec;
  const auto manager = add_node(spec, NodeType::Ca, "manager", Guid{0x100000}, 2);
  const auto switches = static_cast<std::uint32_t>(1 + below(rng, 12));
  for (std::uint32_t s = 1; s <= switches; ++s) {
    add_node(spec, NodeType::Switch, fmt::format("S{}", s), Guid{0x1000 + s}, kSwitchPorts);
  }
  connect(spec, manager, port(1), 1, port(1));
  const auto cable = [&](std::uint32_t a, std::uint32_t b) {
    const auto from = free_port(rng, spec, a);
    if (!from) return;
    const auto to = free_port(rng, spec, b);
    if (!to || (a == b && *from == *to)) return;
    connect(spec, a, *from, b, *to);
  };
  const auto any_switch = [&] { return static_cast<std::uint32_t>(1 + below(rng, switches)); };
  for (std::uint32_t s = 2; s <= switches; ++s) {
    if (below(rng, 8) != 0) cable(s, static_cast<std::uint32_t>(1 + below(rng, s - 1)));
  }
  for (std::uint64_t l = below(rng, 2 * switches); l > 0; --l) cable(any_switch(), any_switch());
  for (std::uint64_t h = below(rng, 10); h > 0; --h) {
    const auto ports = static_cast<unsigned>(1 + below(rng, 3));
    const auto host =
        add_node(spec, NodeType::Ca, fmt::format("H{}", h), Guid{0x200000 + 0x10 * h}, ports);
    for (unsigned p = 0; p < ports; ++p) cable(host, any_switch());
  }
  if (below(rng, 3) == 0) cable(manager, any_switch());
  return spec;
}

/// One fault or repair; the manager's own node and first cable stay as they are.
std::string change_something(Rng& rng, PartialLab& lab) {
  const FabricSpec& spec = lab.fabric.spec();
  const auto node = static_cast<std::uint32_t>(1 + below(rng, spec.nodes.size() - 1));
  const PortNum at = port(static_cast<unsigned>(1 + below(rng, spec.nodes[node].num_ports())));
  const std::string where = fmt::format("{}:{}", spec.nodes[node].description, at.value());
  const auto& cable = spec.nodes[node].ports[at.value()];
  const bool own = cable.peer_node == 0 && cable.peer_port == port(1);
  switch (below(rng, 7)) {
    case 0:
    case 1:
      if (own || cable.peer_node == sim::kNoNode) return "";
      lab.fabric.set_link(node, at, false);
      return "down " + where;
    case 2:
      if (own || cable.peer_node == sim::kNoNode) return "";
      lab.fabric.set_link(node, at, false);
      lab.fabric.set_link(node, at, true);
      return "flap " + where;
    case 3:
      if (cable.peer_node == sim::kNoNode) return "";
      lab.fabric.set_link(node, at, true);
      return "up " + where;
    case 4:
      if (node == 1) return "";
      lab.fabric.set_node(node, false);
      return "off " + where;
    case 5:
      if (node == 1) return "";
      lab.fabric.set_node(node, false);
      lab.fabric.set_node(node, true);
      return "restart " + where;
    default: {
      const auto other = static_cast<std::uint32_t>(1 + below(rng, spec.nodes.size() - 1));
      const auto to = free_port(rng, spec, other);
      if (own || cable.peer_node == sim::kNoNode || !to || (other == node && *to == at)) return "";
      if (cable.peer_node == node && cable.peer_port == at) return "";
      lab.fabric.move_cable(node, at, other, *to);
      return fmt::format("move {} to {}:{}", where, spec.nodes[other].description, to->value());
    }
  }
}

/// Some cables and nodes are missing while the subnet comes up.
void break_before(Rng& rng, PartialLab& lab) {
  for (std::uint64_t i = below(rng, 4); i > 0; --i) {
    const FabricSpec& spec = lab.fabric.spec();
    const auto node = static_cast<std::uint32_t>(1 + below(rng, spec.nodes.size() - 1));
    const PortNum at = port(static_cast<unsigned>(1 + below(rng, spec.nodes[node].num_ports())));
    const auto& cable = spec.nodes[node].ports[at.value()];
    if (cable.peer_node == sim::kNoNode || cable.peer_node == 0) continue;
    if (node != 1 && below(rng, 3) == 0) {
      lab.fabric.set_node(node, false);
    } else {
      lab.fabric.set_link(node, at, false);
    }
  }
}

/// What is known of who sends data: by device, by description, and by the operator's rules.
struct KnownTraffic {
  KnownTraffic(std::uint64_t seed, FabricSpec& spec) {
    Rng rng(seed);
    SiteNodes given;
    for (sim::NodeSpec& node : spec.nodes) {
      const bool is_switch = node.type == NodeType::Switch;
      const std::uint64_t kind = below(rng, 6);
      switch (is_switch && kind != 3 ? 4 : kind) {
        case 0:
          node.device_id = 0xcf09;
          break;
        case 1:
          names[node.guid] = "Mellanox Technologies Aggregation Node";
          break;
        case 2:
          given.no_data.push_back(fmt::format("0x{:x}", node.guid.value()));
          break;
        case 3:
          given.weights.emplace_back(is_switch ? node.guid : node.ports[1].guid,
                                     static_cast<std::uint32_t>(below(rng, 3)));
          break;
        default:
          break;
      }
    }
    std::ranges::sort(given.weights);
    if (below(rng, 4) != 0) rules = std::make_shared<const SiteNodes>(std::move(given));
  }

  /// As a cycle takes in what was found.
  void add_to(SweepReport& report) const {
    report.fabric = with_descriptions(*report.fabric, names, rules);
  }

  std::unordered_map<Guid, std::string> names;
  std::shared_ptr<const SiteNodes> rules;
};

TEST(PartialDiscoveryProperty, FindsWhatAFullDiscoveryFinds) {
  std::uint64_t partial_smps = 0;
  std::uint64_t full_smps = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Rng rng(seed);
    FabricSpec spec = random_fabric(rng);
    const KnownTraffic traffic(seed, spec);
    PartialLab lab(std::move(spec), {.seed = seed});
    break_before(rng, lab);
    lab.bring_up();
    traffic.add_to(lab.known);
    for (unsigned round = 0; round < 2; ++round) {
      std::string what;
      for (std::uint64_t i = 1 + below(rng, 5); i > 0; --i)
        what += change_something(rng, lab) + "; ";
      const auto suspects = lab.poll().all();
      const auto before = lab.client.stats().requests();
      auto found = lab.partial(suspects);
      partial_smps += lab.client.stats().requests() - before;
      ASSERT_TRUE(found) << "seed " << seed << ": " << what;
      ASSERT_EQ(found->full_needed, "") << "seed " << seed << ": " << what;
      const auto before_full = lab.client.stats().requests();
      SweepReport expected = lab.full();
      full_smps += lab.client.stats().requests() - before_full;
      ASSERT_EQ(found->sweep.fabric->site_nodes, traffic.rules);
      ASSERT_EQ(check_invariants(*found->sweep.fabric), "") << "seed " << seed << ": " << what;
      traffic.add_to(expected);
      traffic.add_to(found->sweep);
      ASSERT_EQ(find_difference(expected, found->sweep), "") << "seed " << seed << ": " << what;
      const Delta delta = diff_fabrics(*lab.known.fabric, *expected.fabric);
      ASSERT_EQ(found->delta.nodes_new, delta.nodes_new);
      ASSERT_EQ(found->delta.nodes_gone, delta.nodes_gone);
      ASSERT_EQ(found->delta.ports_down, delta.ports_down);
      ASSERT_EQ(found->delta.ports_up, delta.ports_up);
      // The second round starts from what the first has found, brought up as a manager does.
      lab.adopt(found->sweep);
      traffic.add_to(lab.known);
    }
  }
  EXPECT_LT(partial_smps, full_smps);
}

}  // namespace
}  // namespace smd::test
