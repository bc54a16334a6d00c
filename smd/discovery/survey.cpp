#include "smd/discovery/survey.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "smd/discovery/sweep_report.h"
#include "smd/fabric/builder.h"

namespace smd {
namespace {

class ReportBuilder {
 public:
  explicit ReportBuilder(const Survey& survey)
      : survey_(survey), tree_(survey), index_(survey.size(), kNone<NodeIdx>) {}

  SweepReport build(Anomalies anomalies, Epoch epoch) {
    number_nodes();
    if (is_numbered_as_known()) {
      builder_ = FabricBuilder(*survey_.known()->fabric);
      update();
    } else {
      build_anew();
    }
    builder_.set_sm_port(index_[0], survey_.local_port());
    builder_.set_fdr10(list_fdr10());
    if (survey_.known() != nullptr) builder_.set_site_nodes(survey_.known()->fabric->site_nodes);
    report_.fabric = builder_.build(epoch);
    add_out_of_reach(anomalies.silent);
    add_silent(std::move(anomalies.silent));
    for (const DuplicateSighting& twin : anomalies.duplicates) add_duplicate(twin);
    std::ranges::sort(report_.duplicates, {}, [](const DuplicateGuid& d) {
      return std::tie(d.guid, d.first, d.second);
    });
    const auto again = std::ranges::unique(report_.duplicates);
    report_.duplicates.erase(again.begin(), again.end());
    return std::move(report_);
  }

 private:
  struct PortView {
    Guid guid;
    const PortInfo* info = nullptr;  // null: not read
  };

  /// As they were, where each of them is there and no other. Else breadth first over all links, in
  /// port order: a cable that many were found by would change most numbers.
  void number_nodes() {
    order_.reserve(survey_.size());
    const auto add = [this](std::uint32_t n) {
      index_[n] = NodeIdx{static_cast<std::uint32_t>(order_.size())};
      order_.push_back(n);
    };
    if (survey_.known() != nullptr && survey_.size() == survey_.known()->fabric->node_count()) {
      std::uint32_t n = 0;
      while (n < survey_.size() && tree_.reaches(n)) ++n;
      if (n == survey_.size()) {
        for (n = 0; n < survey_.size(); ++n) add(n);
        return;
      }
    }
    add(0);
    for (std::size_t at = 0; at < order_.size(); ++at) {
      survey_.for_each_link(order_[at], [&](PortNum, LinkEnd peer) {
        if (tree_.reaches(peer.node) && index_[peer.node] == kNone<NodeIdx>) add(peer.node);
      });
    }
  }

  [[nodiscard]] bool is_numbered_as_known() const {
    if (survey_.known() == nullptr || order_.size() != survey_.known()->fabric->node_count())
      return false;
    const Fabric& known = *survey_.known()->fabric;
    for (std::uint32_t n = 0; n < order_.size(); ++n) {
      if (order_[n] != n) return false;
      const Survey::Node* const node = survey_.find_unpacked(n);
      if (node != nullptr && (node->info.num_ports != known.num_ports(NodeIdx{n}) ||
                              node->info.is_switch() != known.is_switch(NodeIdx{n})))
        return false;
    }
    return true;
  }

  /// Nodes, their numbers and their ports are those of the known snapshot.
  void update() {
    const SweepReport& known = *survey_.known();
    const Fabric& fabric = *known.fabric;
    const bool far =
        std::ranges::any_of(order_, [&](auto n) { return tree_.depth(n) == kMaxHops; });
    for (const std::uint32_t n : order_) {
      if (survey_.find_unpacked(n) != nullptr || (far && has_far_link(n))) {
        set_node(n);
      } else if (arrives_elsewhere(fabric, NodeIdx{n})) {
        set_arrival(n);
      }
    }
    std::vector<char> moved(order_.size(), 0);  // the path is another one
    IndexVector<NodeIdx, HopPath> path;         // empty: all are as known
    for (const std::uint32_t n : list_by_depth()) {
      const HopPath& before = known.path[NodeIdx{n}];
      if (tree_.depth(n) == 0) {
        moved[n] = !before.empty();
      } else {
        const LinkEnd from = tree_.last_hop(n);
        moved[n] = moved[from.node] != 0 ||
                   !is_one_hop_more(known.path[NodeIdx{from.node}], from.port, before);
      }
      if (moved[n] == 0) continue;
      if (path.empty()) path = *known.path;
      path[NodeIdx{n}] = tree_.path(n);
    }
    if (path.empty()) {
      report_.path = known.path;
    } else {
      report_.path = std::move(path);
    }
  }

  static bool is_one_hop_more(const HopPath& path, PortNum hop, const HopPath& longer) {
    if (longer.size() != path.size() + 1 || longer[path.size()] != hop) return false;
    for (std::size_t at = 0; at < path.size(); ++at) {
      if (path[at] != longer[at]) return false;
    }
    return true;
  }

  /// A node's last hop comes before it.
  [[nodiscard]] std::vector<std::uint32_t> list_by_depth() const {
    std::vector<std::uint32_t> first(kMaxHops + 2, 0), out(order_.size());
    for (const std::uint32_t n : order_) ++first[tree_.depth(n) + 1];
    for (std::size_t d = 1; d < first.size(); ++d) first[d] += first[d - 1];
    for (const std::uint32_t n : order_) out[first[tree_.depth(n)]++] = n;
    return out;
  }

  void build_anew() {
    std::size_t ports = 0;
    for (const std::uint32_t n : order_) ports += survey_.num_ports(n) + 1;
    builder_.reserve(order_.size(), ports);
    IndexVector<NodeIdx, HopPath> path;
    path.reserve(order_.size());
    for (const std::uint32_t n : order_) {
      if (survey_.find_unpacked(n) == nullptr) {
        builder_.add_node(*survey_.known()->fabric, NodeIdx{n});
      } else {
        builder_.add_node(node_info(n));
      }
      path.push_back(tree_.path(n));
    }
    report_.path = std::move(path);
    for (const std::uint32_t n : order_) {
      if (is_as_known(n)) {
        add_links(n);
      } else {
        set_node(n);
      }
    }
  }

  /// Nobody asked about it, and all that was known of it is so still, but for links of a switch.
  [[nodiscard]] bool is_as_known(std::uint32_t n) const {
    return survey_.find_unpacked(n) == nullptr &&
           !arrives_elsewhere(*survey_.known()->fabric, NodeIdx{n}) &&
           (survey_.is_switch(n) || has_all_links(n));
  }

  [[nodiscard]] bool has_all_links(std::uint32_t n) const {
    bool all = true;
    survey_.for_each_link(n, [&](PortNum, LinkEnd peer) { all = all && is_in_reach(n, peer); });
    return all;
  }

  void add_links(std::uint32_t n) {
    survey_.for_each_link(n, [&](PortNum number, LinkEnd peer) {
      if (is_in_reach(n, peer)) builder_.add_link(index_[n], number, index_[peer.node], peer.port);
    });
  }

  [[nodiscard]] NodeInfo node_info(std::uint32_t n) const {
    const Survey::Node* const node = survey_.find_unpacked(n);
    NodeInfo info = node != nullptr ? node->info : survey_.known()->fabric->node_info[NodeIdx{n}];
    info.local_port = tree_.arrival(n);
    if (!info.is_switch()) info.port_guid = view(n, info.local_port).guid;
    return info;
  }

  [[nodiscard]] PortView view(std::uint32_t n, PortNum number) const {
    if (const Survey::Node* const node = survey_.find_unpacked(n); node != nullptr) {
      const Survey::Port& port = node->ports[number.value()];
      return {port.guid, port.read ? &port.info : nullptr};
    }
    const Fabric& fabric = *survey_.known()->fabric;
    const PortIdx port = fabric.port_of(NodeIdx{n}, number);
    const PortInfo& info = fabric.port_info[port];
    return {fabric.port_guid[port], Survey::is_read(info) ? &info : nullptr};
  }

  void set_node(std::uint32_t n) {
    const NodeIdx at = index_[n];
    const Survey::Node* const node = survey_.find_unpacked(n);
    const Fabric* const known = node == nullptr ? &*survey_.known()->fabric : nullptr;
    const bool is_switch = survey_.is_switch(n);
    if (is_switch)
      builder_.set_switch_info(
          at,
          node != nullptr ? node->switch_info : known->switch_info[known->switch_of[NodeIdx{n}]]);
    const std::string& text = node != nullptr ? node->description : known->description[NodeIdx{n}];
    if (!text.empty()) builder_.set_description(at, text);
    set_arrival(n);
    for (unsigned p = 1; p <= count_ports(n); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      const LinkEnd peer = survey_.peer_or_nobody({n, number});
      if (is_in_reach(n, peer)) {
        builder_.add_link(at, number, index_[peer.node], peer.port);
      } else {
        builder_.remove_link(at, number);
      }
    }
  }

  /// As its NodeInfo says; an agent may have changed its mind.
  [[nodiscard]] unsigned count_ports(std::uint32_t n) const {
    const Survey::Node* const node = survey_.find_unpacked(n);
    const unsigned ports = survey_.num_ports(n);
    return node != nullptr ? std::min<unsigned>(ports, node->info.num_ports) : ports;
  }

  /// The arrival port in every attribute, and with it the attributes of ports.
  void set_arrival(std::uint32_t n) {
    const NodeIdx at = index_[n];
    const NodeInfo info = node_info(n);
    builder_.set_node_info(at, info);
    for (unsigned p = 0; p <= count_ports(n); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      // An adapter's other ports have the GUID that its NodeInfo gave them, or none.
      const bool known = info.is_switch() || speaks(n, number);
      const PortView port = known ? view(n, number) : PortView{};
      builder_.set_port_guid(
          at, number, known || number != info.local_port ? port.guid : info.port_guid);
      PortInfo answer = port.info != nullptr ? *port.info : PortInfo{};
      if (port.info != nullptr) answer.local_port = info.is_switch() ? info.local_port : number;
      builder_.set_port_info(at, number, answer);
    }
  }

  /// Of a node that nobody asked about: an attribute of it names another port than its path ends
  /// at.
  [[nodiscard]] bool arrives_elsewhere(const Fabric& known, NodeIdx node) const {
    const PortNum arrival = tree_.arrival(node.value());
    if (known.node_info[node].local_port != arrival) return true;
    for (const PortIdx port : known.ports_of(node)) {
      const PortInfo& info = known.port_info[port];
      const PortNum named = known.is_switch(node) ? arrival : known.number_of(port);
      if (info.local_port != named && Survey::is_read(info)) return true;
    }
    return false;
  }

  /// An adapter's port is known through its own link alone.
  [[nodiscard]] bool speaks(std::uint32_t n, PortNum number) const {
    return (n == 0 && number == survey_.local_port()) ||
           is_in_reach(n, survey_.peer_or_nobody({n, number}));
  }

  /// Both nodes are reached, and each end can be asked. The port of an adapter is asked across its
  /// own link, which must not be one hop more than a route may have. Requires: tree_.reaches(n).
  [[nodiscard]] bool is_in_reach(std::uint32_t n, LinkEnd peer) const {
    if (peer.node == Survey::kNobody || !tree_.reaches(peer.node)) return false;
    return !is_too_far_behind(n, peer.node) && !is_too_far_behind(peer.node, n);
  }

  [[nodiscard]] bool is_too_far_behind(std::uint32_t sw, std::uint32_t adapter) const {
    return tree_.depth(sw) == kMaxHops && survey_.is_switch(sw) && !survey_.is_switch(adapter);
  }

  /// One that is not in reach, though the nodes at both ends are.
  [[nodiscard]] bool has_far_link(std::uint32_t n) const {
    bool found = false;
    survey_.for_each_link(n, [&](PortNum, LinkEnd peer) {
      found = found || (tree_.reaches(peer.node) && !is_in_reach(n, peer));
    });
    return found;
  }

  [[nodiscard]] std::vector<PortIdx> list_fdr10() const {
    std::vector<PortIdx> fdr10;
    const auto add = [&](std::uint32_t n, unsigned p) {
      if (index_[n] == kNone<NodeIdx>) return;
      fdr10.push_back(builder_.port_of(index_[n], PortNum{static_cast<std::uint8_t>(p)}));
    };
    if (survey_.known() != nullptr) {
      const Fabric& known = *survey_.known()->fabric;
      for (const PortIdx port : known.fdr10) {
        const std::uint32_t n = known.node_of[port].value();
        if (survey_.find_unpacked(n) == nullptr) add(n, known.number_of(port).value());
      }
    }
    for (const std::uint32_t n : order_) {
      const Survey::Node* const node = survey_.find_unpacked(n);
      if (node == nullptr) continue;
      for (unsigned p = 1; p < node->ports.size(); ++p) {
        if (node->ports[p].fdr10) add(n, p);
      }
    }
    std::ranges::sort(fdr10);
    return fdr10;
  }

  /// Links that were known before what lies behind them came to be too far away.
  void add_out_of_reach(std::vector<SilentPort>& silent) const {
    for (const std::uint32_t n : order_) {
      if (!survey_.is_switch(n) || tree_.depth(n) != kMaxHops) continue;
      survey_.for_each_link(n, [&](PortNum number, LinkEnd peer) {
        if (!survey_.is_broken(peer.node) && !is_in_reach(n, peer))
          silent.push_back(out_of_reach(survey_.node(n).info.node_guid, number));
      });
    }
  }

  /// In order, each port once, with the first reason.
  void add_silent(std::vector<SilentPort> silent) {
    const auto place = [](const SilentPort& s) { return std::pair{s.node, s.port}; };
    std::ranges::stable_sort(silent, {}, place);
    const auto again = std::ranges::unique(silent, {}, place);
    silent.erase(again.begin(), again.end());
    report_.silent = std::move(silent);
  }

  void add_duplicate(const DuplicateSighting& twin) {
    const auto known = survey_.find(twin.guid);
    const auto across = [this](LinkEnd end) -> std::optional<HopPath> {
      if (!tree_.reaches(end.node)) return std::nullopt;
      const HopPath path = tree_.path(end.node);
      if (path.full()) return std::nullopt;
      return path.then(end.port);
    };
    std::optional<HopPath> first;
    if (twin.first) {
      first = across(*twin.first);
    } else if (known && tree_.reaches(*known)) {
      first = tree_.path(*known);
    }
    const auto second = across(twin.second);
    if (first && second) report_.duplicates.push_back({twin.guid, *first, *second});
  }

  const Survey& survey_;
  RouteTree tree_;
  FabricBuilder builder_;
  std::vector<NodeIdx> index_;
  std::vector<std::uint32_t> order_;
  SweepReport report_;
};

}  // namespace

void Survey::seed(const SweepReport& known) {
  known_ = known;
  nodes_.resize(known.fabric->node_count());
  local_port_ = known.fabric->number_of(known.fabric->sm_port);
}

Survey::Node& Survey::unpack(std::uint32_t at) const {
  const Fabric& fabric = *known_->fabric;
  const NodeIdx n{at};
  nodes_[at] = std::make_unique<Node>(Node{.info = fabric.node_info[n],
                                           .switch_info = {},
                                           .description = fabric.description[n],
                                           .route = SmpRoute::directed(known_->path[n]),
                                           .ports = {},
                                           .peers = {}});
  Node& node = *nodes_[at];
  if (fabric.is_switch(n)) node.switch_info = fabric.switch_info[fabric.switch_of[n]];
  node.ports.resize(fabric.num_ports(n) + 1);
  node.peers.resize(node.ports.size(), kNoLink);
  for (const PortIdx p : fabric.ports_of(n)) {
    Port& port = node.ports[fabric.number_of(p).value()];
    port.info = fabric.port_info[p];
    port.guid = fabric.port_guid[p];
    port.read = is_read(port.info);
    port.fdr10 = std::ranges::binary_search(fabric.fdr10, p);
    const PortIdx peer = fabric.peer[p];
    if (peer == kNone<PortIdx>) continue;
    node.peers[fabric.number_of(p).value()] = {fabric.node_of[peer].value(),
                                               fabric.number_of(peer)};
  }
  return node;
}

std::uint32_t Survey::add(const NodeInfo& info, const SmpRoute& route) {
  Node node{.info = info, .route = route};
  node.ports.resize(info.num_ports + 1u);
  node.peers.resize(node.ports.size(), kNoLink);
  if (info.is_switch()) {
    for (Port& port : node.ports) port.guid = info.port_guid;
  }
  nodes_.push_back(std::make_unique<Node>(std::move(node)));
  by_guid_.insert_or_assign(info.node_guid, size() - 1);
  return size() - 1;
}

void Survey::forget(std::uint32_t n) {
  by_guid_.insert_or_assign(node(n).info.node_guid, kNobody);
  node(n).broken = true;
}

std::optional<std::uint32_t> Survey::find(Guid guid) const {
  const auto found = by_guid_.find(guid);
  if (found != by_guid_.end())
    return found->second == kNobody ? std::nullopt : std::optional(found->second);
  const auto known = known_ ? known_->fabric->find_node(guid) : std::nullopt;
  return known ? std::optional(known->value()) : std::nullopt;
}

std::optional<LinkEnd> Survey::peer(LinkEnd end) const {
  const LinkEnd peer = peer_or_nobody(end);
  if (peer.node == kNobody) return std::nullopt;
  return peer;
}

void Survey::link(LinkEnd a, LinkEnd b) {
  for (const LinkEnd end : {a, b}) {
    if (const auto old = peer(end)) peer_of(*old) = kNoLink;
  }
  peer_of(a) = b;
  peer_of(b) = a;
}

void Survey::unlink(LinkEnd end) {
  const auto other = peer(end);
  if (!other) return;
  for (const LinkEnd at : {end, *other}) {
    const bool keeps_info = is_switch(at.node) || at == LinkEnd{0, local_port_};
    Port& p = port(at);
    peer_of(at) = kNoLink;
    p.joined = p.fdr10 = false;
    if (!keeps_info) p = {};
  }
}

RouteTree::RouteTree(const Survey& survey) : survey_(&survey), steps_(survey.size()) {
  steps_[0] = {.arrival = survey.local_port(), .depth = 0};
  grow({0});
}

/// What can be reached from the nodes of `order` and is not reached yet. False where a route would
/// have too many hops.
bool RouteTree::grow(std::vector<std::uint32_t> order) {
  bool complete = true;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::uint32_t n = order[at];
    const bool forwards = survey_->is_switch(n);
    if (!forwards && n != 0) continue;
    survey_->for_each_link(n, [&](PortNum port, LinkEnd peer) {
      if (!forwards && port != survey_->local_port()) return;
      if (steps_[peer.node].depth != kUnreached || survey_->is_broken(peer.node)) return;
      if (steps_[n].depth == kMaxHops) {
        complete = false;
        return;
      }
      steps_[peer.node] = {.from = {n, port},
                           .arrival = peer.port,
                           .depth = static_cast<std::uint8_t>(steps_[n].depth + 1)};
      order.push_back(peer.node);
    });
  }
  return complete;
}

bool RouteTree::join(LinkEnd a, LinkEnd b) {
  steps_.resize(survey_->size());
  if (reaches(a.node) == reaches(b.node)) return true;
  return grow({reaches(a.node) ? a.node : b.node});
}

HopPath RouteTree::path(std::uint32_t node) const {
  std::array<PortNum, kMaxHops> backwards{};
  std::size_t hops = 0;
  for (std::uint32_t n = node; steps_[n].depth != 0; n = steps_[n].from.node) {
    backwards[hops++] = steps_[n].from.port;
  }
  HopPath path;
  while (hops > 0) path.push_back(backwards[--hops]);
  return path;
}

std::vector<std::uint32_t> RouteTree::cut(LinkEnd end) {
  const auto peer = survey_->peer(end);
  if (!peer) return {};
  std::vector<std::uint32_t> lost;
  const auto lose = [&](LinkEnd from, std::uint32_t to) {
    if (!reaches(to) || steps_[to].depth == 0 || steps_[to].from != from) return;
    steps_[to].depth = kUnreached;
    lost.push_back(to);
  };
  lose(end, peer->node);
  lose(*peer, end.node);
  for (std::size_t at = 0; at < lost.size(); ++at) {
    const std::uint32_t n = lost[at];
    survey_->for_each_link(n, [&](PortNum port, LinkEnd next) { lose({n, port}, next.node); });
  }
  return lost;
}

SweepReport build_report(const Survey& survey, Anomalies anomalies, Epoch epoch) {
  return ReportBuilder(survey).build(std::move(anomalies), epoch);
}

SweepReport leave_out(const SweepReport& report, const std::map<Guid, std::string>& nodes) {
  Survey survey;
  survey.seed(report);
  Anomalies anomalies{.silent = report.silent, .duplicates = {}};
  for (const auto& [guid, why] : nodes) {
    const auto node = survey.find(guid);
    if (!node || *node == 0) continue;
    survey.node(*node).broken = true;
    anomalies.silent.push_back({.node = guid, .port = PortNum{0}, .why = why, .left_out = true});
  }
  SweepReport out = build_report(survey, std::move(anomalies), report.fabric->epoch);
  out.duplicates = report.duplicates;
  return out;
}

SweepReport leave_out_links(const SweepReport& report, const std::map<PortRef, std::string>& ends) {
  Survey survey;
  survey.seed(report);
  Anomalies anomalies{.silent = report.silent, .duplicates = {}};
  for (const auto& [end, why] : ends) {
    const auto node = survey.find(end.node);
    if (!node || end.port.value() > survey.num_ports(*node)) continue;
    const LinkEnd here{*node, end.port};
    if (!survey.peer(here)) continue;
    survey.unlink(here);
    anomalies.silent.push_back({.node = end.node, .port = end.port, .why = why, .left_out = true});
  }
  SweepReport out = build_report(survey, std::move(anomalies), report.fabric->epoch);
  out.duplicates = report.duplicates;
  return out;
}

SilentPort out_of_reach(Guid node, PortNum port) {
  return {.node = node,
          .port = port,
          .why = "what hangs on it is beyond the 63 hops that a directed route may have",
          .out_of_reach = true};
}

HopPath path_to(const SweepReport& report, PortIdx port) {
  const Fabric& fabric = *report.fabric;
  const NodeIdx node = fabric.node_of[port];
  if (fabric.is_switch(node) || port == fabric.sm_port) return report.path[node];
  const PortIdx peer = fabric.peer[port];
  if (peer == kNone<PortIdx>) return report.path[node];
  return report.path[fabric.node_of[peer]].then(fabric.number_of(peer));
}

}  // namespace smd
