// Fabrics that change again and again, and whether the check by what differs says what the full one
// says: of the routes of an engine, and of routes with one bad entry; also where it is learned
// later who sends data.
#pragma once

#include <rapidcheck.h>

#include <memory>
#include <string>
#include <utility>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/fabric/builder.h"
#include "smd/routing/engine.h"
#include "smd/routing/verify/verified_routes.h"
#include "tests/unit/routing/support/changing_fabric.h"

namespace smd::test {

/// A fabric of a generator whose cables between switches, switches and hosts come and go, as a
/// manager on the first switch sees it. LIDs stay.
class ChangingNetwork {
 public:
  ChangingNetwork(const std::string& call, std::uint8_t lmc)
      : spec_(sim::load_fabric(call).value()), lmc_(lmc), there_(spec_.nodes.size(), 1) {
    for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
      if (spec_.nodes[n].type == NodeType::Switch) switches_.push_back(n);
      for (std::uint32_t p = 1; p < spec_.nodes[n].ports.size(); ++p) {
        const std::uint32_t peer = spec_.nodes[n].ports[p].peer_node;
        if (peer != sim::kNoNode && peer > n) cables_.push_back({n, p});
      }
    }
    down_.assign(cables_.size(), 0);
    spec_.sm_node = switches_.front();
    spec_.sm_port = PortNum{0};
  }

  /// So many times one of all that can happen; most often a cable.
  void change(int times) {
    const auto any = [](const auto& some) {
      return static_cast<std::size_t>(pick(0, static_cast<int>(some.size()) - 1));
    };
    for (; times > 0; --times) {
      switch (pick(0, 5)) {
        case 0: {
          char& node = there_[any(there_)];
          node = !node;
          break;
        }
        case 1:
          there_.assign(there_.size(), 1);
          break;
        case 2:
          down_.assign(down_.size(), 0);
          break;
        default: {
          char& cable = down_[any(down_)];
          cable = !cable;
        }
      }
      there_[spec_.sm_node] = 1;
    }
  }

  [[nodiscard]] ChangingFabric::View view() const {
    sim::FabricSpec left = spec_;
    for (std::size_t c = 0; c < cables_.size(); ++c) {
      if (down_[c]) cut(left, cables_[c]);
    }
    for (const Cable& cable : cables_) {
      if (!there_[cable.node] || !there_[peer_of(cable)]) cut(left, cable);
    }
    std::vector<std::uint32_t> now(left.nodes.size(), sim::kNoNode), reached{left.sm_node};
    now[left.sm_node] = 0;
    for (std::size_t at = 0; at < reached.size(); ++at) {
      for (const sim::PortSpec& port : left.nodes[reached[at]].ports) {
        if (port.peer_node == sim::kNoNode || now[port.peer_node] != sim::kNoNode) continue;
        now[port.peer_node] = 0;
        reached.push_back(port.peer_node);
      }
    }
    std::vector<sim::NodeSpec> nodes;
    std::vector<std::uint32_t> was;
    for (std::uint32_t n = 0; n < now.size(); ++n) {
      if (now[n] == sim::kNoNode) continue;
      now[n] = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back(left.nodes[n]);
      was.push_back(n);
    }
    for (sim::NodeSpec& node : nodes) {
      for (sim::PortSpec& port : node.ports) {
        if (port.peer_node != sim::kNoNode) port.peer_node = now[port.peer_node];
      }
    }
    left.nodes = std::move(nodes);
    left.sm_node = now[left.sm_node];
    ChangingFabric::View view{*sim::build_snapshot(left), {}};
    view.lids = make_lid_map(view.fabric);
    for (std::uint32_t n = 0; n < left.nodes.size(); ++n) {
      const NodeIdx node = *view.fabric.find_node(left.nodes[n].guid);
      for (const PortIdx port : view.fabric.ports_of(node)) {
        if (!view.fabric.is_end_port(port)) continue;
        const bool host = !view.fabric.is_switch(node);
        set_lid(view.lids,
                port,
                Lid{static_cast<std::uint16_t>((was[n] + 1) << lmc_)},
                host ? lmc_ : std::uint8_t{0});
      }
    }
    return view;
  }

 private:
  struct Cable {
    std::uint32_t node, port;
  };

  [[nodiscard]] std::uint32_t peer_of(const Cable& cable) const {
    return spec_.nodes[cable.node].ports[cable.port].peer_node;
  }

  static void cut(sim::FabricSpec& spec, const Cable& cable) {
    sim::PortSpec& port = spec.nodes[cable.node].ports[cable.port];
    if (port.peer_node == sim::kNoNode) return;
    spec.nodes[port.peer_node].ports[port.peer_port.value()].peer_node = sim::kNoNode;
    port.peer_node = sim::kNoNode;
  }

  sim::FabricSpec spec_;
  std::uint8_t lmc_;
  std::vector<std::uint32_t> switches_;
  std::vector<Cable> cables_;
  std::vector<char> there_;  // by node
  std::vector<char> down_;   // by cable
};

/// Over fabrics that have change() and view().
template <class Network>
class VerifiedChanges {
 public:
  VerifiedChanges(Network fabric, std::string engine, unsigned max_vls)
      : fabric_(std::move(fabric)), engine_(std::move(engine)), max_vls_(max_vls) {}

  /// So many changes, one after the other; `mutants` routes with a bad entry after each.
  void run(int changes, int mutants) {
    begin();
    for (; changes > 0; --changes) {
      if (pick(0, 5) == 0) {
        rules_ = any_rules();
        step_->view.fabric = *with_traffic(step_->view.fabric, rules_);
      }
      if (pick(0, 5) == 0) rules_ = any_rules();
      fabric_.change(pick(1, 2));
      auto next = std::make_unique<Step>(Step{view(), {}});
      if (!compute(*next)) {
        begin();
        continue;
      }
      require_recomputed_told(*step_, *next);
      for (int i = 0; i < mutants; ++i) {
        const RoutingTables good = next->routing;
        add_fault(*next);
        check(*next);
        next->routing = good;
      }
      check(*next);
      verified_ = check_route_changes(verified_.get(), of(*step_), of(*next)).verified;
      step_ = std::move(next);
      if (verified_ == nullptr) verified_ = VerifiedRoutes::build(of(*step_));
    }
  }

  [[nodiscard]] int by_changes() const { return by_changes_; }

  [[nodiscard]] int in_full() const { return in_full_; }

 private:
  struct Step {
    ChangingFabric::View view;
    RoutingTables routing;
  };

  ChangingFabric::View view() const {
    ChangingFabric::View view = fabric_.view();
    view.fabric = *with_traffic(view.fabric, rules_);
    return view;
  }

  /// An adapter sends no data, or a port draws more than others.
  [[nodiscard]] std::shared_ptr<const SiteNodes> any_rules() const {
    const Fabric& fabric = step_->view.fabric;
    const NodeIdx node{
        static_cast<std::uint32_t>(pick(0, static_cast<int>(fabric.node_count()) - 1))};
    SiteNodes rules;
    if (pick(0, 2) == 0) return nullptr;
    if (fabric.is_switch(node) || pick(0, 1) == 0) {
      for (const PortIdx port : fabric.ports_of(node)) {
        if (fabric.is_end_port(port))
          rules.weights = {{fabric.port_guid[port], static_cast<std::uint32_t>(pick(0, 3))}};
      }
    } else {
      rules.no_data.push_back(fmt::format("0x{:x}", fabric.node_guid[node].value()));
    }
    return std::make_shared<const SiteNodes>(std::move(rules));
  }

  static RoutesOnFabric of(const Step& step) {
    return {&step.view.fabric, &step.view.lids, &step.routing};
  }

  void begin() {
    step_ = std::make_unique<Step>(Step{view(), {}});
    verified_ = nullptr;
    if (compute(*step_, true)) verified_ = VerifiedRoutes::build(of(*step_));
  }

  bool compute(Step& step, bool from_scratch = false) const {
    RoutingRequest request{.max_vls = max_vls_};
    PreviousRoutes before;
    if (!from_scratch && !step_->routing.engine.empty()) {
      before = {&step_->view.fabric, &step_->view.lids, &step_->routing};
      request.previous = &step_->routing.orientation;
      request.in_force = &before;
    }
    auto tables = find_engine(engine_)->compute(step.view.fabric, step.view.lids, request);
    if (tables) step.routing = std::move(*tables);
    return tables.has_value();
  }

  /// RoutingTables::recomputed, where it says anything, has every LID with an entry that changed.
  static void require_recomputed_told(const Step& before, const Step& now) {
    if (!now.routing.recomputed) return;
    const ForwardingTables& then = before.routing.lft;
    for (const SwitchIdx sw : now.view.fabric.switch_node.indices()) {
      const auto was =
          before.view.fabric.find_node(now.view.fabric.node_guid[now.view.fabric.switch_node[sw]]);
      for (std::uint32_t value = 1; value <= now.view.lids.top.value(); ++value) {
        const Lid lid{static_cast<std::uint16_t>(value)};
        if (now.view.lids.owner_of(lid) == kNone<PortIdx>) continue;
        const bool known = was && lid <= then.top();
        const PortNum had = known ? then.route(before.view.fabric.switch_of[*was], lid) : kNoRoute;
        if (now.routing.lft.route(sw, lid) == had) continue;
        if (!std::ranges::binary_search(*now.routing.recomputed, lid))
          RC_FAIL(fmt::format("LID {} of {}", value, now.routing.engine));
      }
    }
  }

  /// One entry, the SL of one path, or what one turn does with one SL.
  static void add_fault(Step& step) {
    const Fabric& fabric = step.view.fabric;
    const SwitchIdx sw{
        static_cast<std::uint32_t>(pick(0, static_cast<int>(fabric.switch_count()) - 1))};
    const int ports = static_cast<int>(fabric.num_ports(fabric.switch_node[sw]));
    const auto any_port = [&] { return PortNum{static_cast<std::uint8_t>(pick(0, ports))}; };
    SlToVlMaps& maps = step.routing.sl_to_vl;
    if (!maps.empty() && pick(0, 2) == 0) {
      const PortNum in = any_port(), out = any_port();
      SlToVl row = maps.row(sw, in, out);
      row[static_cast<std::size_t>(pick(0, 15))] = Vl{static_cast<std::uint8_t>(
          pick(0, 3) == 0 ? 15 : pick(0, static_cast<int>(step.routing.vls) - 1))};
      return maps.set_row(sw, in, out, maps.add_row(row));
    }
    for (int tries = 0; tries < 20; ++tries) {
      const Lid lid{
          static_cast<std::uint16_t>(pick(0, static_cast<int>(step.view.lids.owner.size()) - 1))};
      if (step.view.lids.owner_of(lid) == kNone<PortIdx>) continue;
      if (!step.routing.path_sls.empty() && pick(0, 1) == 0)
        return step.routing.path_sls.set_sl(
            sw, lid, static_cast<std::uint8_t>(pick(0, static_cast<int>(step.routing.vls))));
      return step.routing.lft.set_route(sw, lid, pick(0, 9) == 0 ? kNoRoute : any_port());
    }
  }

  static void require_same(const RouteReport& a, const RouteReport& b) {
    RC_ASSERT(a.pairs == b.pairs);
    RC_ASSERT(a.disconnected == b.disconnected);
    RC_ASSERT(a.unreachable == b.unreachable);
    RC_ASSERT(a.loops == b.loops);
    RC_ASSERT(a.minimal == b.minimal);
    RC_ASSERT(a.hops == b.hops);
    RC_ASSERT(a.max_hops == b.max_hops);
    RC_ASSERT(a.acyclic == b.acyclic);
    RC_ASSERT(a.vls == b.vls);
    RC_ASSERT(a.cycle == b.cycle);
    RC_ASSERT(a.first_faults == b.first_faults);
  }

  void check(const Step& now) {
    const auto [fabric, lids, routing] = of(now);
    const RouteReport full = check_routes(*fabric, *lids, *routing, {.minimality = false});
    require_same(check_route_changes(verified_.get(), of(*step_), of(now)).routes, full);
    if (verified_ == nullptr) return;
    const auto next = verified_->update(of(*step_), of(now));
    if (next == nullptr) {
      in_full_ += full.ok();
      return;
    }
    ++by_changes_;
    RC_ASSERT(full.ok());
    require_same(next->report(), full);
    const auto anew = VerifiedRoutes::build(of(now));
    RC_ASSERT(anew != nullptr);
    RC_ASSERT(next->counts_equal(*anew));
    const LoadReport load = next->measure_load(*fabric),
                     counted = measure_load(*fabric, *lids, routing->lft);
    RC_ASSERT(load.max == counted.max);
    RC_ASSERT(load.mean == counted.mean);
    RC_ASSERT(load.stddev == counted.stddev);
    require_order(*next, *fabric);
  }

  static void require_order(const VerifiedRoutes& verified, const Fabric& fabric) {
    const unsigned vls = verified.is_on_one_vl() ? 1 : verified.vl_turns().vls();
    for (const PortIdx held : find_channels(fabric)) {
      const PortIdx in = fabric.peer[held];
      for (const PortIdx out : fabric.external_ports(fabric.node_of[in])) {
        const PortIdx peer = fabric.peer[out];
        if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[peer])) continue;
        for (unsigned from = 0; from < vls; ++from) {
          for (unsigned to = 0; to < vls; ++to) {
            if (is_taken(verified, fabric, in, from, out, to))
              RC_ASSERT(verified.place(held, from) < verified.place(out, to));
          }
        }
      }
    }
  }

  static bool is_taken(const VerifiedRoutes& verified,
                       const Fabric& fabric,
                       PortIdx in,
                       unsigned vl_in,
                       PortIdx out,
                       unsigned vl_out) {
    const PortNum to = fabric.number_of(out);
    if (verified.is_on_one_vl()) return verified.turns().count(in, to) != 0;
    if (vl_in != vl_out && !verified.vl_turns().changes()) return false;
    const SwitchIdx sw = fabric.switch_at(in);
    return verified.vl_turns().count(sw, fabric.number_of(in), vl_in, to, vl_out) != 0;
  }

  Network fabric_;
  std::string engine_;
  unsigned max_vls_;
  std::unique_ptr<Step> step_;
  std::shared_ptr<const SiteNodes> rules_;
  std::shared_ptr<const VerifiedRoutes> verified_;
  int by_changes_ = 0, in_full_ = 0;
};

inline ChangingFabric any_irregular() {
  const int switches = pick(2, 14);
  return {switches,
          pick(0, 2 * switches),
          pick(1, 16),
          static_cast<unsigned>(*rc::gen::weightedElement<int>({{3, 0}, {1, 1}, {1, 2}}))};
}

struct RegularCase {
  const char* call;
  std::vector<const char*> engines;
};

inline const std::vector<RegularCase>& regular_cases() {
  static const std::vector<RegularCase> all{
      {"fat-tree:k=4,levels=3", {"updn", "ftree", "minhop", "nue", "dfsssp", "lash", "itb-vl"}},
      {"fat-tree:k=6,levels=2", {"updn", "ftree", "minhop", "nue", "dfsssp"}},
      {"fat-tree:k=6,levels=2,missing=2,aggregation=1",
       {"updn", "ftree", "minhop", "nue", "dfsssp"}},
      {"torus:dims=4.4,hosts=1", {"updn", "dor", "nue", "dfsssp", "lash", "itb-vl"}},
      {"torus:dims=3.3.2,hosts=2", {"updn", "dor", "nue", "dfsssp", "lash"}},
      {"torus:dims=3.3,hosts=1", {"minhop", "dfsssp", "lash"}},
      {"dragonfly:a=4,h=1,c=2", {"updn", "dragonfly", "nue", "dfsssp", "lash", "itb-vl"}},
  };
  return all;
}

/// `changes` in a row, each with mutants; returns whether most of it was checked by what differs.
inline bool check_any_irregular(int changes, int mutants) {
  const char* const engine = *rc::gen::element("updn", "minhop", "nue", "dfsssp", "lash", "itb-vl");
  VerifiedChanges changing{any_irregular(), engine, static_cast<unsigned>(pick(1, 4))};
  changing.run(changes, mutants);
  return changing.by_changes() > changing.in_full();
}

inline bool check_any_regular(int changes, int mutants) {
  const RegularCase& on = *rc::gen::elementOf(regular_cases());
  const char* const engine = *rc::gen::elementOf(on.engines);
  const auto lmc = static_cast<std::uint8_t>(pick(0, 3) == 0 ? 1 : 0);
  VerifiedChanges changing{
      ChangingNetwork{on.call, lmc}, engine, static_cast<unsigned>(pick(1, 4))};
  changing.run(changes, mutants);
  return changing.by_changes() > changing.in_full();
}

}  // namespace smd::test
