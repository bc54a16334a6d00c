// Fabrics that change again and again, and whether the check by what differs says what the full one
// says: of the routes of an engine, and of routes with one bad entry.
#pragma once

#include <rapidcheck.h>

#include <memory>
#include <string>
#include <utility>

#include "smd/routing/engine.h"
#include "smd/routing/verify/verified_routes.h"
#include "tests/unit/routing/support/changing_fabric.h"

namespace smd::test {

class VerifiedChanges {
 public:
  VerifiedChanges(ChangingFabric fabric, std::string engine, unsigned max_vls)
      : fabric_(std::move(fabric)), engine_(std::move(engine)), max_vls_(max_vls) {}

  /// So many changes, one after the other; `mutants` routes with a bad entry after each.
  void run(int changes, int mutants) {
    begin();
    for (; changes > 0; --changes) {
      fabric_.change(pick(1, 2));
      auto next = std::make_unique<Step>(Step{fabric_.view(), {}});
      if (!compute(*next)) {
        begin();
        continue;
      }
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

  static RoutesOnFabric of(const Step& step) {
    return {&step.view.fabric, &step.view.lids, &step.routing};
  }

  void begin() {
    step_ = std::make_unique<Step>(Step{fabric_.view(), {}});
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
    const SwitchIdx sw = fabric.switch_of[fabric.node_of[in]];
    return verified.vl_turns().count(sw, fabric.number_of(in), vl_in, to, vl_out) != 0;
  }

  ChangingFabric fabric_;
  std::string engine_;
  unsigned max_vls_;
  std::unique_ptr<Step> step_;
  std::shared_ptr<const VerifiedRoutes> verified_;
  int by_changes_ = 0, in_full_ = 0;
};

}  // namespace smd::test
