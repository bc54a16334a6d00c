// The oracle that follows change by change, one that reads everything again, and one that is slow
// and simple agree after every event of a random life.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "sim-backend/management/fabric_oracle.h"
#include "smd/base/rng.h"
#include "smd/mad/tables.h"
#include "tests/unit/sim-management/rig.h"

namespace smd::sim {
namespace {

using test::port_num;
using test::request;

constexpr unsigned kLids = 20;

struct End {
  std::uint32_t node;
  unsigned port;
};

/// Straight from the definitions.
class Slow {
 public:
  explicit Slow(const SimFabric& fabric) : fabric_(fabric), spec_(fabric.spec()) {}

  [[nodiscard]] bool carries(End from) const {
    if (!fabric_.link_up(from.node, port_num(from.port))) return false;
    const End to = peer(from);
    const PortState far = state(to);
    return state(from) == PortState::Active &&
           (far == PortState::Armed || far == PortState::Active);
  }

  /// Where data goes that came into a switch; port 0 when it is discarded.
  [[nodiscard]] unsigned exit_of(End in, unsigned lid, unsigned sl) const {
    const unsigned out = fabric_.lft(in.node, test::lid_of(lid)).value();
    if (out == 0 || out > spec_.nodes[in.node].num_ports() || out == in.port) return 0;
    if (!carries({in.node, out}) || lane(in, out, sl) == 15) return 0;
    return out;
  }

  [[nodiscard]] unsigned lane(End in, unsigned out, unsigned sl) const {
    const unsigned vl = fabric_.sl_to_vl(in.node, port_num(in.port), port_num(out))[sl].value();
    return vl < data_vls(fabric_.port_info(in.node, port_num(out)).operational_vls) ? vl : 15;
  }

  [[nodiscard]] bool shares_lids() const {
    std::set<Lid> seen;
    for (const End host : hosts()) {
      const Lid lid = fabric_.port_info(host.node, port_num(host.port)).lid;
      if (lid != kUnassignedLid && !seen.insert(lid).second) return true;
    }
    return false;
  }

  [[nodiscard]] std::uint64_t connected() const {
    std::uint64_t pairs = 0;
    for (const End from : hosts()) {
      for (const End to : hosts()) {
        const unsigned lid = fabric_.port_info(to.node, port_num(to.port)).lid.value();
        if (from.node == to.node || lid == 0 || !carries(from)) continue;
        End at = peer(from);
        for (unsigned hop = 0; hop < 100 && is_switch(at.node); ++hop) {
          const unsigned out = exit_of(at, lid, 0);
          if (out == 0) break;
          at = peer({at.node, out});
        }
        pairs += at.node == to.node && at.port == to.port ? 1 : 0;
      }
    }
    return pairs;
  }

  [[nodiscard]] bool loops() const {
    for (unsigned lid = 1; lid < kLids; ++lid) {
      for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
        if (!is_switch(n)) continue;
        End at{n, 0};
        unsigned hops = 0;
        while (hops < 100 && is_switch(at.node)) {
          const unsigned out = exit_of(at, lid, 0);
          if (out == 0) break;
          at = peer({at.node, out});
          ++hops;
        }
        if (hops == 100) return true;
      }
    }
    return false;
  }

  /// Channels on a cycle: those that reach themselves.
  [[nodiscard]] std::uint64_t on_cycle() const {
    using Lane = std::tuple<std::uint32_t, unsigned, unsigned>;
    std::map<Lane, std::set<Lane>> next;
    for (std::uint32_t u = 0; u < spec_.nodes.size(); ++u) {
      if (!is_switch(u)) continue;
      for (unsigned lid = 1; lid < kLids; ++lid) {
        for (unsigned sl = 0; sl < 16; ++sl) {
          const unsigned first = fabric_.lft(u, test::lid_of(lid)).value();
          if (first == 0 || first > spec_.nodes[u].num_ports() || !carries({u, first})) continue;
          const End there = peer({u, first});
          if (!is_switch(there.node)) continue;
          const unsigned second = exit_of(there, lid, sl);
          if (second == 0 || !is_switch(peer({there.node, second}).node)) continue;
          for (unsigned in = 0; in <= spec_.nodes[u].num_ports(); ++in) {
            if (in == first || (in != 0 && !fabric_.link_up(u, port_num(in)))) continue;
            const unsigned vl = lane({u, in}, first, sl);
            if (vl == 15) continue;
            next[{u, first, vl}].insert({there.node, second, lane(there, second, sl)});
          }
        }
      }
    }
    std::set<std::pair<std::uint32_t, unsigned>> found;
    for (const auto& [start, unused] : next) {
      std::set<Lane> seen;
      std::vector<Lane> queue{start};
      while (!queue.empty()) {
        const Lane at = queue.back();
        queue.pop_back();
        for (const Lane& to : next[at]) {
          if (seen.insert(to).second) queue.push_back(to);
        }
      }
      if (seen.contains(start)) found.insert({std::get<0>(start), std::get<1>(start)});
    }
    return found.size();
  }

 private:
  [[nodiscard]] bool is_switch(std::uint32_t node) const {
    return spec_.nodes[node].type == NodeType::Switch;
  }

  [[nodiscard]] End peer(End from) const {
    const PortSpec& end = spec_.nodes[from.node].ports[from.port];
    return {end.peer_node, end.peer_port.value()};
  }

  [[nodiscard]] PortState state(End at) const {
    return fabric_.port_info(at.node, port_num(at.port)).state();
  }

  [[nodiscard]] std::vector<End> hosts() const {
    std::vector<End> out;
    for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
      for (unsigned p = 1; !is_switch(n) && p <= spec_.nodes[n].num_ports(); ++p) {
        out.push_back({n, p});
      }
    }
    return out;
  }

  const SimFabric& fabric_;
  const FabricSpec& spec_;
};

/// A manager without sense, on h0.
class Life {
 public:
  explicit Life(std::uint64_t seed) : rng_(seed), rig_(draw()), oracle_(rig_.fabric) {
    rig_.fabric.on_change(
        [this](std::uint32_t node, FabricChange what) { oracle_.update(node, what); });
    for (unsigned h = 0; h < kHosts; ++h) {
      set_port(h, 1, [&](PortInfo& info) { info.lid = test::lid_of(h + 1); });
      raise(h, 1);
      raise(h, 1);
    }
    for (unsigned sw = kHosts; sw < kHosts + kSwitches; ++sw) {
      for (unsigned p = 1; p <= 5; ++p) raise(sw, p);
      write_routes(sw);
    }
  }

  void step() {
    const unsigned what = pick(100);
    const std::uint32_t sw = kHosts + pick(kSwitches);
    const unsigned port = 1 + pick(4);
    if (what < 45) {
      write_routes(sw);
    } else if (what < 72) {
      raise(pick(kHosts + kSwitches), 1 + pick(4));
    } else if (what < 78) {
      write_row(sw, pick(5), port);
    } else if (what < 82) {
      set_port(pick(kHosts + kSwitches), port, [&](PortInfo& info) {
        info.operational_vls = static_cast<std::uint8_t>(1 + pick(3));
      });
    } else if (what < 86) {
      set_port(1 + pick(kHosts - 1), 1, [&](PortInfo& info) {
        info.lid = test::lid_of(1 + pick(kLids - 1));
      });
    } else if (what < 90) {
      set_port(sw, port, [](PortInfo& info) {
        info.port_state = static_cast<std::uint8_t>(PortState::Down);
      });
    } else if (what < 95) {
      rig_.fabric.set_link(sw, port_num(1 + pick(5)), pick(4) != 0);
    } else if (what < 99) {
      rig_.fabric.set_node(sw, pick(8) != 0);
    } else {
      rig_.fabric.move_cable(sw, port_num(port), kHosts + pick(kSwitches), port_num(1 + pick(4)));
    }
  }

  void check() {
    const Slow slow(rig_.fabric);
    FabricOracle fresh(rig_.fabric);
    ASSERT_EQ(oracle_.connectivity(), fresh.connectivity());
    ASSERT_EQ(oracle_.deadlock(), fresh.deadlock());
    ASSERT_EQ(oracle_.find_cycle(), fresh.find_cycle());
    ASSERT_EQ(oracle_.find_loop().empty(), fresh.find_loop().empty());
    if (slow.shares_lids()) return;  // then it is unclear who is meant
    ASSERT_EQ(oracle_.connectivity().connected, slow.connected());
    ASSERT_EQ(!oracle_.find_loop().empty(), slow.loops());
    ASSERT_EQ(oracle_.deadlock().on_cycle, slow.on_cycle());
    most_connected = std::max(most_connected, slow.connected());
    most_on_cycle = std::max(most_on_cycle, oracle_.deadlock().on_cycle);
    loops = loops || slow.loops();
  }

  std::uint64_t most_connected = 0;
  std::uint64_t most_on_cycle = 0;
  bool loops = false;

 private:
  static constexpr unsigned kHosts = 5;
  static constexpr unsigned kSwitches = 5;

  unsigned pick(unsigned below) { return static_cast<unsigned>(rng_.below(below)); }

  FabricSpec draw() {
    test::Drawing drawing;
    for (unsigned i = 0; i < kHosts; ++i) drawing.ca("h" + std::to_string(i));
    for (unsigned i = 0; i < kSwitches; ++i) drawing.sw("s" + std::to_string(i), 5);
    for (unsigned i = 0; i < kSwitches; ++i) {
      drawing.cable(kHosts + i, 5, i, 1);
      drawing.cable(kHosts + i, 1, kHosts + (i + 1) % kSwitches, 2);
    }
    drawing.cable(kHosts, 3, kHosts + 2, 3);
    drawing.cable(kHosts, 4, kHosts + 2, 4);
    drawing.cable(kHosts + 1, 3, kHosts + 3, 3);
    return drawing.spec();
  }

  /// A directed request along some way that works now; lost when there is none.
  void ask(std::uint32_t node, Smp smp) {
    std::map<std::uint32_t, std::vector<unsigned>> ways{{0, {}}};
    std::vector<std::uint32_t> queue{0};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeSpec& at = rig_.fabric.spec().nodes[queue[i]];
      if (at.type != NodeType::Switch && queue[i] != 0) continue;
      for (unsigned p = 1; p <= at.num_ports(); ++p) {
        if (!rig_.fabric.link_up(queue[i], port_num(p))) continue;
        const std::uint32_t to = at.ports[p].peer_node;
        if (ways.contains(to)) continue;
        ways[to] = ways[queue[i]];
        ways[to].push_back(p);
        queue.push_back(to);
      }
    }
    if (!ways.contains(node)) return;
    smp.directed = true;
    for (const unsigned hop : ways[node]) {
      smp.initial_path[++smp.hop_count] = static_cast<std::uint8_t>(hop);
    }
    answer_ = rig_.ask(smp);
  }

  void write_routes(std::uint32_t sw) {
    ask(sw, request(Method::Get, AttributeId::LinearForwardingTable));
    if (!answer_) return;
    LftBlock block = decode_lft_block(answer_->data).value();
    for (unsigned i = 0; i < 6; ++i) {
      const unsigned lid = 1 + pick(pick(4) == 0 ? kLids - 1 : kHosts);
      const bool at_home = lid == sw - kHosts + 1 && pick(4) != 0;
      block[lid] = port_num(at_home ? 5 : 1 + pick(3));
    }
    Smp set = request(Method::Set, AttributeId::LinearForwardingTable);
    encode_lft_block(block, set.data);
    ask(sw, set);
    Smp top = request(Method::Set, AttributeId::SwitchInfo);
    encode_switch_info({.linear_fdb_top = static_cast<std::uint16_t>(kLids - 1 - 4 * pick(2)),
                        .port_state_change = true},
                       top.data);
    ask(sw, top);
  }

  void write_row(std::uint32_t sw, unsigned in, unsigned out) {
    Smp set = request(Method::Set,
                      AttributeId::SlToVlMappingTable,
                      encode_modifier(SlToVlModifier{port_num(in), port_num(out)}));
    SlToVl row;
    const unsigned kind = pick(6);
    for (Vl& vl : row) {
      vl = Vl{static_cast<std::uint8_t>(kind == 0 ? 15 : kind < 5 ? 0 : pick(2))};
    }
    encode_sl_to_vl(row, set.data);
    ask(sw, set);
  }

  template <class Change>
  void set_port(std::uint32_t node, unsigned port, Change change) {
    if (node < kHosts) port = 1;
    answer_.reset();
    ask(node, request(Method::Get, AttributeId::PortInfo, port));
    if (!answer_) return;
    PortInfo info = decode_port_info(answer_->data).value();
    info.port_state = info.port_physical_state = 0;
    info.link_width_enabled = info.link_speed_enabled = info.link_speed_ext_enabled = 0;
    change(info);
    Smp set = request(Method::Set, AttributeId::PortInfo, port);
    encode_port_info(info, set.data);
    ask(node, set);
  }

  void raise(std::uint32_t node, unsigned port) {
    for (const PortState state : {PortState::Armed, PortState::Active}) {
      set_port(
          node, port, [&](PortInfo& info) { info.port_state = static_cast<std::uint8_t>(state); });
      if (pick(8) == 0) return;
    }
  }

  Rng rng_;
  test::Rig rig_;
  FabricOracle oracle_;
  std::optional<Smp> answer_;
};

TEST(FabricOracleProperty, FollowsEveryChange) {
  std::uint64_t connected = 0;
  std::uint64_t on_cycle = 0;
  unsigned loops = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Life life(seed);
    for (unsigned event = 0; event < 150; ++event) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", event " << event);
      life.step();
      ASSERT_NO_FATAL_FAILURE(life.check());
    }
    connected = std::max(connected, life.most_connected);
    on_cycle = std::max(on_cycle, life.most_on_cycle);
    loops += life.loops ? 1 : 0;
  }
  // The lives were worth looking at.
  EXPECT_GE(connected, 6u);
  EXPECT_GE(on_cycle, 4u);
  EXPECT_GE(loops, 10u);
}

}  // namespace
}  // namespace smd::sim
