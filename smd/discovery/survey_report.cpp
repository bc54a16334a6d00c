#include <algorithm>
#include <tuple>
#include <utility>

#include "smd/discovery/route_tree.h"
#include "smd/discovery/survey.h"
#include "smd/fabric/builder.h"
#include "smd/fabric/describe.h"

namespace smd {
namespace {

class ReportBuilder {
 public:
  explicit ReportBuilder(const Survey& survey)
      : survey_(survey), tree_(survey), index_(survey.size(), kNone<NodeIdx>) {}

  SweepReport build(Oddities oddities, Epoch epoch) {
    add(0);
    for (std::size_t at = 0; at < order_.size(); ++at) add_links(order_[at]);
    builder_.set_sm_port(index_[0], survey_.local_port());
    report_.fabric = builder_.build(epoch);
    report_.path = std::move(path_);
    add_fdr10();
    add_out_of_reach(oddities.silent);
    add_silent(std::move(oddities.silent));
    for (const Twin& twin : oddities.twins) add_twin(twin);
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

  /// An adapter's port is known through its own cable alone.
  [[nodiscard]] bool speaks(std::uint32_t n, PortNum number) const {
    const auto far = survey_.peer({n, number});
    return (n == 0 && number == survey_.local_port()) || (far && tree_.reaches(far->node));
  }

  void add_links(std::uint32_t n) {
    const std::vector<CableEnd>& peers = survey_.peers(n);
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

  /// Cables that were known before what lies behind them came to be too far away.
  void add_out_of_reach(std::vector<SilentPort>& silent) const {
    for (const std::uint32_t n : order_) {
      const Survey::Node& node = survey_.node(n);
      if (!node.info.is_switch() || !tree_.path(n).full()) continue;
      const std::vector<CableEnd>& peers = survey_.peers(n);
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

  void add_twin(const Twin& twin) {
    const auto known = survey_.find(twin.guid);
    const auto across = [this](CableEnd end) -> std::optional<HopPath> {
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

SweepReport build_report(const Survey& survey, Oddities oddities, Epoch epoch) {
  return ReportBuilder(survey).build(std::move(oddities), epoch);
}

SweepReport leave_out(const SweepReport& report, const std::map<Guid, std::string>& nodes) {
  Survey survey;
  survey.seed(report);
  Oddities oddities{.silent = report.silent, .twins = {}};
  for (const auto& [guid, why] : nodes) {
    const auto node = survey.find(guid);
    if (!node || *node == 0) continue;
    survey.node(*node).broken = true;
    oddities.silent.push_back({guid, PortNum{0}, why});
  }
  SweepReport out = build_report(survey, std::move(oddities), report.fabric->epoch);
  out.duplicates = report.duplicates;
  return out;
}

}  // namespace smd
