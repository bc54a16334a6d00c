// Minimal routing on dragonflies: local, global, local.
#include <algorithm>
#include <map>

#include "smd/routing/engines/engines.h"
#include "smd/routing/topology/dragonfly.h"
#include "smd/routing/topology/lattice_record.h"
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

constexpr unsigned kOrders = 2;  // of groups
constexpr std::uint8_t kDirectSl = 0;

/// By which group traffic from one group to another goes, for each LID offset beyond the first.
///
/// A group that is gone by must itself send that offset straight on: so each offset has its own
/// distances, and groups that are such a distance from the destination send straight. The group
/// that is gone by comes behind both others in an order of the groups, or before both, so that
/// first hops go up in it and second ones down, or the other way round: the SL says which, and so
/// VLs tell first from second. As one order leaves pairs without such a group there is a second
/// one, rotated by half. Both directions of a pair have one SL, since answers travel on the SL of
/// the question.
class GroupsBetween {
 public:
  struct Between {
    std::uint32_t by = kNone;  // straight on
    std::uint8_t sl = kDirectSl;
  };

  static constexpr std::uint32_t kNone = UINT32_MAX;

  GroupsBetween(std::uint32_t groups, std::uint32_t offsets)
      : groups_(groups), all_(std::size_t{offsets} * groups * groups) {
    for (std::uint32_t offset = 0; offset < offsets; ++offset) {
      for (std::uint32_t a = 0; a < groups; ++a) {
        for (std::uint32_t b = a + 1; b < groups; ++b) choose(offset, offsets, a, b);
      }
    }
  }

  [[nodiscard]] const Between& at(std::uint32_t offset,
                                  std::uint32_t from,
                                  std::uint32_t to) const {
    return all_[(std::size_t{offset} * groups_ + from) * groups_ + to];
  }

  /// Whether a hop goes up in an order.
  [[nodiscard]] bool is_up(unsigned order, std::uint32_t from, std::uint32_t to) const {
    return place(order, to) > place(order, from);
  }

  /// The VL of a hop on an SL. `in`, `out`: the groups that the packet comes from and leaves for,
  /// kNone where that is the one, `here`, in which it is.
  [[nodiscard]] std::uint8_t vl(std::uint8_t sl,
                                std::uint32_t here,
                                std::uint32_t in,
                                std::uint32_t out) const {
    if (sl == kDirectSl) return out == kNone && in != kNone ? 2 : 0;
    const unsigned order = (sl - 1) / 2;
    const bool up_first = (sl - 1) % 2 == 0;
    if (out != kNone) return is_up(order, here, out) == up_first ? 0 : 1;
    if (in == kNone) return 0;
    return is_up(order, in, here) == up_first ? 1 : 2;
  }

 private:
  [[nodiscard]] std::uint32_t place(unsigned order, std::uint32_t group) const {
    return (group + order * groups_ / kOrders) % groups_;
  }

  void choose(std::uint32_t offset, std::uint32_t offsets, std::uint32_t a, std::uint32_t b) {
    Between forth, back;
    unsigned most = 0;
    for (std::uint8_t i = 0; i < 2 * kOrders; ++i) {
      // Pairs and offsets begin with different ones, so that all are used.
      const auto sl = static_cast<std::uint8_t>(1 + (a + b + offset + i) % (2 * kOrders));
      const Between one{find(offset, offsets, a, b, sl), sl},
          other{find(offset, offsets, b, a, sl), sl};
      const unsigned ways = (one.by != kNone) + (other.by != kNone);
      if (ways <= most) continue;
      most = ways;
      forth = one;
      back = other;
    }
    all_[(std::size_t{offset} * groups_ + a) * groups_ + b] = forth;
    all_[(std::size_t{offset} * groups_ + b) * groups_ + a] = back;
  }

  /// A group to go by on this SL; kNone where there is none, or the source sends straight.
  [[nodiscard]] std::uint32_t find(std::uint32_t offset,
                                   std::uint32_t offsets,
                                   std::uint32_t from,
                                   std::uint32_t to,
                                   std::uint8_t sl) const {
    const unsigned order = (sl - 1) / 2;
    const bool up_first = (sl - 1) % 2 == 0;
    // A single offset has every second distance.
    const auto is_straight = [&](std::uint32_t distance) {
      return (distance + 1) % std::max(offsets, 2u) == offset;
    };
    if (is_straight((from + groups_ - to) % groups_)) return kNone;
    // By turns of the sources.
    for (std::uint32_t i = 0; i < groups_; ++i) {
      const std::uint32_t distance = (from + i) % groups_;
      if (distance == 0 || !is_straight(distance)) continue;
      const std::uint32_t by = (to + distance) % groups_;
      if (by == from) continue;
      if (is_up(order, from, by) == up_first && is_up(order, by, to) != up_first) return by;
    }
    return kNone;
  }

  std::uint32_t groups_;
  std::vector<Between> all_;  // by offset, from, to
};

class DragonflyRoutes {
 public:
  /// `others`: columns for LIDs beyond the first of a port, which fill_others() makes.
  DragonflyRoutes(const NeighbourGraph& graph,
                  const DragonflyShape& shape,
                  const Targets& targets,
                  GatewayChoice choice,
                  std::uint32_t others = 0)
      : graph_(graph),
        shape_(shape),
        targets_(targets),
        choice_(choice),
        groups_(shape.members.size()),
        index_(shape.place),
        widest_(shape.places),
        gates_(groups_ * groups_) {
    columns_.variants = std::clamp(shape.global_trunk, 1u, kMostVariants);
    columns_.others = others;
    columns_.others_by_offset = true;
    columns_.first.assign(graph.switches(), 0);
    for (const std::vector<SwitchIdx>& members : shape.members) {
      for (const SwitchIdx sw : members) {
        columns_.first[sw] = columns_.count;
        columns_.count += columns_.of_each();
      }
    }
    columns_.cell = index_;
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
    for (auto& gates : gates_) {
      std::ranges::sort(gates, {}, [this](const Gate& gate) {
        return std::pair{index_[gate.own], index_[gate.landing]};
      });
    }
  }

  [[nodiscard]] const Columns& columns() const { return columns_; }

  [[nodiscard]] bool is_local(SwitchIdx sw, std::uint8_t place) const {
    return shape_.group[graph_.around(sw)[place].to] == shape_.group[sw];
  }

  [[nodiscard]] std::uint32_t group(SwitchIdx sw) const { return shape_.group[sw]; }

  /// The group at the other end; GroupsBetween::kNone within the switch's own, and for hosts.
  [[nodiscard]] std::uint32_t group_behind(SwitchIdx sw, std::uint8_t place) const {
    if (place == kHere || is_local(sw, place)) return GroupsBetween::kNone;
    return shape_.group[graph_.around(sw)[place].to];
  }

  /// After fill(). Of other columns also the SLs.
  void fill_others(const GroupsBetween& between, HopTable& hops, HopTable& sls) {
    for (const SwitchIdx sw : graph_.by_guid()) {
      const auto row = hops.row(sw);
      for (const SwitchIdx end : graph_.by_guid()) {
        const std::uint32_t from = shape_.group[sw], to = shape_.group[end];
        for (std::uint32_t offset = 0; offset < columns_.others; ++offset) {
          const std::uint32_t column = columns_.other(end, offset);
          row[column] = row[columns_.of(end, offset)];
          if (from == to) continue;
          const auto& way = between.at(offset, from, to);
          sls.row(sw)[column] = way.sl;
          if (way.by == GroupsBetween::kNone) continue;
          const auto& gates = gates_[from * groups_ + way.by];
          if (!gates.empty()) row[column] = toward(gates, sw, index_[end] + offset);
        }
      }
    }
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

  // To another group, wherever in it; over a link of the switch's own where there is one.
  [[nodiscard]] std::uint8_t toward(const std::vector<Gate>& gates,
                                    SwitchIdx sw,
                                    std::uint32_t turn) {
    own_.clear();
    for (const Gate& gate : gates) {
      if (gate.own == sw) own_.push_back(gate.place);
    }
    if (!own_.empty()) return own_[turn % own_.size()];
    return local(sw, gates[turn % gates.size()].own);
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
  const IndexVector<SwitchIdx, std::uint32_t>& index_;  // in its group
  std::size_t widest_;                                  // places in a group
  std::vector<std::vector<Gate>> gates_;                // by group and group
  std::vector<std::uint8_t> local_;                     // by switch and index in its group
  Columns columns_;
  std::vector<Gate*> best_;
  std::vector<std::uint8_t> own_;
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
           "and the SL of a path says so. With sm.non_minimal LIDs of a port beyond the first go "
           "by "
           "another group, on 3 VLs and 5 SLs: local 0, global 0, local 1, global 1, local 2, "
           "where the SL says in which order of the groups first global links rise and second ones "
           "fall, or the other way round; a damaged dragonfly has minimal paths to all LIDs. "
           "Source: minimal routing of the dragonfly (Kim, Dally, Scott and Abts, 2008), its lanes "
           "by SL2VL tables (Maglione-Mathey et al.), by a random group (Valiant and Brebner, "
           "1981).";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    const NeighbourGraph graph{fabric};
    const Result<DragonflyShape> shape =
        recognise_dragonfly(fabric, graph, find_lattice_before(request, name()));
    if (!shape) return fail(Errc::Unsupported, "no dragonfly: " + shape.error().context);
    const Targets targets = find_targets(fabric, lids);
    DragonflyRoutes form{graph, *shape, targets, request.options.gateways};
    ShapeRoutes routes{
        .engine = name(),
        .shape = print_dragonfly(*shape),
        .columns = form.columns(),
        .hops = {graph.switches(), form.columns().count},
        .lattice = std::make_shared<const LatticeRecord>(record_dragonfly(fabric, *shape)),
        .sls = std::nullopt,
        .regular_vls = 2,
        .rows = {},
        .row_of = {}};
    form.fill(routes.hops);
    if (wants_other_ways(lids, request)) {
      const bool whole = is_whole(graph, routes.hops);
      return compute_by_groups(fabric, lids, request, graph, *shape, whole, std::move(routes));
    }
    routes.rows.resize(2);
    routes.rows[1].fill(1);
    routes.row_of = [&form](SwitchIdx sw, std::uint8_t in, std::uint8_t out) -> std::size_t {
      return in != kHere && !form.is_local(sw, in) && form.is_local(sw, out) ? 1 : 0;
    };
    return finish_tables(fabric, lids, request, graph, std::move(routes));
  }

  /// SLs and VLs are those of a whole one also where something is missing.
  static Result<RoutingTables> compute_by_groups(const Fabric& fabric,
                                                 const LidMap& lids,
                                                 const RoutingRequest& request,
                                                 const NeighbourGraph& graph,
                                                 const DragonflyShape& shape,
                                                 bool whole,
                                                 ShapeRoutes routes) {
    const std::uint32_t others = (1u << std::ranges::max(lids.lmc)) - 1;
    const Targets targets = find_targets(fabric, lids);
    DragonflyRoutes form{graph, shape, targets, request.options.gateways, others};
    const GroupsBetween between(static_cast<std::uint32_t>(shape.members.size()), others);
    routes.columns = form.columns();
    routes.hops = {graph.switches(), form.columns().count};
    routes.sls.emplace(graph.switches(), form.columns().count, kDirectSl);
    form.fill(routes.hops);
    form.fill_others(between, routes.hops, *routes.sls);
    routes.others_follow = !whole;
    routes.regular_sls = 1 + 2 * kOrders;
    routes.regular_vls = 3;
    std::map<VlBySl, std::size_t> known;
    // What row_of() needs later is made here, turn by turn: few of them differ.
    const auto row_of = [&](SwitchIdx sw, std::uint8_t in, std::uint8_t out) {
      VlBySl row{};
      for (std::uint8_t sl = 0; sl < routes.regular_sls; ++sl) {
        row[sl] =
            between.vl(sl, form.group(sw), form.group_behind(sw, in), form.group_behind(sw, out));
      }
      return row;
    };
    for (const SwitchIdx sw : graph.by_guid()) {
      const auto around = static_cast<std::uint8_t>(graph.around(sw).size());
      for (std::uint8_t out = 0; out < around; ++out) {
        for (std::uint16_t in = 0; in <= around; ++in) {
          const auto from = in == around ? kHere : static_cast<std::uint8_t>(in);
          if (known.emplace(row_of(sw, from, out), routes.rows.size()).second) {
            routes.rows.push_back(row_of(sw, from, out));
          }
        }
      }
    }
    routes.row_of = [&](SwitchIdx sw, std::uint8_t in, std::uint8_t out) {
      return known.at(row_of(sw, in, out));
    };
    auto tables = finish_tables(fabric, lids, request, graph, std::move(routes));
    if (tables) tables->notes.push_back(describe_other_ways(whole));
    return tables;
  }
};

}  // namespace

const Engine& dragonfly_engine() {
  static const Dragonfly engine;
  return engine;
}

}  // namespace smd
