// Entries of several trees, or of a tree while it changes, taken together.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "smd/multicast/check_tree.h"
#include "smd/multicast/subnet_limits.h"

namespace smd {
namespace {

/// A port that is copied to and whose cable leads to another switch, or back to the same one.
struct CopyHop {
  SwitchIdx from, to;
  PortIdx out, in;
};

std::vector<CopyHop> list_ways(const Fabric& fabric, const std::vector<SwitchMask>& masks) {
  std::vector<CopyHop> ways;
  for (const SwitchMask& mask : masks) {
    const NodeIdx node = fabric.switch_node[mask.sw];
    mask.ports.each([&](PortNum number) {
      if (number.value() > fabric.num_ports(node)) return;
      const PortIdx out = fabric.port_of(node, number);
      const PortIdx in = fabric.peer[out];
      if (in == kNone<PortIdx> || fabric.switch_at(in) == kNone<SwitchIdx>) return;
      ways.push_back({mask.sw, fabric.switch_at(in), out, in});
    });
  }
  return ways;
}

/// Adds what switches may do of whose entries nothing is known, where packets come to them; by
/// switch.
void add_unknown(std::vector<CopyHop>& ways,
                 const std::map<SwitchIdx, std::vector<CopyHop>>& unknown) {
  std::set<SwitchIdx> entered;
  for (std::size_t at = 0; at < ways.size(); ++at) {
    const auto found = unknown.find(ways[at].to);
    if (found != unknown.end() && entered.insert(found->first).second)
      ways.insert(ways.end(), found->second.begin(), found->second.end());
  }
}

/// Takes away switches with one cable, again and again; a circle is what is left.
std::string find_round(const Fabric& fabric, const std::vector<CopyHop>& ways) {
  std::map<SwitchIdx, std::vector<PortIdx>> ends;  // of cables, by the switch
  for (const CopyHop& way : ways) {
    ends[way.from].push_back(way.out);
    ends[way.to].push_back(way.in);
  }
  std::vector<SwitchIdx> alone;
  for (auto& [sw, ports] : ends) {
    std::ranges::sort(ports);
    const auto again = std::ranges::unique(ports);
    ports.erase(again.begin(), again.end());
    if (ports.size() == 1) alone.push_back(sw);
  }
  while (!alone.empty()) {
    std::vector<PortIdx>& own = ends[alone.back()];
    alone.pop_back();
    if (own.size() != 1) continue;
    const PortIdx far = fabric.peer[own.front()];
    own.clear();
    std::vector<PortIdx>& others = ends[fabric.switch_at(far)];
    std::erase(others, far);
    if (others.size() == 1) alone.push_back(fabric.switch_at(far));
  }
  for (const auto& [sw, ports] : ends) {
    if (ports.empty()) continue;
    return fmt::format("packets go round or come twice by {}", print_port(fabric, ports.front()));
  }
  return {};
}

std::string find_turn_up(const Fabric& fabric,
                         const std::vector<CopyHop>& ways,
                         const IndexVector<SwitchIdx, std::uint32_t>& rank) {
  const auto is_up = [&](const CopyHop& way) {
    const auto height = [&](SwitchIdx sw) {
      return std::pair{rank[sw], fabric.node_guid[fabric.switch_node[sw]]};
    };
    return height(way.to) < height(way.from);
  };
  std::map<SwitchIdx, std::vector<PortIdx>> ups;  // by the switch that copies up
  for (const CopyHop& way : ways) {
    if (is_up(way)) ups[way.from].push_back(way.out);
  }
  for (const CopyHop& way : ways) {
    const auto found = ups.find(way.to);
    if (is_up(way) || found == ups.end()) continue;
    for (const PortIdx up : found->second) {
      if (up != way.in)
        return fmt::format("packets that came down by {} are copied up by {}",
                           print_port(fabric, way.out),
                           print_port(fabric, up));
    }
  }
  return {};
}

/// Of one MLID: what may be held, and what may be held when the writes are out.
struct Mix {
  std::vector<SwitchMask> masks;
  bool grows = false;
};

void include(std::vector<SwitchMask>& masks, SwitchIdx sw, unsigned position, std::uint16_t ports) {
  if (ports == 0) return;
  if (masks.empty() || masks.back().sw != sw) masks.push_back({sw, {}});
  masks.back().ports.add(position, ports);
}

}  // namespace

std::string find_mixture_fault(const Fabric& fabric,
                               const MftMemory& memory,
                               const std::vector<MftWrite>& writes,
                               const IndexVector<SwitchIdx, std::uint32_t>& rank) {
  // By block and switch, as the masks of a mixture ascend by switch.
  std::map<std::tuple<std::uint16_t, SwitchIdx, std::uint8_t>, const MftWrite*> at;
  for (const MftWrite& write : writes) at[{write.at.block, write.sw, write.at.position}] = &write;
  for (auto first = at.begin(); first != at.end();) {
    const std::uint16_t block = std::get<0>(first->first);
    std::array<Mix, kMftBlockSize> mixtures;
    std::vector<SwitchMask> unread;
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      const NodeIdx node = fabric.switch_node[sw];
      for (unsigned p = 0; p <= fabric.num_ports(node) / kPortsPerPosition; ++p) {
        const auto position = static_cast<std::uint8_t>(p);
        const MftMemory::Cell cell = memory.find(fabric.node_guid[node], {block, position});
        const auto write = at.find({block, sw, position});
        if (cell.unread && block * kMftBlockSize < fabric.switch_info[sw].multicast_fdb_cap)
          include(unread, sw, p, 0xffff);
        for (std::size_t i = 0; i < mixtures.size(); ++i) {
          const unsigned added = write == at.end() ? 0u : write->second->masks[i];
          if ((added & ~cell.may[i]) != 0) mixtures[i].grows = true;
          include(mixtures[i].masks, sw, p, static_cast<std::uint16_t>(cell.may[i] | added));
        }
      }
    }
    std::map<SwitchIdx, std::vector<CopyHop>> unknown;
    for (const CopyHop& way : list_ways(fabric, unread)) unknown[way.from].push_back(way);
    for (std::size_t i = 0; i < mixtures.size(); ++i) {
      if (!mixtures[i].grows) continue;
      std::vector<CopyHop> ways = list_ways(fabric, mixtures[i].masks);
      std::string fault;
      if (!rank.empty()) fault = find_turn_up(fabric, ways, rank);
      add_unknown(ways, unknown);
      if (std::string round = find_round(fabric, ways); !round.empty()) fault = std::move(round);
      if (!fault.empty())
        return fmt::format(
            "MLID 0x{:04x}: {}", kFirstMlid.value() + block * kMftBlockSize + i, fault);
    }
    while (first != at.end() && std::get<0>(first->first) == block) ++first;
  }
  return {};
}

MftGoals collect_possible(const Fabric& fabric, const MftMemory& memory) {
  MftGoals out;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    memory.each_possible(
        fabric.node_guid[fabric.switch_node[sw]], [&](MftModifier at, const MftBlock& may) {
          for (std::size_t i = 0; i < may.size(); ++i) {
            if (may[i] == 0) continue;
            const auto mlid = kFirstMlid.value() + at.block * kMftBlockSize + i;
            include(out[Lid{static_cast<std::uint16_t>(mlid)}], sw, at.position, may[i]);
          }
        });
  }
  return out;
}

namespace {

/// A search over channels and, for each channel of a tree, two helpers: what further channels lie
/// below it, and what its holders wait for in the branches beside the way to it.
class LockStep {
 public:
  LockStep(const Fabric& fabric, const ChannelGraph& graph)
      : fabric_(fabric), vls_(graph.vls()), next_(fabric.port_count() * vls_) {
    graph.each([&](ChannelStep from, ChannelStep to) {
      next_[channel(from.port, from.vl.value())].push_back(channel(to.port, to.vl.value()));
    });
  }

  void add(const MasksOnVl& tree) {
    const std::vector<CopyHop> ways = list_ways(fabric_, tree.masks);
    const auto base = static_cast<std::uint32_t>(next_.size());
    next_.resize(base + 2 * ways.size());
    const auto below = [&](std::size_t way) { return static_cast<std::uint32_t>(base + 2 * way); };
    const auto beside = [&](std::size_t way) {
      return static_cast<std::uint32_t>(base + 2 * way + 1);
    };
    std::map<SwitchIdx, std::vector<std::size_t>> into, out_of;
    for (std::size_t w = 0; w < ways.size(); ++w) {
      into[ways[w].to].push_back(w);
      out_of[ways[w].from].push_back(w);
    }
    for (std::size_t w = 0; w < ways.size(); ++w) {
      next_[channel(ways[w].out, tree.vl)].push_back(beside(w));
      for (const std::size_t onward : out_of[ways[w].to]) {
        if (ways[onward].out == ways[w].in) continue;
        next_[below(w)].push_back(channel(ways[onward].out, tree.vl));
        next_[below(w)].push_back(below(onward));
      }
      // A packet that is copied here came in by none of the two ports.
      for (const std::size_t other : out_of[ways[w].from]) {
        if (other == w) continue;
        const bool comes = has_adapter(ways[w].from) ||
                           std::ranges::any_of(into[ways[w].from], [&](std::size_t in) {
                             return ways[in].in != ways[w].out && ways[in].in != ways[other].out;
                           });
        if (comes) next_[beside(w)].push_back(below(other));
      }
      for (const std::size_t in : into[ways[w].from]) {
        if (ways[in].in != ways[w].out) next_[beside(w)].push_back(beside(in));
      }
    }
  }

  [[nodiscard]] std::vector<ChannelStep> find_cycle() const {
    const std::size_t channels = fabric_.port_count() * vls_;

    enum : std::uint8_t { New, Open, Done };

    std::vector<std::uint8_t> state(next_.size(), New);
    std::vector<std::size_t> tried(next_.size(), 0);
    std::vector<std::uint32_t> path;
    for (std::uint32_t start = 0; start < channels; ++start) {
      if (state[start] != New) continue;
      path.assign(1, start);
      state[start] = Open;
      while (!path.empty()) {
        const std::uint32_t here = path.back();
        if (tried[here] == next_[here].size()) {
          state[here] = Done;
          path.pop_back();
          continue;
        }
        const std::uint32_t to = next_[here][tried[here]++];
        if (state[to] == Done) continue;
        if (state[to] == New) {
          state[to] = Open;
          path.push_back(to);
          continue;
        }
        std::vector<ChannelStep> cycle;
        for (auto step = std::ranges::find(path, to); step != path.end(); ++step) {
          if (*step < channels)
            cycle.push_back({PortIdx{*step / vls_}, Vl{static_cast<std::uint8_t>(*step % vls_)}});
        }
        return cycle;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t channel(PortIdx out, unsigned vl) const {
    return out.value() * vls_ + vl;
  }

  [[nodiscard]] bool has_adapter(SwitchIdx sw) const {
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      const PortIdx peer = fabric_.peer[port];
      if (peer != kNone<PortIdx> && fabric_.switch_at(peer) == kNone<SwitchIdx>) return true;
    }
    return false;
  }

  const Fabric& fabric_;
  unsigned vls_;
  std::vector<std::vector<std::uint32_t>> next_;
};

}  // namespace

std::vector<ChannelStep> find_lock_step_cycle(const Fabric& fabric,
                                              const ChannelGraph& graph,
                                              const std::vector<MasksOnVl>& trees) {
  LockStep search(fabric, graph);
  for (const MasksOnVl& tree : trees) search.add(tree);
  return search.find_cycle();
}

}  // namespace smd
