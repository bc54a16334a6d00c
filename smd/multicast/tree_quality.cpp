#include "smd/multicast/tree_quality.h"

#include <algorithm>
#include <map>
#include <utility>

namespace smd {
namespace {

constexpr std::size_t kMostStarts = 64;
constexpr std::uint32_t kFar = 0xffffffff;

/// What one packet from a switch does: hops to the switches that it comes to, in that order.
class Spread {
 public:
  explicit Spread(const Fabric& fabric)
      : fabric_(fabric), hops_(fabric.switch_count(), kFar), from_(fabric.switch_count()) {}

  /// `each_out` visits the ports by which a switch sends a packet on.
  template <class EachOut>
  void run(SwitchIdx start, EachOut each_out) {
    for (const SwitchIdx sw : met_) hops_[sw] = kFar;
    met_.assign(1, start);
    hops_[start] = 0;
    from_[start] = kNone<PortIdx>;
    for (std::size_t at = 0; at < met_.size(); ++at) {
      each_out(met_[at], [&](PortIdx out) {
        const PortIdx in = fabric_.peer[out];
        if (out == from_[met_[at]] || in == kNone<PortIdx>) return;
        const SwitchIdx to = fabric_.switch_at(in);
        if (to == kNone<SwitchIdx> || hops_[to] != kFar) return;
        hops_[to] = hops_[met_[at]] + 1;
        from_[to] = in;
        met_.push_back(to);
      });
    }
  }

  [[nodiscard]] std::uint32_t hops(SwitchIdx sw) const { return hops_[sw]; }

  [[nodiscard]] const std::vector<SwitchIdx>& met() const { return met_; }

 private:
  const Fabric& fabric_;
  IndexVector<SwitchIdx, std::uint32_t> hops_;
  IndexVector<SwitchIdx, PortIdx> from_;  // the port by which the packet came
  std::vector<SwitchIdx> met_;
};

struct AtSwitch {
  SwitchIdx sw;
  std::uint64_t senders = 0;
  std::uint64_t receivers = 0;
  std::uint64_t both = 0;  // are one and the other
};

std::vector<AtSwitch> gather(const Fabric& fabric, const std::vector<TreeMember>& members) {
  std::map<SwitchIdx, AtSwitch> by_switch;
  for (const TreeMember& member : members) {
    const PortIdx entry = entry_of(fabric, member.port);
    if (entry == kNone<PortIdx>) continue;
    const SwitchIdx sw = fabric.switch_at(entry);
    AtSwitch& at = by_switch.try_emplace(sw, AtSwitch{sw}).first->second;
    at.senders += member.sends ? 1 : 0;
    at.receivers += member.receives ? 1 : 0;
    at.both += member.sends && member.receives ? 1 : 0;
  }
  std::vector<AtSwitch> out;
  for (const auto& [sw, at] : by_switch) out.push_back(at);
  return out;
}

/// Channels of a tree of shortest ways from where `spread` started to all receivers: each climbs
/// towards the start along what others have taken, where that is as short.
std::uint64_t count_shortest(const Fabric& fabric,
                             const Spread& spread,
                             const std::vector<AtSwitch>& at,
                             IndexVector<SwitchIdx, char>& taken) {
  std::vector<SwitchIdx> marked{spread.met().front()};
  taken[marked.front()] = 1;
  for (const AtSwitch& each : at) {
    if (each.receivers == 0 || spread.hops(each.sw) == kFar) continue;
    for (SwitchIdx sw = each.sw; taken[sw] == 0;) {
      taken[sw] = 1;
      marked.push_back(sw);
      SwitchIdx up = kNone<SwitchIdx>;
      for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
        const PortIdx peer = fabric.peer[port];
        const SwitchIdx next = peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric.switch_at(peer);
        if (next == kNone<SwitchIdx> || spread.hops(next) + 1 != spread.hops(sw)) continue;
        if (up == kNone<SwitchIdx> || (taken[next] != 0 && taken[up] == 0)) up = next;
      }
      sw = up;
    }
  }
  for (const SwitchIdx sw : marked) taken[sw] = 0;
  return marked.size() - 1;
}

/// Cables between switches that are copied to, by their lower ends; ascending, each once.
std::vector<PortIdx> cables_of(const Fabric& fabric, const std::vector<SwitchMask>& masks) {
  std::vector<PortIdx> out;
  for (const SwitchMask& mask : masks) {
    const NodeIdx node = fabric.switch_node[mask.sw];
    mask.ports.each([&](PortNum number) {
      if (number.value() > fabric.num_ports(node)) return;
      const PortIdx port = fabric.port_of(node, number);
      const PortIdx peer = fabric.peer[port];
      if (peer != kNone<PortIdx> && fabric.switch_at(peer) != kNone<SwitchIdx>)
        out.push_back(std::min(port, peer));
    });
  }
  std::ranges::sort(out);
  const auto again = std::ranges::unique(out);
  out.erase(again.begin(), again.end());
  return out;
}

}  // namespace

TreeQuality measure_tree(const Fabric& fabric,
                         const std::vector<SwitchMask>& masks,
                         const std::vector<TreeMember>& members) {
  TreeQuality out;
  out.cables = static_cast<std::uint32_t>(cables_of(fabric, masks).size());
  const std::vector<AtSwitch> at = gather(fabric, members);
  std::vector<AtSwitch> senders = at;
  std::erase_if(senders, [](const AtSwitch& each) { return each.senders == 0; });
  out.sampled = senders.size() > kMostStarts;
  Spread tree(fabric), shortest(fabric);
  IndexVector<SwitchIdx, char> taken(fabric.switch_count(), 0);
  const std::size_t starts = std::min(senders.size(), kMostStarts);
  for (std::size_t s = 0; s < starts; ++s) {
    const AtSwitch& sender = senders[s * senders.size() / starts];
    tree.run(sender.sw, [&](SwitchIdx sw, auto leave) {
      const auto mask = std::ranges::lower_bound(masks, sw, {}, &SwitchMask::sw);
      if (mask == masks.end() || mask->sw != sw) return;
      const NodeIdx node = fabric.switch_node[sw];
      mask->ports.each([&](PortNum number) {
        if (number.value() <= fabric.num_ports(node)) leave(fabric.port_of(node, number));
      });
    });
    shortest.run(sender.sw, [&](SwitchIdx sw, auto leave) {
      for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) leave(port);
    });
    out.senders += sender.senders;
    out.channels += sender.senders * (tree.met().size() - 1);
    out.shortest_channels += sender.senders * count_shortest(fabric, shortest, at, taken);
    for (const AtSwitch& to : at) {
      if (tree.hops(to.sw) == kFar) continue;
      // Nobody counts as his own receiver.
      const std::uint64_t pairs =
          sender.senders * to.receivers - (to.sw == sender.sw ? to.both : 0);
      if (pairs == 0) continue;
      out.pairs += pairs;
      out.hops += pairs * tree.hops(to.sw);
      out.shortest_hops += pairs * shortest.hops(to.sw);
      out.depth = std::max(out.depth, tree.hops(to.sw));
      out.shortest_depth = std::max(out.shortest_depth, shortest.hops(to.sw));
    }
  }
  return out;
}

LinkShares measure_cables(const Fabric& fabric,
                          const std::map<Lid, std::vector<SwitchMask>>& trees) {
  std::vector<PortIdx> all;
  for (const auto& [mlid, masks] : trees) {
    const std::vector<PortIdx> cables = cables_of(fabric, masks);
    all.insert(all.end(), cables.begin(), cables.end());
  }
  std::ranges::sort(all);
  LinkShares out{.trees = all.size()};
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end] == all[first]) ++end;
    ++out.cables;
    if (end - first > out.most) {
      out.most = static_cast<std::uint32_t>(end - first);
      out.fullest = all[first];
    }
    first = end;
  }
  return out;
}

}  // namespace smd
