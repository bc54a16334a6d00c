#include "smd/multicast/check_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace smd {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffff;

PortIdx port_at(const Fabric& fabric, SwitchIdx sw, PortNum number) {
  return fabric.port_of(fabric.switch_node[sw], number);
}

/// Entries as a graph whose vertices are the switches that copy, or are copied to.
class Copies {
 public:
  Copies(const Fabric& fabric, const std::vector<SwitchMask>& masks)
      : fabric_(fabric), masks_(masks) {
    for (const SwitchMask& mask : masks) at_.push_back(mask.sw);
    for (const SwitchMask& mask : masks) {
      each_link(mask, [&](PortIdx, PortIdx peer) { at_.push_back(fabric.switch_at(peer)); });
    }
    std::ranges::sort(at_);
    const auto again = std::ranges::unique(at_);
    at_.erase(again.begin(), again.end());
  }

  /// The ports of the mask whose links lead to a switch, and the far ends.
  template <class Visit>
  void each_link(const SwitchMask& mask, Visit visit) const {
    mask.ports.each([&](PortNum number) {
      if (number.value() > fabric_.num_ports(fabric_.switch_node[mask.sw])) return;
      const PortIdx out = port_at(fabric_, mask.sw, number);
      const PortIdx peer = fabric_.peer[out];
      if (peer != kNone<PortIdx> && fabric_.switch_at(peer) != kNone<SwitchIdx>) visit(out, peer);
    });
  }

  [[nodiscard]] std::size_t size() const { return at_.size(); }

  [[nodiscard]] std::uint32_t vertex(SwitchIdx sw) const {
    const auto found = std::ranges::lower_bound(at_, sw);
    return found == at_.end() || *found != sw ? kNowhere
                                              : static_cast<std::uint32_t>(found - at_.begin());
  }

  /// Each link once: (lower end, higher end), ascending.
  [[nodiscard]] std::vector<std::pair<PortIdx, PortIdx>> links() const {
    std::vector<std::pair<PortIdx, PortIdx>> out;
    for (const SwitchMask& mask : masks_) {
      each_link(mask,
                [&](PortIdx a, PortIdx b) { out.emplace_back(std::min(a, b), std::max(a, b)); });
    }
    std::ranges::sort(out);
    const auto again = std::ranges::unique(out);
    out.erase(again.begin(), again.end());
    return out;
  }

 private:
  const Fabric& fabric_;
  const std::vector<SwitchMask>& masks_;
  std::vector<SwitchIdx> at_;
};

/// Disjoint sets of vertices.
class Islands {
 public:
  explicit Islands(std::size_t count) : up_(count) { std::iota(up_.begin(), up_.end(), 0u); }

  /// False when they are one island already.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = top(a);
    b = top(b);
    up_[a] = b;
    return a != b;
  }

 private:
  std::uint32_t top(std::uint32_t at) {
    while (up_[at] != at) at = std::exchange(up_[at], up_[up_[at]]);
    return at;
  }

  std::vector<std::uint32_t> up_;
};

/// Copies that come out of a forest, for every port into it.
class Deliveries {
 public:
  Deliveries(const Fabric& fabric,
             const std::vector<SwitchMask>& masks,
             const Copies& copies,
             const std::vector<PortIdx>& receivers)
      : fabric_(fabric),
        copies_(copies),
        ports_(copies.size()),
        links_(copies.size()),
        total_(copies.size(), 0) {
    for (const SwitchMask& mask : masks) {
      const std::uint32_t at = copies.vertex(mask.sw);
      ports_[at] = mask.ports;
      mask.ports.each([&](PortNum number) {
        const PortIdx port = port_at(fabric, mask.sw, number);
        if (std::ranges::binary_search(receivers, port)) ++total_[at];
      });
    }
    for (const auto& [a, b] : copies.links()) {
      links_[copies.vertex(fabric.switch_at(a))].push_back({a, b});
      links_[copies.vertex(fabric.switch_at(b))].push_back({b, a});
    }
    std::vector<std::uint32_t> order;
    std::vector<PortIdx> up(copies.size(), kNone<PortIdx>);  // our end of the link to the parent
    std::vector<char> seen(copies.size(), 0);
    for (std::uint32_t start = 0; start < copies.size(); ++start) {
      if (std::exchange(seen[start], 1) != 0) continue;
      std::size_t at = order.size();
      order.push_back(start);
      for (; at < order.size(); ++at) {
        for (const auto& [here, there] : links_[order[at]]) {
          const std::uint32_t next = copies.vertex(fabric.switch_at(there));
          if (std::exchange(seen[next], 1) != 0) continue;
          up[next] = there;
          order.push_back(next);
        }
      }
    }
    // First what comes out below each, then, from above, what comes out everywhere else.
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const PortIdx down = up[*at] == kNone<PortIdx> ? kNone<PortIdx> : fabric.peer[up[*at]];
      if (down != kNone<PortIdx> && sends(down)) total_[vertex_of(down)] += total_[*at];
    }
    for (const std::uint32_t at : order) {
      if (up[at] == kNone<PortIdx> || !sends(up[at])) continue;
      const PortIdx down = fabric.peer[up[at]];
      const std::uint32_t below = sends(down) ? total_[at] : 0;
      total_[at] += total_[vertex_of(down)] - below;
    }
  }

  /// Of a packet that enters a switch by this port of it.
  [[nodiscard]] std::uint32_t count(PortIdx entry) const {
    const std::uint32_t at = vertex_of(entry);
    if (at == kNowhere) return 0;
    return total_[at] - (sends(entry) ? 1 : 0);
  }

  [[nodiscard]] bool sends(PortIdx port) const {
    const std::uint32_t at = vertex_of(port);
    return at != kNowhere && ports_[at].test(fabric_.number_of(port));
  }

 private:
  [[nodiscard]] std::uint32_t vertex_of(PortIdx port) const {
    return copies_.vertex(fabric_.switch_at(port));
  }

  const Fabric& fabric_;
  const Copies& copies_;
  std::vector<PortMask> ports_;                                  // by vertex
  std::vector<std::vector<std::pair<PortIdx, PortIdx>>> links_;  // by vertex: own end, other end
  std::vector<std::uint32_t> total_;                             // by vertex: whatever it enters by
};

/// Ports that are no link to a switch and no receiver.
std::string find_stray(const Fabric& fabric,
                       const std::vector<SwitchMask>& masks,
                       const std::vector<PortIdx>& receivers) {
  std::string fault;
  for (const SwitchMask& mask : masks) {
    const NodeIdx node = fabric.switch_node[mask.sw];
    mask.ports.each([&](PortNum number) {
      if (!fault.empty()) return;
      if (number.value() > fabric.num_ports(node)) {
        fault = fmt::format("switch {} has no port {}", fabric.node_guid[node], number);
        return;
      }
      const PortIdx port = fabric.port_of(node, number);
      if (std::ranges::binary_search(receivers, port)) return;
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || fabric.switch_at(peer) == kNone<SwitchIdx> ||
          number == PortNum{0})
        fault = fmt::format("{} is copied to, and nobody receives there", print_port(fabric, port));
    });
  }
  return fault;
}

}  // namespace

std::string find_tree_fault(const Fabric& fabric,
                            const std::vector<SwitchMask>& masks,
                            const std::vector<TreeMember>& members) {
  std::vector<PortIdx> receivers;  // where they are copied to
  for (const TreeMember& member : members) {
    const PortIdx entry =
        fabric.is_switch(fabric.node_of[member.port]) ? member.port : fabric.peer[member.port];
    if (entry == kNone<PortIdx> || fabric.switch_at(entry) == kNone<SwitchIdx>)
      return fmt::format("{} is at no switch", print_port(fabric, member.port));
    if (member.receives) receivers.push_back(entry);
  }
  std::ranges::sort(receivers);
  if (std::string stray = find_stray(fabric, masks, receivers); !stray.empty()) return stray;
  if (!is_forest(fabric, masks)) return "packets go round";
  const Copies copies(fabric, masks);
  const Deliveries deliveries(fabric, masks, copies, receivers);
  for (const TreeMember& member : members) {
    const PortIdx entry =
        fabric.is_switch(fabric.node_of[member.port]) ? member.port : fabric.peer[member.port];
    const std::size_t wanted = receivers.size() - (member.receives ? 1 : 0);
    const std::size_t copied = deliveries.count(entry);
    if (member.receives && !deliveries.sends(entry))
      return fmt::format("nothing is copied to {}", print_port(fabric, member.port));
    if (member.sends && copied != wanted) {
      return fmt::format(
          "{} of {} get what {} sends", copied, wanted, print_port(fabric, member.port));
    }
  }
  return {};
}

bool is_forest(const Fabric& fabric, const std::vector<SwitchMask>& masks) {
  const Copies copies(fabric, masks);
  Islands islands(copies.size());
  return std::ranges::all_of(copies.links(), [&](const auto& link) {
    return islands.join(copies.vertex(fabric.switch_at(link.first)),
                        copies.vertex(fabric.switch_at(link.second)));
  });
}

bool turns_up(const Fabric& fabric,
              const std::vector<SwitchMask>& masks,
              const IndexVector<SwitchIdx, std::uint32_t>& rank) {
  const auto leads_up = [&](PortIdx out, PortIdx in) {
    const SwitchIdx from = fabric.switch_at(out);
    const SwitchIdx to = fabric.switch_at(in);
    if (rank[from] != rank[to]) return rank[to] < rank[from];
    return fabric.node_guid[fabric.node_of[in]] < fabric.node_guid[fabric.node_of[out]];
  };
  const Copies copies(fabric, masks);
  bool found = false;
  for (const SwitchMask& mask : masks) {
    copies.each_link(mask, [&](PortIdx out, PortIdx in) {
      if (leads_up(out, in)) return;
      const auto at = std::ranges::lower_bound(
          masks, fabric.switch_at(in), {}, [](const SwitchMask& each) { return each.sw; });
      if (at == masks.end() || at->sw != fabric.switch_at(in)) return;
      copies.each_link(*at, [&](PortIdx onward, PortIdx next) {
        found = found || (onward != in && leads_up(onward, next));
      });
    });
  }
  return found;
}

void add_tree_turns(const Fabric& fabric,
                    const std::vector<SwitchMask>& masks,
                    unsigned vl,
                    ChannelGraph& graph) {
  const Copies copies(fabric, masks);
  for (const SwitchMask& mask : masks) {
    copies.each_link(mask, [&](PortIdx, PortIdx in) {
      const auto at = std::ranges::lower_bound(
          masks, fabric.switch_at(in), {}, [](const SwitchMask& each) { return each.sw; });
      if (at == masks.end() || at->sw != fabric.switch_at(in)) return;
      copies.each_link(*at, [&](PortIdx onward, PortIdx) {
        if (onward != in) graph.add(in, vl, fabric.number_of(onward).value(), vl);
      });
    });
  }
}

std::string find_discarding_row(const Fabric& fabric,
                                const SlToVlMaps& rows,
                                const std::vector<SwitchMask>& masks,
                                std::uint8_t sl) {
  if (rows.empty() || !rows.fits(fabric)) return {};
  for (const SwitchMask& mask : masks) {
    const NodeIdx node = fabric.switch_node[mask.sw];
    std::vector<PortNum> ports;
    mask.ports.each([&](PortNum number) {
      if (number.value() > fabric.num_ports(node)) return;
      const bool has_link = fabric.peer[fabric.port_of(node, number)] != kNone<PortIdx>;
      if (has_link || number == PortNum{0}) ports.push_back(number);
    });
    for (const PortNum in : ports) {
      for (const PortNum out : ports) {
        if (in == out || out == PortNum{0} ||
            rows.row(mask.sw, in, out)[sl % kSls] != kManagementVl)
          continue;
        return fmt::format(
            "SL {} from port {} to {}", sl, in, print_port(fabric, fabric.port_of(node, out)));
      }
    }
  }
  return {};
}

}  // namespace smd
