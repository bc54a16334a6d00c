// Fully explicit routing: in two phases, who can descend, then everybody in the order of the flood;
// and to the letter, entry by entry.
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/updn/orientation.h"

namespace smd {
namespace {

// Next hops of all switches to one destination switch.
class Search {
 public:
  explicit Search(const OrientedFabric& oriented)
      : oriented_(oriented),
        leads_up_(oriented.graph.edge_count(), 0),
        egress_(oriented.graph.switches()),
        length_(oriented.graph.switches()),
        descent_(oriented.graph.switches()) {
    for (const SwitchIdx sw : oriented.guids.indices()) {
      for (const UpDownGraph::Link& link : oriented.up_down.up(sw)) leads_up_[link.edge] = 1;
    }
  }

  /// The switches that reach `destination`, itself first, in the order in which a flood from there
  /// comes to them.
  const std::vector<SwitchIdx>& find(SwitchIdx destination) {
    measure_descents(destination);
    length_.assign(length_.size(), kUnreached);
    length_[destination] = 0;
    order_.assign(1, destination);
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const SwitchIdx sw = order_[at];
      if (descent_[sw] == kUnreached) {
        for (const UpDownGraph::Link& link : oriented_.up_down.down(sw))
          offer_ascent(sw, oriented_.graph.edge(link.edge));
        continue;
      }
      std::uint32_t position = oriented_.graph.first_edge(sw);
      for (const SwitchEdge& edge : oriented_.graph.edges(sw)) {
        if (!leads_up_[position++]) {
          offer_ascent(sw, edge);
        } else if (descent_[edge.to] == length_[sw] + 1) {
          accept(sw, edge);
        }
      }
    }
    return order_;
  }

  [[nodiscard]] PortNum egress(SwitchIdx sw) const { return egress_[sw]; }

 private:
  // Links of the shortest all-down path; kUnreached without one.
  void measure_descents(SwitchIdx destination) {
    descent_.assign(descent_.size(), kUnreached);
    descent_[destination] = 0;
    queue_.assign(1, destination);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      for (const UpDownGraph::Link& link : oriented_.up_down.up(queue_[at])) {
        if (descent_[link.to] != kUnreached) continue;
        descent_[link.to] = descent_[queue_[at]] + 1;
        queue_.push_back(link.to);
      }
    }
  }

  // Whoever can descend ignores all ports upwards, even shorter ones.
  void offer_ascent(SwitchIdx sw, const SwitchEdge& edge) {
    if (descent_[edge.to] == kUnreached) accept(sw, edge);
  }

  void accept(SwitchIdx sw, const SwitchEdge& edge) {
    if (length_[edge.to] != kUnreached) return;
    length_[edge.to] = length_[sw] + 1;
    egress_[edge.to] = edge.peer_port;
    order_.push_back(edge.to);
  }

  const OrientedFabric& oriented_;
  std::vector<char> leads_up_;  // by edge
  IndexVector<SwitchIdx, PortNum> egress_;
  IndexVector<SwitchIdx, std::uint32_t> length_, descent_;
  std::vector<SwitchIdx> order_, queue_;
};

class Fera final : public Engine {
 public:
  std::string_view name() const override { return "fera"; }

  std::string_view contract() const override {
    return "Fully explicit routing (FERa) on any fabric, 1 VL, any SL: up*/down* from the switch "
           "of the manager, whoever can descend does, of equal exits the one found first by a "
           "flood from the destination in port order. Spreads nothing: every destination at a "
           "switch has the same routes. The two-phase form: equal to fera-flood wherever the flood "
           "replaces no entry, and never longer. Free of deadlock as updn is.";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    OrientedFabric oriented{fabric, lids, roots_or_manager(fabric, request), request.previous};
    RoutingTables result = begin_tables(name(), {fabric.switch_count(), lids.top}, oriented);
    Search search{oriented};
    for (const SwitchIdx destination : oriented.targets.of.indices()) {
      const std::vector<Target>& targets = oriented.targets.of[destination];
      if (targets.empty()) continue;
      for (const SwitchIdx sw : search.find(destination)) {
        const std::span<PortNum> row = result.lft.mutable_row(sw);
        for (const Target& target : targets) {
          const PortNum egress = sw == destination ? target.egress : search.egress(sw);
          for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
            row[target.base.value() + offset] = egress;
        }
      }
    }
    return result;
  }
};

// To the letter: a controlled flood from every destination, one entry after the other.
class Flood {
 public:
  Flood(const OrientedFabric& oriented, RoutingTables& out)
      : oriented_(oriented),
        out_(out),
        leads_up_(oriented.graph.edge_count(), 0),
        best_(oriented.graph.switches()) {
    for (const SwitchIdx sw : oriented.guids.indices()) {
      for (const UpDownGraph::Link& link : oriented.up_down.up(sw)) leads_up_[link.edge] = 1;
    }
  }

  void run(Lid lid, SwitchIdx last, const Target& target) {
    best_.assign(best_.size(), {});
    offers_.clear();
    if (target.host) {
      offers_.push_back({.at = last, .via = last, .egress = target.egress, .key = {false, 1}});
    } else {
      best_[last] = {false, 0};
      write(lid, last, PortNum{0}, 0);
      offer_around(last, last, {false, 0});
    }
    for (std::size_t at = 0; at < offers_.size(); ++at) {
      const Offer offer = offers_[at];
      if (best_[offer.at] <= offer.key) continue;  // the first one found wins ties
      best_[offer.at] = offer.key;
      write(lid, offer.at, offer.egress, offer.key.length);
      offer_around(offer.at, offer.via, offer.key);
    }
  }

 private:
  // Ports down beat ports up, then length decides.
  struct Key {
    bool up = true;
    std::uint32_t length = kUnreached;

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  struct Offer {
    SwitchIdx at;    // may reach the destination
    SwitchIdx via;   // over this one
    PortNum egress;  // of `at`
    Key key;
  };

  // To all neighbours but the one it came from, unless that made a path down and then up.
  void offer_around(SwitchIdx sw, SwitchIdx from, Key key) {
    std::uint32_t position = oriented_.graph.first_edge(sw);
    for (const SwitchEdge& edge : oriented_.graph.edges(sw)) {
      const bool neighbour_descends = leads_up_[position++] != 0;
      if (edge.to == from || (key.up && neighbour_descends)) continue;
      offers_.push_back({.at = edge.to,
                         .via = sw,
                         .egress = edge.peer_port,
                         .key = {!neighbour_descends, key.length + 1}});
    }
  }

  void write(Lid lid, SwitchIdx sw, PortNum egress, std::uint32_t distance) {
    out_.lft.set_route(sw, lid, egress);
    out_.sequence.push_back({.sw = sw, .lid = lid, .egress = egress, .distance = distance});
  }

  const OrientedFabric& oriented_;
  RoutingTables& out_;
  std::vector<char> leads_up_;  // by edge
  IndexVector<SwitchIdx, Key> best_;
  std::vector<Offer> offers_;
};

class FeraFlood final : public Engine {
 public:
  std::string_view name() const override { return "fera-flood"; }

  std::string_view contract() const override {
    return "Fully explicit routing (FERa) as its author wrote it, with the order in which entries "
           "are found, replaced ones included (RoutingTables::sequence). Same fabrics, lanes and "
           "deadlock argument as fera. Where a way up was found before the only way down, entries "
           "beyond it keep counting on the shorter one, so routes can be longer than fera's. Slow "
           "on large fabrics: meant for studies.";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    OrientedFabric oriented{fabric, lids, roots_or_manager(fabric, request), request.previous};
    RoutingTables result = begin_tables(name(), {fabric.switch_count(), lids.top}, oriented);

    struct Destination {
      SwitchIdx last = kNone<SwitchIdx>;
      Target target;
    };

    std::vector<Destination> by_lid(result.lft.blocks() * kLftBlockSize);
    for (const SwitchIdx sw : oriented.targets.of.indices()) {
      for (const Target& target : oriented.targets.of[sw]) {
        for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
          by_lid[target.base.value() + offset] = {sw, target};
      }
    }
    Flood flood{oriented, result};
    for (std::size_t lid = 0; lid < by_lid.size(); ++lid) {
      if (by_lid[lid].last != kNone<SwitchIdx>)
        flood.run(Lid{static_cast<std::uint16_t>(lid)}, by_lid[lid].last, by_lid[lid].target);
    }
    return result;
  }
};

}  // namespace

const Engine& fera_engine() {
  static const Fera engine;
  return engine;
}

const Engine& fera_flood_engine() {
  static const FeraFlood engine;
  return engine;
}

}  // namespace smd
