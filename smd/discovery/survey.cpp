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
    add(0);
    for (std::size_t at = 0; at < order_.size(); ++at) add_links(order_[at]);
    builder_.set_sm_port(index_[0], survey_.local_port());
    report_.fabric = builder_.build(epoch);
    report_.path = std::move(path_);
    add_fdr10();
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
  void add(std::uint32_t n) {
    const Survey::Node& node = survey_.node(n);
    NodeInfo info = node.info;
    info.local_port = tree_.arrival(n);
    if (!info.is_switch()) info.port_guid = node.ports[info.local_port.value()].guid;
    const NodeIdx at = builder_.add_node(info);
    index_[n] = at;
    order_.push_back(n);
    path_.push_back(tree_.path(n));
    if (info.is_switch()) builder_.set_switch_info(at, node.switch_info);
    if (!node.description.empty()) builder_.set_description(at, node.description);
    for (unsigned p = 0; p < node.ports.size(); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      if (!info.is_switch() && !speaks(n, number)) continue;
      builder_.set_port_guid(at, number, node.ports[p].guid);
      if (!node.ports[p].read) continue;
      PortInfo port = node.ports[p].info;
      port.local_port = info.is_switch() ? info.local_port : number;
      builder_.set_port_info(at, number, port);
    }
  }

  /// An adapter's port is known through its own link alone.
  [[nodiscard]] bool speaks(std::uint32_t n, PortNum number) const {
    const auto peer = survey_.peer({n, number});
    return (n == 0 && number == survey_.local_port()) || (peer && tree_.reaches(peer->node));
  }

  void add_links(std::uint32_t n) {
    const std::vector<LinkEnd>& peers = survey_.peers(n);
    for (unsigned p = 1; p < peers.size(); ++p) {
      const auto [peer, peer_port] = peers[p];
      if (peer == Survey::kNobody || !tree_.reaches(peer)) continue;
      if (index_[peer] == kNone<NodeIdx>) add(peer);
      builder_.add_link(index_[n], PortNum{static_cast<std::uint8_t>(p)}, index_[peer], peer_port);
    }
  }

  void add_fdr10() {
    std::vector<PortIdx> fdr10;
    for (const std::uint32_t n : order_) {
      const std::vector<Survey::Port>& ports = survey_.node(n).ports;
      for (unsigned p = 1; p < ports.size(); ++p) {
        if (!ports[p].fdr10) continue;
        fdr10.push_back(report_.fabric->port_of(index_[n], PortNum{static_cast<std::uint8_t>(p)}));
      }
    }
    std::ranges::sort(fdr10);
    if (!fdr10.empty()) report_.fabric = with_fdr10(*report_.fabric, std::move(fdr10));
  }

  /// Links that were known before what lies behind them came to be too far away.
  void add_out_of_reach(std::vector<SilentPort>& silent) const {
    for (const std::uint32_t n : order_) {
      const Survey::Node& node = survey_.node(n);
      if (!node.info.is_switch() || !tree_.path(n).full()) continue;
      const std::vector<LinkEnd>& peers = survey_.peers(n);
      for (unsigned p = 1; p < peers.size(); ++p) {
        const std::uint32_t peer = peers[p].node;
        const bool known = peer != Survey::kNobody && !survey_.node(peer).broken;
        if (known && !tree_.reaches(peer))
          silent.push_back(
              out_of_reach(node.info.node_guid, PortNum{static_cast<std::uint8_t>(p)}));
      }
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
  IndexVector<NodeIdx, HopPath> path_;  // of the report
};

}  // namespace

void Survey::seed(const SweepReport& known) {
  const Fabric& fabric = *known.fabric;
  nodes_.reserve(fabric.node_count());
  by_guid_.reserve(fabric.node_count());
  for (const NodeIdx n : fabric.node_guid.indices()) {
    Node node{.info = fabric.node_info[n],
              .description = fabric.description[n],
              .route = SmpRoute::directed(known.path[n])};
    if (fabric.is_switch(n)) node.switch_info = fabric.switch_info[fabric.switch_of[n]];
    node.ports.resize(fabric.num_ports(n) + 1);
    node.peers.resize(node.ports.size(), kNoLink);
    for (const PortIdx p : fabric.ports_of(n)) {
      Port& port = node.ports[fabric.number_of(p).value()];
      port.info = fabric.port_info[p];
      port.guid = fabric.port_guid[p];
      port.read = port.info != PortInfo{};
      const PortIdx peer = fabric.peer[p];
      if (peer == kNone<PortIdx>) continue;
      node.peers[fabric.number_of(p).value()] = {fabric.node_of[peer].value(),
                                                 fabric.number_of(peer)};
    }
    by_guid_.emplace(fabric.node_guid[n], n.value());
    nodes_.push_back(std::move(node));
  }
  for (const PortIdx p : fabric.fdr10) {
    port({fabric.node_of[p].value(), fabric.number_of(p)}).fdr10 = true;
  }
  local_port_ = fabric.number_of(fabric.sm_port);
}

std::uint32_t Survey::add(const NodeInfo& info, const SmpRoute& route) {
  Node node{.info = info, .route = route};
  node.ports.resize(info.num_ports + 1u);
  node.peers.resize(node.ports.size(), kNoLink);
  if (info.is_switch()) {
    for (Port& port : node.ports) port.guid = info.port_guid;
  }
  nodes_.push_back(std::move(node));
  by_guid_.emplace(info.node_guid, size() - 1);
  return size() - 1;
}

void Survey::forget(std::uint32_t node) {
  by_guid_.erase(nodes_[node].info.node_guid);
  nodes_[node].broken = true;
}

std::optional<std::uint32_t> Survey::find(Guid guid) const {
  const auto found = by_guid_.find(guid);
  if (found == by_guid_.end()) return std::nullopt;
  return found->second;
}

std::optional<LinkEnd> Survey::peer(LinkEnd end) const {
  const LinkEnd peer = peers(end.node)[end.port.value()];
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
    const bool keeps_info = nodes_[at.node].info.is_switch() || at == LinkEnd{0, local_port_};
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
    const bool forwards = survey_->node(n).info.is_switch();
    const std::vector<LinkEnd>& peers = survey_->peers(n);
    for (unsigned p = 1; p < peers.size(); ++p) {
      const LinkEnd from{n, PortNum{static_cast<std::uint8_t>(p)}};
      if (!forwards && (n != 0 || from.port != survey_->local_port())) continue;
      const LinkEnd peer = peers[p];
      if (peer.node == Survey::kNobody || steps_[peer.node].depth != kUnreached) continue;
      if (survey_->node(peer.node).broken) continue;
      if (steps_[n].depth == kMaxHops) {
        complete = false;
        break;
      }
      steps_[peer.node] = {.from = from,
                           .arrival = peer.port,
                           .depth = static_cast<std::uint8_t>(steps_[n].depth + 1)};
      order.push_back(peer.node);
    }
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
    const std::vector<LinkEnd>& peers = survey_->peers(n);
    for (unsigned p = 1; p < peers.size(); ++p) {
      if (peers[p].node == Survey::kNobody) continue;
      lose({n, PortNum{static_cast<std::uint8_t>(p)}}, peers[p].node);
    }
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
    anomalies.silent.push_back({guid, PortNum{0}, why});
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
