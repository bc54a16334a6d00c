#include "smd/routing/keep/keep_routes.h"

#include <algorithm>
#include <span>

#include "smd/routing/keep/copy_tables.h"
#include "smd/routing/keep/even_legal.h"
#include "smd/routing/keep/loop_backs.h"
#include "smd/routing/keep/mend.h"
#include "smd/routing/keep/old_routes.h"
#include "smd/routing/keep/port_changes.h"
#include "smd/routing/keep/rebalance.h"
#include "smd/routing/orientation_repair.h"
#include "smd/routing/up_down.h"

namespace smd {
namespace {

class Keeper {
 public:
  Keeper(const Fabric& fabric,
         const LidMap& lids,
         const OrientedFabric& oriented,
         const PreviousRoutes& before,
         PortChanges changes)
      : fabric_(fabric),
        oriented_(oriented),
        before_(before),
        changes_(std::move(changes)),
        tables_(copy_tables(before.routing->lft, changes_.before, lids.top)),
        destinations_(list_destinations(oriented.targets, last_lid())),
        fresh_(find_fresh(fabric, lids, before, destinations_)),
        suspects_(destinations_.size()),
        routes_(oriented, destinations_, tables_) {}

  bool is_worth_it() const { return are_worth_keeping(destinations_, fresh_, changes_.before); }

  KeptRoutes run(const RoutingRequest& request) {
    find_suspects();
    leave_loop_backs();
    Rebalancer rebalancer{routes_};
    mend_suspects(request.shorten_detours ? &rebalancer : nullptr);
    route_fresh();
    if (!changes_.gained.empty()) {
      for (std::size_t value = 1; value < destinations_.size(); ++value) {
        if (destinations_[value].last != kNone<SwitchIdx> && !fresh_[value])
          rebalancer.shorten(Lid{static_cast<std::uint16_t>(value)}, changes_.gained);
      }
    }
    LoadRecord load = even(rebalancer, request.relieve);
    return {
        .lft = std::move(tables_), .recomputed = routes_.list_touched(), .load = std::move(load)};
  }

 private:
  // Where loads are not known from before, a loss is not worth counting them.
  LoadRecord even(Rebalancer& rebalancer, bool relieve) {
    const LegalTables of{.routes = routes_,
                         .tables = tables_,
                         .destinations = destinations_,
                         .before = before_,
                         .changes = changes_,
                         .relieve = relieve || !changes_.gained.empty()};
    std::vector<std::uint64_t> load = find_changed_loads(of);
    if (load.empty() && !of.relieve) return {.evenness = before_.routing->load.evenness};
    ChannelLoads loads =
        load.empty() ? ChannelLoads{routes_, last_lid()} : ChannelLoads{routes_, load};
    fill_gained(rebalancer, loads);
    return even_legal(of, loads.by_edge(routes_));
  }

  void fill_gained(Rebalancer& rebalancer, ChannelLoads& loads) {
    for (const PortChanges::Gained& link : changes_.gained)
      rebalancer.fill(link, last_lid(), loads);
    for (const PortChanges::Gained& link : changes_.gained)
      rebalancer.attract(link, last_lid(), loads);
  }

  [[nodiscard]] Lid last_lid() const {
    return Lid{static_cast<std::uint16_t>(tables_.blocks() * kLftBlockSize - 1)};
  }

  void find_suspects() {
    for (const SwitchIdx sw : changes_.before.indices()) {
      const bool is_new = changes_.before[sw] == kNone<SwitchIdx>;
      if (!is_new && changes_.suspect[sw].none()) continue;
      const std::span<const PortNum> row = std::as_const(tables_).row(sw);
      for (std::size_t value = 1; value < destinations_.size(); ++value) {
        if (fresh_[value] || (!is_new && !changes_.suspect[sw][row[value].value()])) continue;
        if (destinations_[value].last != kNone<SwitchIdx>) {
          suspects_[value].push_back(sw);
        } else if (!is_new) {
          withdraw_unless_harmless(sw, Lid{static_cast<std::uint16_t>(value)});
        }
      }
    }
  }

  void leave_loop_backs() {
    for (const auto& [sw, port] : find_loop_backs(fabric_)) {
      for (std::size_t value = 1; value < destinations_.size(); ++value) {
        const Lid lid{static_cast<std::uint16_t>(value)};
        if (destinations_[value].last == kNone<SwitchIdx> && routes_.exit(sw, lid) == port)
          routes_.set(sw, lid, kNoRoute);
      }
    }
  }

  void mend_suspects(Rebalancer* rebalancer) {
    Mender mender{routes_};
    std::optional<OldRoutes> old;
    if (rebalancer != nullptr) old.emplace(before_, changes_.before);
    std::vector<SwitchIdx> detours;
    for (std::size_t value = 1; value < destinations_.size(); ++value) {
      if (suspects_[value].empty()) continue;
      const Lid lid{static_cast<std::uint16_t>(value)};
      routes_.clear_changes();
      mender.mend(lid, suspects_[value]);
      if (rebalancer != nullptr) {
        detours.clear();
        for (const RouteState::Change& change : routes_.changes()) {
          if (routes_.length(change.sw, lid) > old->length(change.sw, lid))
            detours.push_back(change.sw);
        }
        if (!detours.empty()) rebalancer->relieve(lid, detours);
      }
      mender.restore(lid, rebalancer == nullptr);
    }
  }

  // Packets to a LID that nobody has may follow old entries as long as they only descend: they end
  // where a port is dead.
  void withdraw_unless_harmless(SwitchIdx sw, Lid lid) {
    RouteState::Hop hop = routes_.next(sw, lid);
    while (hop.to != kNone<SwitchIdx> && !hop.up) hop = routes_.next(hop.to, lid);
    if (hop.to != kNone<SwitchIdx>) routes_.set(sw, lid, kNoRoute);
  }

  void route_fresh() {
    UpDownSearch search{oriented_.up_down};
    NextHops hops;
    for (const SwitchIdx last : oriented_.targets.of.indices()) {
      bool searched = false;
      for (const Target& target : oriented_.targets.of[last]) {
        for (unsigned offset = 0; offset < 1u << target.lmc; ++offset) {
          const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
          if (!fresh_[lid.value()]) continue;
          if (!searched) search.find(last, hops);
          searched = true;
          route(lid, last, target.exit, hops);
        }
      }
    }
  }

  void route(Lid lid, SwitchIdx last, PortNum exit, const NextHops& hops) {
    routes_.clear_changes();
    std::vector<char> reaches(changes_.before.size(), 0);
    reaches[last.value()] = 1;
    routes_.set(last, lid, exit);
    for (std::size_t i = 0; i < hops.order.size(); ++i) {
      const SwitchIdx sw = hops.order[i];
      reaches[sw.value()] = 1;
      const std::span<const std::uint32_t> ways{hops.edges.data() + hops.first[i],
                                                hops.edges.data() + hops.first[i + 1]};
      const PortNum now = routes_.exit(sw, lid);
      const bool is_best = std::any_of(ways.begin(), ways.end(), [&](std::uint32_t way) {
        return oriented_.graph.edge(way).port == now;
      });
      if (!is_best) routes_.set(sw, lid, routes_.choose(sw, lid, ways));
    }
    for (const SwitchIdx sw : changes_.before.indices()) {
      if (!reaches[sw.value()]) routes_.set(sw, lid, kNoRoute);
    }
  }

  const Fabric& fabric_;
  const OrientedFabric& oriented_;
  const PreviousRoutes& before_;
  const PortChanges changes_;
  ForwardingTables tables_;
  const std::vector<Destination> destinations_;
  const std::vector<char> fresh_;
  std::vector<std::vector<SwitchIdx>> suspects_;
  RouteState routes_;
};

}  // namespace

std::optional<KeptRoutes> keep_routes(const Fabric& fabric,
                                      const LidMap& lids,
                                      const OrientedFabric& oriented,
                                      const PreviousRoutes& in_force,
                                      const RoutingRequest& request) {
  const Fabric& before = *in_force.fabric;
  if (in_force.routing->lft.switches() != before.switch_count() || before.switch_count() == 0)
    return std::nullopt;
  PortChanges changes = find_port_changes(before, in_force.routing->orientation, fabric, oriented);
  // Islands that grow together have no routes to each other that could be kept.
  if (!changes.gained.empty() && find_islands(SwitchGraph{before}).size() > 1) return std::nullopt;
  Keeper keeper{fabric, lids, oriented, in_force, std::move(changes)};
  if (!keeper.is_worth_it()) return std::nullopt;
  return keeper.run(request);
}

}  // namespace smd
