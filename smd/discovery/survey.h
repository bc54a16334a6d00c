// What discovery knows so far, and the shortest directed routes over it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "smd/discovery/sweep_report.h"

namespace smd {

// What a discovery knows so far: nodes, ports and links, as they are learned or were known before.
//
// Nodes are numbered as they come and keep their number; node 0 is the manager's own. A node that
// is gone stays as an entry that nothing leads to. Of what was known before, only nodes that
// somebody asks for are unpacked: a run that looks at a few of many costs what it looks at.

/// One end of a link.
struct LinkEnd {
  std::uint32_t node = 0;
  PortNum port;

  friend bool operator==(const LinkEnd&, const LinkEnd&) = default;
  friend auto operator<=>(const LinkEnd&, const LinkEnd&) = default;
};

class Survey {
 public:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  struct Port {
    PortInfo info;
    Guid guid;
    bool asked = false;    // in this run
    bool read = false;     // `info` is an answer, of this run or of one before
    bool fresh = false;    // `info` is an answer of this run
    bool joined = false;   // the link was seen in this run
    bool probing = false;  // who is at the other end is being asked, or will be
    bool plain = false;    // `info` was asked for before it was known that bit 31 belongs to it
    bool fdr10 = false;
    bool mute = false;  // does not say what it is: nobody can bring it up, so its link is none
  };

  struct Node {
    NodeInfo info;
    SwitchInfo switch_info;
    std::string description;
    SmpRoute route;
    std::vector<Port> ports;     // 0 … num_ports
    std::vector<LinkEnd> peers;  // by port, of kNobody where there is no link; apart, because
                                 // whoever looks for paths looks at nothing else
    bool broken = false;         // stopped answering, or is gone: left out of the snapshot
  };

  /// Takes over a snapshot; node numbers are its handles. Requires: an empty survey.
  void seed(const SweepReport& known);

  /// Requires: the GUID is new.
  std::uint32_t add(const NodeInfo& info, const SmpRoute& route);

  /// The node's GUID is free for another one. Requires: it has no link.
  void forget(std::uint32_t n);

  /// An answer, not what stands where there was none.
  [[nodiscard]] static bool is_read(const PortInfo& info) {
    return info.local_port != PortNum{0} || info != PortInfo{};
  }

  [[nodiscard]] std::optional<std::uint32_t> find(Guid guid) const;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }

  [[nodiscard]] Node& node(std::uint32_t n) {
    return nodes_[n] != nullptr ? *nodes_[n] : unpack(n);
  }

  [[nodiscard]] const Node& node(std::uint32_t n) const {
    return nodes_[n] != nullptr ? *nodes_[n] : unpack(n);
  }

  [[nodiscard]] Port& port(LinkEnd end) { return node(end.node).ports[end.port.value()]; }

  [[nodiscard]] const Port& port(LinkEnd end) const {
    return node(end.node).ports[end.port.value()];
  }

  // What can be asked of every node without unpacking it.

  /// Null where nobody has asked for it: it is as the snapshot says that was taken over.
  [[nodiscard]] const Node* find_unpacked(std::uint32_t n) const { return nodes_[n].get(); }

  /// The snapshot that was taken over; null: none.
  [[nodiscard]] const SweepReport* known() const { return known_ ? &*known_ : nullptr; }

  [[nodiscard]] bool is_switch(std::uint32_t n) const {
    return nodes_[n] != nullptr ? nodes_[n]->info.is_switch()
                                : known_->fabric->is_switch(NodeIdx{n});
  }

  [[nodiscard]] bool is_broken(std::uint32_t n) const {
    return nodes_[n] != nullptr && nodes_[n]->broken;
  }

  [[nodiscard]] unsigned num_ports(std::uint32_t n) const {
    return nodes_[n] != nullptr ? static_cast<unsigned>(nodes_[n]->ports.size() - 1)
                                : known_->fabric->num_ports(NodeIdx{n});
  }

  [[nodiscard]] std::optional<LinkEnd> peer(LinkEnd end) const;

  /// Of kNobody where there is no link.
  [[nodiscard]] LinkEnd peer_or_nobody(LinkEnd end) const {
    if (nodes_[end.node] != nullptr) return nodes_[end.node]->peers[end.port.value()];
    const Fabric& fabric = *known_->fabric;
    const PortIdx peer = fabric.peer[fabric.port_of(NodeIdx{end.node}, end.port)];
    if (peer == kNone<PortIdx>) return kNoLink;
    return {.node = fabric.node_of[peer].value(), .port = fabric.number_of(peer)};
  }

  [[nodiscard]] bool is_up(LinkEnd end) const {
    return port(end).info.state() >= PortState::Initialize;
  }

  /// Both ends lose the link that they had.
  void link(LinkEnd a, LinkEnd b);

  /// An adapter's end is forgotten with its link: it answers for itself when it has one again.
  void unlink(LinkEnd end);

  /// `visit(port, peer)`, ports ascending.
  template <class Visit>
  void for_each_link(std::uint32_t n, Visit&& visit) const {
    if (const Node* const node = nodes_[n].get(); node != nullptr) {
      for (unsigned p = 1; p < node->peers.size(); ++p) {
        if (node->peers[p].node != kNobody)
          visit(PortNum{static_cast<std::uint8_t>(p)}, node->peers[p]);
      }
      return;
    }
    const Fabric& fabric = *known_->fabric;
    for (const PortIdx port : fabric.external_ports(NodeIdx{n})) {
      const PortIdx peer = fabric.peer[port];
      if (peer != kNone<PortIdx>)
        visit(fabric.number_of(port),
              LinkEnd{.node = fabric.node_of[peer].value(), .port = fabric.number_of(peer)});
    }
  }

  [[nodiscard]] PortNum local_port() const { return local_port_; }

  void set_local_port(PortNum port) { local_port_ = port; }

 private:
  static constexpr LinkEnd kNoLink{.node = kNobody, .port = PortNum{0}};

  LinkEnd& peer_of(LinkEnd end) { return node(end.node).peers[end.port.value()]; }

  Node& unpack(std::uint32_t n) const;

  std::optional<SweepReport> known_;
  mutable std::vector<std::unique_ptr<Node>> nodes_;  // null: as known_ says

  /// Look-ups only, of what differs from known_; kNobody: no node has it any more.
  std::unordered_map<Guid, std::uint32_t> by_guid_;
  PortNum local_port_;  // of the manager; 0 on a switch
};

/// A node seen across `second` under a GUID that another one has, which is known, or was seen
/// across `first`.
struct DuplicateSighting {
  Guid guid;
  std::optional<LinkEnd> first;
  LinkEnd second;
};

/// What was noticed on the way.
struct Anomalies {
  std::vector<SilentPort> silent;
  std::vector<DuplicateSighting> duplicates;
};

/// The snapshot of what can be reached, with its paths. It shares with the one that the survey took
/// over whatever is the same: where no node came or went, the numbers, too. Else these follow from
/// the cabling, as paths always do: breadth first from the manager, in port order. The arrival port
/// in every attribute is that of the path.
[[nodiscard]] SweepReport build_report(const Survey& survey, Anomalies anomalies, Epoch epoch);

// The shortest directed routes from the manager over the links of a survey: breadth first, ties by
// port. Adapters and routers forward nothing.

class RouteTree {
 public:
  explicit RouteTree(const Survey& survey);

  [[nodiscard]] bool reaches(std::uint32_t node) const {
    return node < steps_.size() && steps_[node].depth != kUnreached;
  }

  /// Requires: reaches(node).
  [[nodiscard]] HopPath path(std::uint32_t node) const;

  /// Where the last hop leaves from. Requires: reaches(node), and not node 0.
  [[nodiscard]] LinkEnd last_hop(std::uint32_t node) const { return steps_[node].from; }

  /// Requires: reaches(node).
  [[nodiscard]] unsigned depth(std::uint32_t node) const { return steps_[node].depth; }

  /// The port where the path arrives: of node 0 the manager's own.
  [[nodiscard]] PortNum arrival(std::uint32_t node) const { return steps_[node].arrival; }

  /// Nodes that are reached through the link at `end`, which is still there; they are not reached
  /// any more.
  std::vector<std::uint32_t> cut(LinkEnd end);

  /// Takes in a link that came to the survey. What only it leads to is reached from then on, not
  /// always by the shortest route. False where a route would have too many hops.
  bool join(LinkEnd a, LinkEnd b);

 private:
  static constexpr std::uint8_t kUnreached = UINT8_MAX;

  struct Step {
    LinkEnd from;
    PortNum arrival;
    std::uint8_t depth = kUnreached;
  };

  bool grow(std::vector<std::uint32_t> order);

  const Survey* survey_;
  std::vector<Step> steps_;
};

}  // namespace smd
