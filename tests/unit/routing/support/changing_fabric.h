// A random fabric whose cables and nodes come and go, as a manager on the first switch sees it.
#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "smd/fabric/builder.h"
#include "smd/fabric/fabric.h"

namespace smd::test {

inline int pick(int from, int to) {  // both included
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, to + 1));
}

class ChangingFabric {
 public:
  /// A connected network with parallel links; hosts have one cable or two.
  ChangingFabric(int switches, int extra_links, int hosts, unsigned lmc)
      : switches_(switches), lmc_(lmc) {
    for (int s = 0; s < switches; ++s) add_node();
    for (int s = 1; s < switches; ++s) cable(pick(0, s - 1), s);
    for (int l = 0; l < extra_links && switches > 1; ++l) {
      const int a = pick(0, switches - 1);
      cable(a, (a + pick(1, switches - 1)) % switches);
    }
    for (int h = 0; h < hosts; ++h) {
      const int host = add_node();
      for (int c = pick(0, 5) == 0 ? 2 : 1; c > 0; --c) cable(pick(0, switches - 1), host);
    }
    std::uint16_t next = 1u << lmc;
    for (Node& node : nodes_) {
      node.lid.resize(node.ports + 1u);
      for (Lid& lid : node.lid) {
        lid = Lid{next};
        next = static_cast<std::uint16_t>(next + (1u << lmc));
      }
    }
  }

  [[nodiscard]] bool empty_of(bool up) const { return list_cables(up).empty(); }

  void lose_cable() { toggle_cable(true); }

  void gain_cable() { toggle_cable(false); }

  /// Any node but the manager's.
  void toggle_node() {
    if (nodes_.size() < 2) return;
    Node& node = nodes_[static_cast<std::size_t>(pick(1, static_cast<int>(nodes_.size()) - 1))];
    node.there = !node.there;
  }

  void lose_node() {
    if (nodes_.size() < 2) return;
    nodes_[static_cast<std::size_t>(pick(1, static_cast<int>(nodes_.size()) - 1))].there = false;
  }

  /// Requires: there is a host.
  void lose_host() {
    const int last = static_cast<int>(nodes_.size()) - 1;
    nodes_[static_cast<std::size_t>(pick(switches_, last))].there = false;
  }

  /// Two hosts exchange their LIDs: each has moved.
  void swap_lids() {
    const int hosts = static_cast<int>(nodes_.size()) - switches_;
    if (hosts < 2) return;
    const auto a = static_cast<std::size_t>(switches_ + pick(0, hosts - 1));
    const auto b = static_cast<std::size_t>(switches_ + pick(0, hosts - 1));
    std::swap(nodes_[a].lid[1], nodes_[b].lid[1]);
  }

  /// Handles change from one snapshot to the next; GUIDs and port numbers do not.
  void reverse_order() { reversed_ = !reversed_; }

  /// So many times one of all that can happen.
  void change(int times) {
    for (; times > 0; --times) {
      switch (pick(0, 5)) {
        case 0:
          lose_cable();
          break;
        case 1:
        case 2:
          gain_cable();
          break;
        case 3:
          toggle_node();
          break;
        case 4:
          swap_lids();
          break;
        default:
          reverse_order();
      }
    }
  }

  /// So many times a node or a cable that goes.
  void lose(int times) {
    for (; times > 0; --times) {
      if (pick(0, 3) == 0) {
        lose_node();
      } else {
        lose_cable();
      }
    }
  }

  struct View {
    Fabric fabric;
    LidMap lids;
  };

  [[nodiscard]] View view() const {
    std::vector<char> seen(nodes_.size(), 0);
    std::vector<std::size_t> order{0};
    seen[0] = 1;
    for (std::size_t at = 0; at < order.size(); ++at) {
      for (const Cable& c : cables_) {
        if (!c.up || !nodes_[c.a].there || !nodes_[c.b].there) continue;
        const std::size_t far = c.a == order[at] ? c.b : c.b == order[at] ? c.a : order[at];
        if (seen[far]) continue;
        seen[far] = 1;
        if (is_switch(far)) order.push_back(far);
      }
    }
    FabricBuilder builder;
    std::vector<NodeIdx> index(nodes_.size(), kNone<NodeIdx>);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::size_t n = reversed_ ? nodes_.size() - 1 - i : i;
      if (!seen[n]) continue;
      NodeInfo info;
      info.node_type = static_cast<std::uint8_t>(is_switch(n) ? NodeType::Switch : NodeType::Ca);
      info.num_ports = static_cast<std::uint8_t>(nodes_[n].ports);
      info.node_guid = Guid{0x1000 + 0x100 * n};
      info.port_guid = is_switch(n) ? info.node_guid : Guid{0x1001 + 0x100 * n};
      info.local_port = PortNum{1};
      index[n] = builder.add_node(info);
      builder.set_description(index[n], fmt::format("{}{}", is_switch(n) ? 'S' : 'H', n));
    }
    for (const Cable& c : cables_) {
      if (c.up && index[c.a] != kNone<NodeIdx> && index[c.b] != kNone<NodeIdx>)
        builder.add_link(index[c.a], c.port_a, index[c.b], c.port_b);
    }
    builder.set_sm_port(index[0], PortNum{0});
    View view{*builder.build(Epoch{1}), {}};
    view.lids = make_lid_map(view.fabric);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (index[n] == kNone<NodeIdx>) continue;
      for (const PortIdx port : view.fabric.ports_of(index[n])) {
        if (view.fabric.is_end_port(port))
          set_lid(view.lids,
                  port,
                  nodes_[n].lid[view.fabric.number_of(port).value()],
                  static_cast<std::uint8_t>(is_switch(n) ? 0 : lmc_));
      }
    }
    return view;
  }

 private:
  struct Node {
    unsigned ports = 0;
    bool there = true;
    std::vector<Lid> lid;  // by port; bases, multiples of 2^lmc
  };

  struct Cable {
    std::size_t a;
    PortNum port_a;
    std::size_t b;
    PortNum port_b;
    bool up = true;
  };

  [[nodiscard]] bool is_switch(std::size_t node) const {
    return node < static_cast<std::size_t>(switches_);
  }

  int add_node() {
    nodes_.emplace_back();
    return static_cast<int>(nodes_.size()) - 1;
  }

  void cable(int a, int b) {
    Cable c{static_cast<std::size_t>(a), {}, static_cast<std::size_t>(b), {}};
    c.port_a = PortNum{static_cast<std::uint8_t>(++nodes_[c.a].ports)};
    c.port_b = PortNum{static_cast<std::uint8_t>(++nodes_[c.b].ports)};
    cables_.push_back(c);
  }

  [[nodiscard]] std::vector<std::size_t> list_cables(bool up) const {
    std::vector<std::size_t> found;
    for (std::size_t c = 0; c < cables_.size(); ++c) {
      if (cables_[c].up == up) found.push_back(c);
    }
    return found;
  }

  void toggle_cable(bool up) {
    const std::vector<std::size_t> some = list_cables(up);
    if (some.empty()) return;
    cables_[some[static_cast<std::size_t>(pick(0, static_cast<int>(some.size()) - 1))]].up = !up;
  }

  int switches_;
  unsigned lmc_;
  std::vector<Node> nodes_;
  std::vector<Cable> cables_;
  bool reversed_ = false;
};

}  // namespace smd::test
