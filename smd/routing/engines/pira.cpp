// Partially implicit routing: from the root downwards every node is joined to what is there already
// by few entries; whatever has no entry goes to a default port, upwards.
#include <functional>
#include <queue>
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/tables.h"
#include "smd/routing/updn/orientation.h"

namespace smd {
namespace {

class Exploration {
 public:
  Exploration(const OrientedFabric& oriented, RoutingTables& out)
      : oriented_(oriented),
        out_(out),
        waits_for_(oriented.graph.switches(), 0),
        explored_(oriented.graph.switches(), 0),
        entries_to_(oriented.graph.switches()),
        is_above_(oriented.graph.switches(), 0) {
    out_.default_port.assign(oriented.graph.switches(), kNoRoute);
  }

  // Of all nodes whose upper neighbours are explored, the one with the smallest LID is next.
  void run() {
    for (const SwitchIdx sw : waits_for_.indices()) {
      waits_for_[sw] = static_cast<std::uint32_t>(oriented_.up_down.up(sw).size());
      if (waits_for_[sw] == 0) offer_switch(sw);
    }
    while (!ready_.empty()) {
      const Node node = ready_.top();
      ready_.pop();
      if (node.target == nullptr || !node.target->host) {
        explore_switch(node.sw, node.target);
      } else {
        explore_host(node.sw, *node.target);
      }
    }
  }

 private:
  struct Node {
    std::uint32_t place;  // LID; switches without one come after all LIDs
    SwitchIdx sw;         // itself, or what the host is linked to
    const Target* target;

    friend bool operator>(const Node& a, const Node& b) { return a.place > b.place; }
  };

  struct Above {
    SwitchIdx sw;
    PortNum up;    // of the lower switch
    PortNum down;  // of the upper one
  };

  struct Entry {
    SwitchIdx at;
    PortNum egress;
  };

  void offer_switch(SwitchIdx sw) {
    const Target* own = nullptr;
    for (const Target& target : oriented_.targets.of[sw]) {
      if (!target.host) own = &target;
    }
    const std::uint32_t place = own != nullptr ? own->base.value() : 0x10000u + sw.value();
    ready_.push({place, sw, own});
  }

  void explore_switch(SwitchIdx sw, const Target* own) {
    write(entries_to_[sw], {sw, PortNum{0}}, own);
    find_above(sw);
    if (!above_.empty()) {
      // Of the upper neighbours the one explored last: it is known to the fewest others.
      const Above* father = &above_.front();
      for (const Above& above : above_) {
        if (explored_[above.sw] > explored_[father->sw]) father = &above;
      }
      out_.default_port[sw] = father->up;
      for (const Above& above : above_) {
        write(entries_to_[sw], {above.sw, above.down}, own);
        if (above.sw == father->sw) continue;
        write(entries_to_[above.sw], {sw, above.up}, find_own(above.sw));
      }
      copy_entries(father->sw, entries_to_[sw], own);
    }
    explored_[sw] = ++count_;
    for (const Target& target : oriented_.targets.of[sw]) {
      if (target.host) ready_.push({target.base.value(), sw, &target});
    }
    for (const UpDownGraph::Link& link : oriented_.up_down.down(sw)) {
      if (--waits_for_[link.to] == 0) offer_switch(link.to);
    }
  }

  void explore_host(SwitchIdx sw, const Target& host) {
    above_.assign(1, {.sw = sw, .up = PortNum{0}, .down = host.egress});
    std::vector<Entry> unused;
    write(unused, {sw, host.egress}, &host);
    copy_entries(sw, unused, &host);
  }

  // Whoever has an entry towards the father reaches the new node the same way; for all others the
  // default ports serve both.
  void copy_entries(SwitchIdx father, std::vector<Entry>& to, const Target* target) {
    for (const Above& above : above_) is_above_[above.sw] = 1;
    for (const Entry& entry : entries_to_[father]) {
      if (!is_above_[entry.at]) write(to, entry, target);
    }
    for (const Above& above : above_) is_above_[above.sw] = 0;
  }

  void write(std::vector<Entry>& to, Entry entry, const Target* target) {
    to.push_back(entry);
    if (target == nullptr) return;
    for (unsigned offset = 0; offset < 1u << target->lmc; ++offset) {
      const Lid lid{static_cast<std::uint16_t>(target->base.value() + offset)};
      out_.lft.set_route(entry.at, lid, entry.egress);
      out_.sequence.push_back({.sw = entry.at, .lid = lid, .egress = entry.egress});
    }
  }

  const Target* find_own(SwitchIdx sw) const {
    for (const Target& target : oriented_.targets.of[sw]) {
      if (!target.host) return &target;
    }
    return nullptr;
  }

  // Each upper neighbour once, by the lowest port on either side.
  void find_above(SwitchIdx sw) {
    above_.clear();
    for (const UpDownGraph::Link& link : oriented_.up_down.up(sw)) {
      const SwitchEdge& edge = oriented_.graph.edge(link.edge);
      Above* known = nullptr;
      for (Above& above : above_) {
        if (above.sw == link.to) known = &above;
      }
      if (known == nullptr) {
        above_.push_back({.sw = link.to, .up = edge.port, .down = edge.peer_port});
      } else {
        known->down = std::min(known->down, edge.peer_port);
      }
    }
  }

  const OrientedFabric& oriented_;
  RoutingTables& out_;
  std::priority_queue<Node, std::vector<Node>, std::greater<>> ready_;
  IndexVector<SwitchIdx, std::uint32_t> waits_for_;  // links up to unexplored switches
  IndexVector<SwitchIdx, std::uint32_t> explored_;   // 1, 2, …; 0: not yet
  std::uint32_t count_ = 0;
  IndexVector<SwitchIdx, std::vector<Entry>> entries_to_;
  std::vector<Above> above_;
  IndexVector<SwitchIdx, char> is_above_;  // scratch: all 0 between uses
};

class Pira final : public Engine {
 public:
  std::string_view name() const override { return "pira"; }

  std::string_view contract() const override {
    return "Partially implicit routing (PIRa) on any fabric, 1 VL, any SL: up*/down* from the "
           "switch of the manager with few explicit entries; all else goes to each switch's "
           "default port, one link up. Much faster than fera, with somewhat longer and less even "
           "routes: meant to restore service before better tables arrive. Default ports are "
           "written into every entry, or left to the switches where the request says so. Free of "
           "deadlock as updn is. RoutingTables::sequence holds the explicit entries.";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    OrientedFabric oriented{fabric, lids, roots_or_manager(fabric, request), request.previous};
    RoutingTables result = begin_tables(name(), {fabric.switch_count(), lids.top}, oriented);
    Exploration{oriented, result}.run();
    if (!request.default_ports) {
      fill_default_ports(result.default_port, lids, result.lft);
      result.default_port.clear();
    }
    return result;
  }
};

}  // namespace

const Engine& pira_engine() {
  static const Pira engine;
  return engine;
}

}  // namespace smd
