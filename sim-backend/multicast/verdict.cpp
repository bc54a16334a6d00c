#include "sim-backend/multicast/verdict.h"

#include <algorithm>
#include <set>

namespace smd::sim {
namespace {

constexpr std::uint32_t kLanes = 16;

}  // namespace

double count_sets(const LabelledNet& net, unsigned most) {
  double sets = 0, chosen = 1;
  for (unsigned k = 1; k <= most; ++k) {
    chosen *= static_cast<double>(net.nodes() - k) / k;
    sets += chosen;
  }
  return sets * net.nodes();
}

void for_each_set(const LabelledNet& net,
                  unsigned most,
                  const std::function<void(Node, std::span<const Node>)>& visit) {
  std::vector<Node> chosen;
  const std::function<void(Node, Node)> extend = [&](Node source, Node first) {
    if (!chosen.empty()) visit(source, chosen);
    if (chosen.size() == most) return;
    for (Node node = first; node < net.nodes(); ++node) {
      if (node == source) continue;
      chosen.push_back(node);
      extend(source, node + 1);
      chosen.pop_back();
    }
  };
  for (Node source = 0; source < net.nodes(); ++source) {
    if (net.entry(source) != kNone<PortIdx>) extend(source, 0);
  }
}

std::optional<RelationChannel> HostChannels::short_at(const LabelledNet& net,
                                                      const MulticastAlgorithm& algorithm,
                                                      Node at) const {
  if (count == 0 || count >= net.around(at).size() * algorithm.lanes) return std::nullopt;
  if (net.entry(at) == kNone<PortIdx>) return std::nullopt;  // no host
  return RelationChannel{net.entry(at), Vl{0}};
}

MulticastRelation::MulticastRelation(const LabelledNet& net,
                                     const MulticastAlgorithm& algorithm,
                                     unsigned most,
                                     HostChannels channels)
    : net_(net), algorithm_(algorithm), most_(most), channels_(channels) {}

std::uint64_t MulticastRelation::number(const Rest& left) const {
  const auto [found, added] = numbers_.try_emplace(left, left_.size());
  if (added) left_.push_back(&found->first);
  return found->second;
}

void MulticastRelation::starts(const std::function<void(const RelationPlace&)>& begin) const {
  for_each_set(net_, most_, [&](Node source, std::span<const Node> destinations) {
    for (const MulticastMessage& message : algorithm_.divide(net_, source, destinations)) {
      begin({.in = net_.entry(source),
             .vl = Vl{0},
             .state = number({message.order, message.part, message.first})});
    }
  });
}

bool MulticastRelation::moves(const RelationPlace& place, std::vector<RelationStep>& out) const {
  const Fabric& fabric = net_.fabric();
  const Node at = fabric.switch_at(place.in).value();
  const SwitchIdx before = fabric.switch_at(fabric.peer[place.in]);
  const Node from = before == kNone<SwitchIdx> ? kNoWhere : before.value();
  auto [order, part, first] = *left_[place.state];
  if (order.front() == at) order.erase(order.begin());
  if (order.empty()) return true;
  std::vector<MulticastStep> ways;
  algorithm_.ways(
      net_, {.at = at, .from = from, .to = order.front(), .part = part, .first = first}, ways);
  const std::uint64_t state = number({order, part, kNoWhere});
  for (const MulticastStep& way : ways) {
    out.push_back({.out = way.hop.out,
                   .vl = Vl{static_cast<std::uint8_t>(way.lane)},
                   .state = state,
                   .escape = way.escape});
  }
  return false;
}

std::optional<RelationChannel> MulticastRelation::consumes(const RelationPlace& place) const {
  const Node at = net_.fabric().switch_at(place.in).value();
  return std::get<0>(*left_[place.state]).front() == at ? channels_.short_at(net_, algorithm_, at)
                                                        : std::nullopt;
}

namespace {

/// Who waits for whom where messages fork, over all trees.
class ForkSearch {
 public:
  ForkSearch(const LabelledNet& net,
             const MulticastAlgorithm& algorithm,
             ForkModel branches,
             HostChannels channels)
      : net_(net), algorithm_(algorithm), branches_(branches), channels_(channels) {}

  void add(Node source, const MulticastMessage& message) {
    tree_.clear();
    grow({.at = source, .part = message.part}, message.order, kNobody);
    ++trees_;
    for (std::uint32_t b = 0; b < tree_.size(); ++b) {
      const std::uint32_t above = tree_[b].above;
      if (above != kNobody) next_[tree_[above].channel].insert(tree_[b].channel);
      if (branches_ == ForkModel::Apart) continue;
      for (std::uint32_t c = 0; c < tree_.size(); ++c) {
        if (c == b || tree_[c].above != above) continue;
        if (branches_ == ForkModel::Whole) note_both(b, c);
        for (const std::uint32_t d : below(c, branches_ == ForkModel::Whole)) {
          next_[tree_[b].channel].insert(tree_[d].channel);
          if (branches_ != ForkModel::Whole) continue;
          for (const std::uint32_t e : below(b, true))
            next_[tree_[e].channel].insert(tree_[d].channel);
        }
      }
    }
  }

  [[nodiscard]] RelationVerdict verdict() {
    RelationVerdict out;
    out.places = trees_;
    out.vls = algorithm_.lanes;
    for (const auto& [channel, to] : next_) out.edges += to.size();
    for (const auto& [channel, to] : next_) {
      if (search(channel)) break;
    }
    for (const std::uint32_t channel : cycle_) {
      out.cycle.push_back(
          {PortIdx{channel / kLanes}, Vl{static_cast<std::uint8_t>(channel % kLanes)}});
    }
    out.acyclic = out.cycle.empty();
    return out;
  }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffff;

  struct Branch {
    std::uint32_t channel = 0;
    std::uint32_t above = kNobody;  // the branch that it goes on from
  };

  void grow(const MulticastPlace& place, const std::vector<Node>& to, std::uint32_t above) {
    std::map<std::uint32_t, std::pair<NetHop, std::vector<Node>>> onward;  // by channel
    for (const Node node : to) {
      if (node == place.at) {
        if (const auto host = channels_.short_at(net_, algorithm_, node))
          tree_.push_back({host->out.value() * kLanes + host->vl.value(), above});
        continue;
      }
      MulticastPlace here = place;
      here.to = node;
      std::vector<MulticastStep> ways;
      algorithm_.ways(net_, here, ways);
      auto& [hop, nodes] = onward[ways.front().hop.out.value() * kLanes + ways.front().lane];
      hop = ways.front().hop;
      nodes.push_back(node);
    }
    for (const auto& [channel, group] : onward) {
      const auto number = static_cast<std::uint32_t>(tree_.size());
      tree_.push_back({channel, above});
      grow({.at = group.first.to, .from = place.at, .part = place.part}, group.second, number);
    }
  }

  /// A message gets the branches of a fork one by one. Two that came in by different channels, or
  /// by two of their host's, can have one each, so that each waits for the other's.
  void note_both(std::uint32_t b, std::uint32_t c) {
    const std::uint32_t above = tree_[b].above;
    const std::uint32_t by = above == kNobody ? kNobody : tree_[above].channel;
    const auto [found, added] = came_by_.try_emplace({tree_[b].channel, tree_[c].channel}, by);
    if (found->second != by || (by == kNobody && channels_.count > 1))
      next_[tree_[b].channel].insert(tree_[c].channel);
  }

  /// Branches that go on from this one, or all of them further down.
  [[nodiscard]] std::vector<std::uint32_t> below(std::uint32_t branch, bool all) const {
    std::vector<std::uint32_t> out;
    std::set<std::uint32_t> from{branch};
    for (std::uint32_t b = branch + 1; b < tree_.size(); ++b) {  // children come after parents
      if (!from.contains(tree_[b].above)) continue;
      out.push_back(b);
      if (all) from.insert(b);
    }
    return out;
  }

  bool search(std::uint32_t channel) {
    if (done_.contains(channel)) return false;
    if (const auto open = std::ranges::find(path_, channel); open != path_.end()) {
      cycle_.assign(open, path_.end());
      return true;
    }
    path_.push_back(channel);
    if (const auto found = next_.find(channel); found != next_.end()) {
      for (const std::uint32_t to : found->second) {
        if (search(to)) return true;
      }
    }
    path_.pop_back();
    done_.insert(channel);
    return false;
  }

  const LabelledNet& net_;
  const MulticastAlgorithm& algorithm_;
  ForkModel branches_;
  HostChannels channels_;
  std::vector<Branch> tree_;
  std::map<std::uint32_t, std::set<std::uint32_t>> next_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> came_by_;  // see note_both()
  std::uint64_t trees_ = 0;
  std::vector<std::uint32_t> path_, cycle_;
  std::set<std::uint32_t> done_;
};

}  // namespace

RelationVerdict check_multicast(const LabelledNet& net,
                                const MulticastAlgorithm& algorithm,
                                unsigned most,
                                ForkModel branches,
                                bool escape,
                                HostChannels channels) {
  if (!algorithm.forks) {
    return check_relation(net.fabric(),
                          MulticastRelation(net, algorithm, most, channels),
                          escape ? RelationMode::Escape : RelationMode::All);
  }
  ForkSearch search(net, algorithm, branches, channels);
  for_each_set(net, most, [&](Node source, std::span<const Node> destinations) {
    for (const MulticastMessage& message : algorithm.divide(net, source, destinations))
      search.add(source, message);
  });
  return search.verdict();
}

}  // namespace smd::sim
