// Random joins and leaves with failures in between. After every Set of a multicast table the
// registers of the simulated switches are judged as they are then, by code of this file and of
// flood.h: no packet goes round or comes twice, and no channels wait for each other in a circle,
// unicast routes and all trees taken together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "smd/base/rng.h"
#include "tests/sim/multicast_site.h"

namespace smd::test {
namespace {

/// Channels between switches, by the port that they leave from, and who waits for whom.
class Waiting {
 public:
  Waiting(const sim::SimFabric& fabric, bool with_unicast) : fabric_(fabric) {
    const sim::FabricSpec& spec = fabric.spec();
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      if (spec.nodes[n].type != NodeType::Switch) continue;
      for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
        const auto far = next_of(n, p);
        if (!far) continue;
        const auto [at, in] = *far;
        if (with_unicast) add_unicast(n, p, at, in);
        for (std::size_t mlid = 0; mlid < 64; ++mlid) {
          if (!copies(n, p, mlid)) continue;
          for (unsigned out = 1; out <= spec.nodes[at].num_ports(); ++out) {
            if (out != in && copies(at, out, mlid)) add(n, p, at, in, out);
          }
        }
      }
    }
  }

  /// Empty: there is none.
  [[nodiscard]] std::string find_circle() {
    for (const auto& [channel, unused] : next_) {
      if (std::string found = search(channel); !found.empty()) return found;
    }
    return {};
  }

 private:
  using Channel = std::pair<std::uint32_t, unsigned>;

  [[nodiscard]] std::optional<Channel> next_of(std::uint32_t node, unsigned port) const {
    const sim::FabricSpec& spec = fabric_.spec();
    const PortNum number{static_cast<std::uint8_t>(port)};
    if (!fabric_.link_up(node, number)) return {};
    const sim::PortSpec& cable = spec.nodes[node].ports[port];
    if (spec.nodes[cable.peer_node].type != NodeType::Switch) return {};
    return Channel{cable.peer_node, cable.peer_port.value()};
  }

  [[nodiscard]] bool copies(std::uint32_t node, unsigned port, std::size_t mlid) const {
    const auto& table = fabric_.node_state(node).mft[port / 16];
    return mlid < table.size() && (table[mlid] >> port % 16 & 1) != 0;
  }

  void add_unicast(std::uint32_t node, unsigned port, std::uint32_t at, unsigned in) {
    for (std::uint16_t lid = 1; lid < 200; ++lid) {
      if (fabric_.lft(node, Lid{lid}).value() != port) continue;
      const unsigned out = fabric_.lft(at, Lid{lid}).value();
      if (out != 0 && out <= fabric_.spec().nodes[at].num_ports()) add(node, port, at, in, out);
    }
  }

  /// A turn of which every SL is mapped to VL 15 discards its packets.
  void add(std::uint32_t node, unsigned port, std::uint32_t at, unsigned in, unsigned out) {
    const SlToVl row = fabric_.node_state(at).read_sl_to_vl(
        PortNum{static_cast<std::uint8_t>(in)}, PortNum{static_cast<std::uint8_t>(out)});
    const bool blocked = std::ranges::all_of(row, [](Vl vl) { return vl == kManagementVl; });
    if (!blocked && next_of(at, out)) next_[{node, port}].insert({at, out});
  }

  std::string search(Channel start) {
    if (done_.contains(start)) return {};
    if (!open_.insert(start).second)
      return fmt::format("circle by {}:{}", start.first, start.second);
    if (const auto found = next_.find(start); found != next_.end()) {
      for (const Channel& next : found->second) {
        if (std::string circle = search(next); !circle.empty()) return circle;
      }
    }
    open_.erase(start);
    done_.insert(start);
    return {};
  }

  const sim::SimFabric& fabric_;
  std::map<Channel, std::set<Channel>> next_;
  std::set<Channel> open_, done_;
};

/// Looks at the registers whenever a multicast table is other than it was.
class JudgedSite : public Site {
 public:
  using Site::Site;

  void bring_up() {
    watching = false;
    Site::bring_up();
    for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n)
      held_.push_back(fabric.node_state(n).mft);
    judge_ = fabric.on_change([this](std::uint32_t node, sim::FabricChange what) {
      if (what == sim::FabricChange::Routes) look(node);
    });
  }

  std::string fault;  // the first
  unsigned sets = 0;  // that were judged

 private:
  void look(std::uint32_t node) {
    const auto& now = fabric.node_state(node).mft;
    if (now == held_[node]) return;
    held_[node] = now;
    // What a switch does that no sweep finds is not counted with.
    const bool whole = snapshot().switch_count() == count_switches();
    if (!fault.empty() || !whole) return;
    ++sets;
    const bool apart = manager.in_force()->multicast_vl.has_value();
    fault = Waiting(fabric, !apart).find_circle();
    std::vector<PortIdx> senders;
    for (const PortIdx port : snapshot().peer.indices()) {
      if (snapshot().is_end_port(port)) senders.push_back(port);
    }
    for (std::uint16_t n = 0; n < 8 && fault.empty(); ++n) {
      const Lid mlid{static_cast<std::uint16_t>(kFirstMlid.value() + n)};
      fault = find_repetition(
          snapshot(), [&](SwitchIdx sw, PortNum port) { return copies(mlid, sw, port); }, senders);
    }
  }

  [[nodiscard]] std::size_t count_switches() const {
    return static_cast<std::size_t>(
        std::ranges::count(fabric.spec().nodes, NodeType::Switch, &sim::NodeSpec::type));
  }

  using Tables = std::remove_cvref_t<decltype(sim::NodeState::mft)>;
  std::vector<Tables> held_;
  sim::ObserverId judge_{};
};

struct Kind {
  const char* fabric;
  const char* engine;
  TreeShape trees;
};

constexpr std::array<Kind, 13> kKinds = {{
    {"fat-tree:k=4,levels=3", "updn", TreeShape::UpDown},
    {"torus:dims=4.4", "updn", TreeShape::UpDown},
    {"irregular:switches=12,ports=6,links=3,hosts=2,seed=3", "updn", TreeShape::UpDown},
    {"torus:dims=4.3,mesh=1", "hamiltonian", TreeShape::DualPath},
    {"torus:dims=4.3,mesh=1", "hamiltonian", TreeShape::PathShared},
    {"torus:dims=4.3,mesh=1", "dor", TreeShape::UpDown},
    {"hamming:dims=3.3", "hamming", TreeShape::UpDown},
    {"fat-tree:k=4,levels=3", "ftree", TreeShape::UpDown},
    {"torus:dims=4.4", "updn", TreeShape::BySender},
    {"irregular:switches=12,ports=6,links=3,hosts=2,seed=3", "updn", TreeShape::BySender},
    {"torus:dims=4.3,mesh=1", "dor", TreeShape::BySender},
    {"torus:dims=4.4,mesh=1", "hamiltonian", TreeShape::MultiPath},
    {"torus:dims=4.3,mesh=1", "dor", TreeShape::MultiPath},
}};

bool looks_at_senders(const Kind& kind) {
  return kind.trees == TreeShape::BySender || kind.trees == TreeShape::MultiPath;
}

/// A cable between switches that are not the manager's, by one end of it.
std::optional<std::pair<std::uint32_t, PortNum>> pick_cable(const Site& site, Rng& rng, bool up) {
  const sim::FabricSpec& spec = site.fabric.spec();
  const std::uint32_t own = spec.nodes[spec.sm_node].ports[spec.sm_port.value()].peer_node;
  std::vector<std::pair<std::uint32_t, PortNum>> found;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch || n == own) continue;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const sim::PortSpec& cable = spec.nodes[n].ports[p];
      if (cable.peer_node == sim::kNoNode || cable.peer_node == own || cable.peer_node < n ||
          spec.nodes[cable.peer_node].type != NodeType::Switch)
        continue;
      if (site.fabric.link_up(n, port) == up) found.emplace_back(n, port);
    }
  }
  if (found.empty()) return {};
  return found[rng.below(found.size())];
}

/// The one who only sends to a group that others receive comes, goes, is another one, begins to
/// receive or stops, or has company.
void change_sender(JudgedSite& site, Rng& rng) {
  const std::uint64_t group = Site::kOfPrograms + rng.below(2);
  const auto find = [&](std::size_t host) -> std::uint8_t {
    const Group* known = site.manager.multicast().groups().find(Site::group_id(group));
    if (known == nullptr) return 0;
    const auto member = known->members.find(site.guid(host));
    return member == known->members.end() ? std::uint8_t{0} : member->second.join_state;
  };
  const std::size_t somebody = rng.below(site.hosts.size());
  std::vector<std::size_t> senders;
  for (std::size_t host = 0; host < site.hosts.size(); ++host) {
    if ((find(host) & 12) != 0) senders.push_back(host);
  }
  if (senders.empty()) return site.join(somebody, group, rng.below(2) == 0 ? 4 : 8);
  const std::size_t sender = senders.front();
  const auto sends = static_cast<std::uint8_t>(find(sender) & 12);
  switch (rng.below(5)) {
    case 0:
      return site.leave(sender, group, sends);
    case 1:
      site.leave(sender, group, sends);
      return site.join(somebody, group, 8);
    case 2:
      return (find(sender) & 1) != 0 ? site.leave(sender, group, 1) : site.join(sender, group, 1);
    case 3:
      return site.join(somebody, group, 8);
    default:
      return find(somebody) == 1 ? site.leave(somebody, group, 1) : site.join(somebody, group, 1);
  }
}

void step(JudgedSite& site, Rng& rng, bool looks_at_senders) {
  if (looks_at_senders && rng.below(2) == 0) return change_sender(site, rng);
  const std::uint64_t group = 0x101 + rng.below(4);
  const std::size_t host = rng.below(site.hosts.size());
  const std::uint64_t what = rng.below(10);
  if (what < 5) return site.join(host, group, rng.below(4) == 0 ? 4 : 1);
  if (what < 8) {
    const auto known = site.wanted.find(group);
    if (known == site.wanted.end() || known->second.empty()) return;
    for (std::size_t h = 0; h < site.hosts.size(); ++h) {
      const auto member = known->second.find(site.guid(h));
      if (member != known->second.end()) return site.leave(h, group, member->second ? 1 : 4);
    }
    return;
  }
  if (const auto cable = pick_cable(site, rng, what == 8))
    site.fabric.set_link(cable->first, cable->second, what != 8);
  site.manager.request_sweep("test");
}

struct Sequence {
  std::string fault;
  unsigned sets = 0;
  unsigned by_sender = 0;  // times that a tree was one for an only sender
};

Sequence run_sequence(std::uint64_t seed) {
  const Kind& kind = kKinds[seed % kKinds.size()];
  Rng rng(seed);
  JudgedSite site(kind.fabric, kind.engine, kind.trees);
  site.bring_up();
  Sequence out;
  if (looks_at_senders(kind)) {
    for (std::size_t host = 0; host < site.hosts.size(); ++host) {
      for (std::uint64_t group = Site::kOfPrograms; group < Site::kOfPrograms + 2; ++group) {
        if (rng.below(2) == 0) site.join(host, group);
      }
    }
  }
  const auto look = [&] {
    const MulticastManager& multicast = site.manager.multicast();
    for (const auto& [mlid, masks] : multicast.masks()) {
      const bool one = multicast.sender_of(mlid) != kNone<PortIdx>;
      out.by_sender += one ? 1 : 0;
      if (one && !looks_at_senders(kind)) site.fault = "a tree for one sender, unasked";
    }
    // What no cycle took in, or could not be read, is made good by the next.
    const bool in_force = site.manager.last_cycle() && !site.manager.last_cycle()->error;
    if (site.fault.empty() && in_force && multicast.stats().unmet == 0)
      site.fault = site.find_undelivered(looks_at_senders(kind));
  };
  for (unsigned turn = 0; turn < 24 && site.fault.empty(); ++turn) {
    step(site, rng, looks_at_senders(kind));
    // What follows may find the writer at work.
    if (rng.below(3) == 0) {
      site.run_for(Duration{std::chrono::microseconds(rng.below(3000))});
    } else if (!site.settle()) {
      return {.fault = "no end"};
    } else {
      look();
    }
  }
  if (!site.settle()) return {.fault = "no end"};
  site.run_for(6s);
  if (!site.settle()) return {.fault = "no end"};
  look();
  out.fault = site.fault;
  out.sets = site.sets;
  return out;
}

TEST(MulticastChanges, NoMomentWithALoopADuplicateOrACircle) {
  constexpr std::uint64_t kSequences = 200;
  unsigned sets = 0;
  unsigned by_sender = 0;
  for (std::uint64_t seed = 1; seed <= kSequences; ++seed) {
    const Kind& kind = kKinds[seed % kKinds.size()];
    const Sequence done = run_sequence(seed);
    EXPECT_EQ(done.fault, "") << "seed " << seed << ": " << kind.engine << " on " << kind.fabric;
    sets += done.sets;
    by_sender += done.by_sender;
  }
  RecordProperty("sets", static_cast<int>(sets));
  RecordProperty("by_sender", static_cast<int>(by_sender));
  EXPECT_GT(sets, 2000u);
  EXPECT_GT(by_sender, 200u);
}

// Switches that answer no Set of a multicast table keep a round waiting, and routes are not to.
TEST(MulticastChanges, RoutesWaitNoLongerThanTheirPatienceForTrees) {
  Settings settings = Site::settings_of("dor", TreeShape::UpDown);
  settings.smp.retries = 20;
  Site site("torus:dims=4.3,mesh=1", std::move(settings));
  site.bring_up();
  for (const std::size_t host : {0, 3, 7}) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  bool lost = false;
  std::optional<TimePoint> first_entry;
  site.tap.on_send = [&](const Smp& smp) {
    if (smp.method != Method::Set) return true;
    if (is_about(smp, AttributeId::LinearForwardingTable) && !first_entry)
      first_entry = site.runtime.now();
    lost = lost || is_about(smp, AttributeId::MulticastForwardingTable);
    return !is_about(smp, AttributeId::MulticastForwardingTable);
  };
  site.join(9, 0x101);
  ASSERT_TRUE(site.run_until([&] { return lost; }, 5s));
  Rng rng(1);
  const auto cable = pick_cable(site, rng, true);
  site.fabric.set_link(cable->first, cable->second, false);
  const TimePoint cut = site.runtime.now();
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.run_until([&] { return first_entry.has_value(); }, 60s));
  EXPECT_LE(*first_entry - cut, 250ms);
  site.tap.on_send = nullptr;
  ASSERT_TRUE(site.run_until([&] { return site.find_misdelivery().empty(); }, 120s));
}

// Trees are taken away for routes of other directions, and that takes longer than routes wait.
TEST(MulticastChanges, TreesComeBackWhenTheirWithdrawalOutlastsThePatienceOfRoutes) {
  Settings settings = Site::settings_of("updn", TreeShape::UpDown);
  settings.smp.retries = 20;
  Site site("torus:dims=4.4", settings);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  ASSERT_EQ(site.find_misdelivery(), "");
  std::optional<TimePoint> first_set;
  TimePoint first_entry;
  site.tap.on_send = [&](const Smp& smp) {
    if (smp.method != Method::Set) return true;
    if (is_about(smp, AttributeId::LinearForwardingTable) && first_entry == TimePoint{})
      first_entry = site.runtime.now();
    if (!is_about(smp, AttributeId::MulticastForwardingTable)) return true;
    if (!first_set) first_set = site.runtime.now();
    return site.runtime.now() - *first_set > 500ms;
  };
  const SwitchIdx root{static_cast<std::uint32_t>(site.snapshot().switch_count() / 2)};
  settings.engine_options.roots = {site.snapshot().node_guid[site.snapshot().switch_node[root]]};
  site.manager.adopt(settings);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.run_until([&] { return first_set.has_value(); }, 5s));
  ASSERT_EQ(first_entry, TimePoint{}) << "trees make way first";
  ASSERT_TRUE(site.settle());
  ASSERT_GT(first_entry, *first_set) << "routes are others";
  EXPECT_EQ(site.find_misdelivery(), "");
}

// Trees lie across the new directions and are taken away; what they copied is in no mixture of the
// plan.
TEST(MulticastChanges, RoutesWaitUntilWhatWithdrawnTreesCopiedHasLeft) {
  constexpr Duration kDrain = 50ms;
  Settings settings = Site::settings_of("updn", TreeShape::UpDown);
  settings.strategy.writing.drain_time = kDrain;
  Site site("torus:dims=4.4", settings);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); host += 2) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  std::optional<TimePoint> withdrawn, first_entry;
  site.tap.on_send = [&](const Smp& smp) {
    if (smp.method != Method::Set || first_entry) return true;
    if (is_about(smp, AttributeId::MulticastForwardingTable)) withdrawn = site.runtime.now();
    if (is_about(smp, AttributeId::LinearForwardingTable) ||
        is_about(smp, AttributeId::SlToVlMappingTable))
      first_entry = site.runtime.now();
    return true;
  };
  const sim::FabricSpec& spec = site.fabric.spec();
  for (const sim::NodeSpec& node : spec.nodes) {
    if (node.type == NodeType::Switch) settings.engine_options.roots = {node.guid};
  }
  site.manager.adopt(settings);
  site.manager.request_sweep("configuration");
  ASSERT_TRUE(site.settle());
  ASSERT_TRUE(withdrawn && first_entry);
  EXPECT_GE(*first_entry - *withdrawn, kDrain);
  site.tap.on_send = nullptr;
  EXPECT_EQ(site.find_misdelivery(), "");
}

}  // namespace
}  // namespace smd::test
