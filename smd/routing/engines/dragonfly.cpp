// Minimal routing on dragonflies: local, global, local.
#include <algorithm>

#include "smd/routing/engines/engines.h"
#include "smd/routing/topology/dragonfly.h"
#include "smd/routing/topology/topology_tables.h"

namespace smd {
namespace {

constexpr std::uint32_t kMostVariants = 16;

/// A link that leaves a group.
struct Gate {
  SwitchIdx own;       // which has it
  std::uint8_t place;  // among around(own)
  SwitchIdx landing;
  std::uint64_t load = 0;
};

class DragonflyRoutes {
 public:
  DragonflyRoutes(const NeighbourGraph& graph,
                  const DragonflyShape& shape,
                  const Targets& targets,
                  GatewayChoice choice)
      : graph_(graph),
        shape_(shape),
        targets_(targets),
        choice_(choice),
        groups_(shape.members.size()),
        index_(graph.switches(), 0),
        gates_(groups_ * groups_) {
    columns_.variants = std::clamp(shape.global_trunk, 1u, kMostVariants);
    columns_.first.assign(graph.switches(), 0);
    for (const std::vector<SwitchIdx>& members : shape.members) {
      widest_ = std::max(widest_, members.size());
      for (std::uint32_t i = 0; i < members.size(); ++i) {
        index_[members[i]] = i;
        columns_.first[members[i]] = columns_.count;
        columns_.count += columns_.variants;
      }
    }
    local_.assign(graph.switches() * widest_, kNoHop);
    for (const SwitchIdx sw : graph.by_guid()) {
      const auto around = graph.around(sw);
      for (std::uint8_t i = 0; i < around.size(); ++i) {
        const SwitchIdx to = around[i].to;
        if (shape.group[to] == shape.group[sw]) {
          local_[sw.value() * widest_ + index_[to]] = i;
        } else {
          gates_[shape.group[sw] * groups_ + shape.group[to]].push_back({sw, i, to});
        }
      }
    }
  }

  [[nodiscard]] const Columns& columns() const { return columns_; }

  [[nodiscard]] bool is_local(SwitchIdx sw, std::uint8_t place) const {
    return shape_.group[graph_.around(sw)[place].to] == shape_.group[sw];
  }

  void fill(HopTable& hops) {
    for (std::uint32_t from = 0; from < groups_; ++from) {
      for (std::uint32_t to = 0; to < groups_; ++to) {
        for (const SwitchIdx sw : shape_.members[from]) {
          for (const SwitchIdx end : shape_.members[to]) {
            for (std::uint32_t variant = 0; variant < columns_.variants; ++variant) {
              hops.row(sw)[columns_.of(end, variant)] =
                  sw == end    ? kHere
                  : from == to ? local(sw, end)
                               : choose(gates_[from * groups_ + to], sw, end, variant);
            }
          }
        }
      }
    }
  }

 private:
  // Requires: in one group.
  [[nodiscard]] std::uint8_t local(SwitchIdx sw, SwitchIdx to) const {
    return local_[sw.value() * widest_ + index_[to]];
  }

  // Hops that a link leads to within the destination's group; 2 where a link is missing there.
  [[nodiscard]] unsigned tail(const Gate& gate, SwitchIdx end) const {
    return gate.landing == end ? 0 : local(gate.landing, end) != kNoHop ? 1 : 2;
  }

  std::uint8_t choose(std::vector<Gate>& gates,
                      SwitchIdx sw,
                      SwitchIdx end,
                      std::uint32_t variant) {
    // The shortest paths, where own links come before those of others. A link's owner always uses
    // its own ones: no path takes two hops in a group.
    const bool uniform = choice_ == GatewayChoice::Uniform;
    const bool least = choice_ == GatewayChoice::LeastLoaded;
    best_.clear();
    unsigned fewest = ~0u;
    for (Gate& gate : gates) {
      const unsigned rest = tail(gate, end);
      const bool own = gate.own == sw;
      if (rest > 1 || (!uniform && !own && local(sw, gate.own) == kNoHop)) continue;
      const unsigned cost = uniform ? 0 : own ? rest : least ? 4 : 2 + rest;
      if (cost > fewest) continue;
      if (cost < fewest) best_.clear();
      fewest = cost;
      best_.push_back(&gate);
    }
    if (best_.empty()) return kNoHop;
    Gate* gate = best_[(index_[end] * columns_.variants + variant) % best_.size()];
    if (least) {
      for (Gate* const other : best_) {
        if (other->load < gate->load) gate = other;
      }
    }
    gate->load += std::uint64_t{targets_.hosts[sw]} * targets_.hosts[end] + 1;
    return gate->own == sw ? gate->place : local(sw, gate->own);
  }

  const NeighbourGraph& graph_;
  const DragonflyShape& shape_;
  const Targets& targets_;
  GatewayChoice choice_;
  std::size_t groups_;
  std::size_t widest_ = 0;                       // switches in the largest group
  IndexVector<SwitchIdx, std::uint32_t> index_;  // in its group
  std::vector<std::vector<Gate>> gates_;         // by group and group
  std::vector<std::uint8_t> local_;              // by switch and index in its group
  Columns columns_;
  std::vector<Gate*> best_;
};

class Dragonfly final : public Engine {
 public:
  std::string_view name() const override { return "dragonfly"; }

  std::string_view contract() const override {
    return "Dragonflies with complete groups, any number of links between groups and of cables "
           "within them, recognised by their cables alone, also with links or switches missing. "
           "Minimal: to a switch of the group with a link to the destination's group, over that "
           "link, and on to the destination; switches with a link of their own use it, others "
           "choose as the request says. 2 VLs and any SL: VL 1 from a global link to a local one, "
           "VL 0 otherwise. Free of deadlock: local channels on VL 0 wait for global ones, those "
           "for local ones on VL 1, and those for hosts. Where a link or a switch is missing paths "
           "go around it on further VLs (mostly one), each free of cyclic dependencies by trial, "
           "and the SL of a path says so. Source: minimal routing of the dragonfly (Kim, Dally, "
           "Scott and Abts, 2008), its lanes by SL2VL tables (Maglione-Mathey et al.).";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    const NeighbourGraph graph{fabric};
    const Result<DragonflyShape> shape = recognise_dragonfly(fabric, graph);
    if (!shape) return fail(Errc::Unsupported, "no dragonfly: " + shape.error().context);
    const Targets targets = find_targets(fabric, lids);
    DragonflyRoutes form{graph, *shape, targets, request.options.gateways};
    ShapeRoutes routes{.engine = name(),
                       .shape = print_dragonfly(*shape),
                       .columns = form.columns(),
                       .hops = {graph.switches(), form.columns().count},
                       .sls = std::nullopt,
                       .regular_vls = 2,
                       .rows = {},
                       .row_of = {}};
    routes.rows.resize(2);
    routes.rows[1].fill(1);
    routes.row_of = [&form](SwitchIdx sw, std::uint8_t in, std::uint8_t out) -> std::size_t {
      return in != kHere && !form.is_local(sw, in) && form.is_local(sw, out) ? 1 : 0;
    };
    form.fill(routes.hops);
    return finish_tables(fabric, lids, request, graph, std::move(routes));
  }
};

}  // namespace

const Engine& dragonfly_engine() {
  static const Dragonfly engine;
  return engine;
}

}  // namespace smd
