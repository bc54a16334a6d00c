// Fully explicit routing to the letter: a controlled flood from every destination, one entry after
// the other.
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/updn/orientation.h"

namespace smd {
namespace {

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

const Engine& fera_flood_engine() {
  static const FeraFlood engine;
  return engine;
}

}  // namespace smd
