// Halves, and halves of these. Two ways are tried: the first switches in the fabric's order, and a
// half that grows from an end of the fabric by the switch with the largest share of its cables
// inside. Of each, switches then move over one by one where that cuts fewer cables; the half that
// cuts fewer is taken. Growth finds the pods of a tree, but on a large dragonfly takes the same
// switch of many groups.
#include "sim-backend/packet/partition_split.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "sim-backend/packet/wiring.h"

namespace smd::sim {
namespace {

constexpr unsigned kPasses = 8;
constexpr std::uint64_t kTolerance = 32;  // a half may be off by so small a part of the whole

/// Switches with what they have to do, and cables between them.
struct SwitchGraph {
  std::vector<std::uint32_t> nodes;  // by switch
  std::vector<std::uint64_t> work;   // ports in use, and adapters there
  std::vector<std::vector<std::uint32_t>> near;
};

/// `switch_of`: of each node; adapters have that of their first cable to a switch.
SwitchGraph draw_switches(const FabricSpec& spec, std::vector<std::uint32_t>& switch_of) {
  SwitchGraph graph;
  switch_of.assign(spec.nodes.size(), kNowhere);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    switch_of[n] = static_cast<std::uint32_t>(graph.nodes.size());
    graph.nodes.push_back(n);
  }
  graph.work.resize(graph.nodes.size(), 1);
  graph.near.resize(graph.nodes.size());
  const auto is_switch = [&](std::uint32_t node) {
    return spec.nodes[node].type == NodeType::Switch;
  };
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (const PortSpec& port : spec.nodes[n].ports) {
      if (port.peer_node == kNoNode || !is_switch(port.peer_node)) continue;
      const std::uint32_t there = switch_of[port.peer_node];
      ++graph.work[there];
      if (is_switch(n)) {
        if (port.peer_node != n) graph.near[switch_of[n]].push_back(there);
      } else if (switch_of[n] == kNowhere) {
        switch_of[n] = there;
        ++graph.work[there];
      }
    }
  }
  return graph;
}

class RecursiveBisection {
 public:
  RecursiveBisection(const SwitchGraph& graph, std::vector<std::uint32_t>& part)
      : graph_(graph), part_(part), inside_(graph.nodes.size(), kNowhere) {}

  /// Gives `members` the numbers first … first + parts - 1.
  void share_out(const std::vector<std::uint32_t>& members, unsigned first, unsigned parts) {
    if (parts == 1) {
      for (const std::uint32_t s : members) part_[s] = first;
      return;
    }
    const unsigned left = parts / 2;
    std::uint64_t whole = 0;
    for (const std::uint32_t s : members) whole += graph_.work[s];
    // Neither half may have fewer switches than partitions.
    const Half half{.target = whole * left / parts,
                    .tolerance = std::max<std::uint64_t>(1, whole / kTolerance),
                    .least = left,
                    .most = members.size() - (parts - left)};
    std::vector<std::uint32_t> best;
    std::uint64_t least_cut = 0;
    for (const bool in_order : {true, false}) {
      for (const std::uint32_t s : members) inside_[s] = kRight;
      std::uint64_t work = 0;
      const std::size_t count =
          in_order ? take_first(members, half, work) : grow(members, half, work);
      improve(members, half, count, work);
      const std::uint64_t cut = count_cut(members);
      if (!best.empty() && cut >= least_cut) continue;
      least_cut = cut;
      best.clear();
      for (const std::uint32_t s : members) best.push_back(inside_[s]);
    }
    std::vector<std::uint32_t> halves[2];
    for (std::size_t i = 0; i < members.size(); ++i) {
      halves[best[i]].push_back(members[i]);
      inside_[members[i]] = kNowhere;
    }
    share_out(halves[kLeft], first, left);
    share_out(halves[kRight], first + left, parts - left);
  }

 private:
  static constexpr std::uint32_t kLeft = 0;
  static constexpr std::uint32_t kRight = 1;

  /// What the left half is to have: so much work, at least and at most so many switches.
  struct Half {
    std::uint64_t target = 0;
    std::uint64_t tolerance = 0;
    std::size_t least = 0;
    std::size_t most = 0;
  };

  /// Last of a breadth-first search: at an end of the members.
  [[nodiscard]] std::uint32_t find_end(const std::vector<std::uint32_t>& members) const {
    std::vector<std::uint8_t> seen(graph_.nodes.size());
    std::vector<std::uint32_t> line{members.front()};
    seen[members.front()] = 1;
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (const std::uint32_t near : graph_.near[line[i]]) {
        if (seen[near] != 0 || inside_[near] == kNowhere) continue;
        seen[near] = 1;
        line.push_back(near);
      }
    }
    return line.back();
  }

  [[nodiscard]] bool is_enough(const Half& half,
                               std::size_t count,
                               std::uint64_t work,
                               std::uint32_t next) const {
    if (count >= half.most) return true;
    return count >= half.least && work + graph_.work[next] / 2 > half.target;
  }

  std::size_t take_first(const std::vector<std::uint32_t>& members,
                         const Half& half,
                         std::uint64_t& work) {
    std::size_t count = 0;
    while (!is_enough(half, count, work, members[count])) {
      work += graph_.work[members[count]];
      inside_[members[count++]] = kLeft;
    }
    return count;
  }

  [[nodiscard]] std::uint64_t count_cut(const std::vector<std::uint32_t>& members) const {
    std::uint64_t out = 0;
    for (const std::uint32_t s : members) {
      for (const std::uint32_t near : graph_.near[s]) {
        out += inside_[s] == kLeft && inside_[near] == kRight;
      }
    }
    return out;
  }

  std::size_t grow(const std::vector<std::uint32_t>& members,
                   const Half& half,
                   std::uint64_t& work) {
    // By the share of their cables that ends inside, largest first, then by number.
    std::vector<std::int64_t> shared(graph_.nodes.size());
    const auto rank = [&](std::uint32_t s) {
      const auto all = static_cast<std::int64_t>(graph_.near[s].size()) + 1;
      return std::pair(-(shared[s] << 20) / all, s);
    };
    std::set<std::pair<std::int64_t, std::uint32_t>> line;
    for (const std::uint32_t s : members) line.insert(rank(s));
    std::uint32_t next = find_end(members);
    std::size_t count = 0;
    while (!is_enough(half, count, work, next)) {
      line.erase(rank(next));
      inside_[next] = kLeft;
      work += graph_.work[next];
      ++count;
      for (const std::uint32_t near : graph_.near[next]) {
        if (inside_[near] != kRight) continue;
        line.erase(rank(near));
        ++shared[near];
        line.insert(rank(near));
      }
      next = line.begin()->second;
    }
    return count;
  }

  void improve(const std::vector<std::uint32_t>& members,
               const Half& half,
               std::size_t count,
               std::uint64_t work) {
    bool moved = true;
    for (unsigned pass = 0; pass < kPasses && moved; ++pass) {
      moved = false;
      for (const std::uint32_t s : members) {
        std::int64_t gain = 0;
        for (const std::uint32_t near : graph_.near[s]) {
          if (inside_[near] != kNowhere) gain += inside_[near] != inside_[s] ? 1 : -1;
        }
        if (gain <= 0) continue;
        const bool leaves = inside_[s] == kLeft;
        const std::uint64_t after = leaves ? work - graph_.work[s] : work + graph_.work[s];
        const std::size_t many = leaves ? count - 1 : count + 1;
        if (many < half.least || many > half.most) continue;
        if (after > half.target + half.tolerance || after + half.tolerance < half.target) continue;
        inside_[s] = leaves ? kRight : kLeft;
        work = after;
        count = many;
        moved = true;
      }
    }
  }

  const SwitchGraph& graph_;
  std::vector<std::uint32_t>& part_;
  std::vector<std::uint32_t> inside_;  // which half; kNowhere: not looked at
};

}  // namespace

std::vector<std::uint32_t> split_nodes(const FabricSpec& spec, unsigned parts) {
  std::vector<std::uint32_t> out(spec.nodes.size(), 0);
  if (parts == 1) return out;
  std::vector<std::uint32_t> switch_of;
  const SwitchGraph graph = draw_switches(spec, switch_of);
  std::vector<std::uint32_t> part(graph.nodes.size());
  std::vector<std::uint32_t> all(graph.nodes.size());
  std::iota(all.begin(), all.end(), 0u);
  RecursiveBisection(graph, part).share_out(all, 0, parts);
  for (std::uint32_t n = 0; n < out.size(); ++n) {
    if (switch_of[n] != kNowhere) out[n] = part[switch_of[n]];
  }
  return out;
}

std::string check_partitions(const FabricSpec& spec, const PacketOptions& options) {
  if (options.partitions == 1) return {};
  const auto switches = static_cast<std::size_t>(std::ranges::count(
      spec.nodes, NodeType::Switch, [](const NodeSpec& node) { return node.type; }));
  const std::size_t most = std::min<std::size_t>(switches, kMostPartitions);
  if (options.partitions < 1 || options.partitions > most) {
    return fmt::format("{} partitions; a fabric of {} switches has 1 to {}",
                       options.partitions,
                       switches,
                       std::max<std::size_t>(1, most));
  }
  const std::vector<std::uint32_t> part = split_nodes(spec, options.partitions);
  const Wiring wiring(spec, options);
  for (const Wire& wire : wiring.wires) {
    if (wire.peer == kNowhere || wire.propagation > 0) continue;
    if (part[wire.node] == part[wiring.wires[wire.peer].node]) continue;
    return "cables without propagation keep partitions from running side by side";
  }
  return {};
}

}  // namespace smd::sim
