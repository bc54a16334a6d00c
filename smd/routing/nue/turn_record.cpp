#include "smd/routing/nue/turn_record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

#include "smd/routing/graph/disjoint_sets.h"
#include "smd/routing/incremental/changes.h"

namespace smd {
namespace {

// Links of an escape tree that are tried whether others can take their place.
constexpr std::size_t kLinksSampled = 16;

// The fabric falls apart without the link.
bool is_bridge(const Channels& channels, Channel link) {
  DisjointSets parts{channels.switches()};
  for (Channel c = 0; c < channels.size(); ++c) {
    if (c != link && c != channels.reverse[link]) parts.join(channels.from[c], channels.to[c]);
  }
  return parts.find(channels.from[link]) != parts.find(channels.to[link]);
}

void sort_by_lid(std::vector<TargetLid>& lids) {
  if (std::ranges::is_sorted(lids, {}, &TargetLid::lid)) return;
  std::vector<std::uint32_t> place;  // by LID: of those before it
  for (const TargetLid& each : lids) {
    const std::size_t next = each.lid.value() + std::size_t{1};
    if (next >= place.size()) place.resize(next + 1, 0);
    ++place[next];
  }
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<TargetLid> sorted(lids.size());
  for (const TargetLid& each : lids) sorted[place[each.lid.value()]++] = each;
  lids = std::move(sorted);
}

}  // namespace

ChannelMap::ChannelMap(const SwitchGraph& graph_before,
                       const SwitchGraph& graph_now,
                       const IndexVector<SwitchIdx, SwitchIdx>& before_of)
    : now(graph_before.edge_count(), kNoChannel), before(graph_now.edge_count(), kNoChannel) {
  for (const SwitchIdx sw : before_of.indices()) {
    const SwitchIdx row = before_of[sw];
    if (row == kNone<SwitchIdx>) continue;
    const auto then = graph_before.edges(row);
    Channel was = graph_before.first_edge(row), is = graph_now.first_edge(sw);
    std::size_t at = 0;
    for (const SwitchEdge& edge : graph_now.edges(sw)) {
      while (at < then.size() && then[at].port < edge.port) {
        ++at;
        ++was;
      }
      if (at < then.size() && then[at].port == edge.port && then[at].peer_port == edge.peer_port &&
          before_of[edge.to] == then[at].to) {
        now[was] = is;
        before[is] = was;
      }
      ++is;
    }
  }
}

std::vector<Channel> carry_order(std::span<const Channel> before,
                                 const ChannelMap& map,
                                 std::span<const Channel> usual) {
  std::vector<std::pair<Channel, Channel>> came;  // behind whom: kNoChannel: nobody
  Channel known = kNoChannel;
  for (const Channel c : usual) {
    if (map.before[c] != kNoChannel)
      known = c;
    else
      came.emplace_back(known, c);
  }
  std::ranges::stable_sort(came, {}, &std::pair<Channel, Channel>::first);
  std::vector<Channel> order;
  order.reserve(map.before.size());
  const auto list_behind = [&](Channel c) {
    for (const auto& [_, behind] :
         std::ranges::equal_range(came, c, {}, &std::pair<Channel, Channel>::first))
      order.push_back(behind);
  };
  list_behind(kNoChannel);
  for (const Channel was : before) {
    const Channel now = map.now[was];
    if (now == kNoChannel) continue;
    order.push_back(now);
    list_behind(now);
  }
  return order;
}

TreeTurns::TreeTurns(const Channels& channels) : channels_(&channels), masks_(channels) {
  std::size_t size = 0;
  first_.reserve(channels.size());
  for (Channel out = 0; out < channels.size(); ++out) {
    const std::uint32_t sw = channels.from[out].value();
    first_.push_back(size);
    size += channels.first[sw + 1] - channels.first[sw];
  }
  counts_.assign(size, 0);
}

TreeTurns::TreeTurns(const Channels& channels, const TreeTurns& before, const ChannelMap& map)
    : TreeTurns(channels) {
  for (std::uint32_t sw = 0; sw < channels.switches(); ++sw) {
    const Channel first = channels.first[sw], end = channels.first[sw + 1];
    if (first == end) continue;
    // Mostly every channel of the switch is there, and its turns lie together.
    const Channel was = map.before[first];
    const Channel ports = end - first;
    const auto same_place = [&](Channel c) { return map.before[c] == was + (c - first); };
    bool same = was != kNoChannel;
    for (Channel c = first; same && c < end; ++c) same = same_place(c);
    if (same) {
      const std::uint32_t row = before.channels_->from[was].value();
      same = before.channels_->first[row] == was && before.channels_->first[row + 1] == was + ports;
    }
    if (same) {
      std::copy_n(before.counts_.begin() + static_cast<std::ptrdiff_t>(before.first_[was]),
                  std::size_t{ports} * ports,
                  counts_.begin() + static_cast<std::ptrdiff_t>(first_[first]));
      if (before.channels_->words == channels.words) {
        const std::size_t words = channels.words;
        std::copy_n(before.masks_.before.begin() + static_cast<std::ptrdiff_t>(was * words),
                    ports * words,
                    masks_.before.begin() + static_cast<std::ptrdiff_t>(first * words));
        for (Channel slot = 0; slot < ports; ++slot)
          std::copy_n(
              before.masks_.after.begin() +
                  static_cast<std::ptrdiff_t>(before.channels_->reverse[was + slot] * words),
              words,
              masks_.after.begin() +
                  static_cast<std::ptrdiff_t>(channels.reverse[first + slot] * words));
        continue;
      }
      mark_taken(first, end);
      continue;
    }
    for (Channel out = first; out < end; ++out) {
      for (Channel back = first; back < end; ++back) {
        if (map.before[out] == kNoChannel || map.before[back] == kNoChannel) continue;
        counts_[first_[out] + (back - first)] =
            before.count(before.channels_->reverse[map.before[back]], map.before[out]);
      }
    }
    mark_taken(first, end);
  }
}

void TreeTurns::mark_taken(Channel first, Channel end) {
  for (Channel out = first; out < end; ++out) {
    for (Channel back = first; back < end; ++back) {
      if (counts_[first_[out] + (back - first)] != 0)
        masks_.set(*channels_, channels_->reverse[back], out);
    }
  }
}

void TreeTurns::add(const GrownTree& tree) {
  for (std::size_t at_order = 1; at_order < tree.order.size(); ++at_order) {
    const Channel in = tree.egress[tree.order[at_order]];
    const Channel out = tree.egress[channels_->to[in]];
    if (out != kNoChannel) add(in, out);
  }
}

void TreeTurns::remove(const GrownTree& tree, TurnSet& turns) {
  for (std::size_t at_order = 1; at_order < tree.order.size(); ++at_order) {
    const Channel in = tree.egress[tree.order[at_order]];
    const Channel out = tree.egress[channels_->to[in]];
    if (out == kNoChannel) continue;
    remove(in, out);
    if (!is_taken(in, out)) turns.remove(in, out);
  }
}

bool TreeTurns::fill(TurnSet& turns) const {
  for (Channel out = 0; out < channels_->size(); ++out) {
    const std::uint32_t sw = channels_->from[out].value();
    const std::uint16_t* const row = counts_.data() + first_[out];
    const Channel first = channels_->first[sw];
    const Channel ports = channels_->first[sw + 1] - first;
    for (Channel slot = 0; slot < ports; ++slot) {
      if (row[slot] == 0) continue;
      const Channel in = channels_->reverse[first + slot];
      if (turns.fits(in, out) && first + slot != out)
        turns.add_fitting(in, out);
      else if (!turns.add(in, out))
        return false;
    }
  }
  turns.keep();
  return true;
}

ChannelsByPort::ChannelsByPort(const SwitchGraph& graph)
    : by_port_(graph.switches() * 256, kNoChannel) {
  for (std::uint32_t sw = 0; sw < graph.switches(); ++sw) {
    Channel channel = graph.first_edge(SwitchIdx{sw});
    for (const SwitchEdge& edge : graph.edges(SwitchIdx{sw}))
      by_port_[sw * std::size_t{256} + edge.port.value()] = channel++;
  }
}

std::vector<TargetLid> list_served_lids(const Targets& targets) {
  std::vector<TargetLid> served;
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        served.push_back({.lid = Lid{static_cast<std::uint16_t>(target.base.value() + offset)},
                          .last = sw,
                          .egress = target.egress,
                          .demand = target.host ? target.demand : 0});
    }
  }
  sort_by_lid(served);
  return served;
}

std::vector<TargetLid> list_kept_lids(const Fabric& fabric,
                                      const LidMap& lids,
                                      const Targets& targets,
                                      const PreviousRoutes& in_force) {
  std::vector<TargetLid> kept = list_served_lids(targets);
  Targets orphaned;
  orphaned.of.resize(targets.of.size());
  add_orphaned_lids(fabric, lids, in_force, orphaned);
  for (TargetLid& lid : list_served_lids(orphaned)) {
    lid.demand = 0;
    kept.push_back(lid);
  }
  std::ranges::sort(kept, {}, &TargetLid::lid);
  return kept;
}

bool has_entries(const ForwardingTables& tables, Lid lid) {
  if (lid > tables.top()) return false;
  for (std::uint32_t sw = 0; sw < tables.switches(); ++sw) {
    if (tables.route(SwitchIdx{sw}, lid) != kNoRoute) return true;
  }
  return false;
}

bool TurnRecord::is_of(const PreviousRoutes& routes, const SwitchGraph& of) const {
  const RoutingTables& now = *routes.routing;
  if (now.lft.switches() != tables.switches() || now.lft.top() != tables.top() ||
      graph.switches() != of.switches() || graph.edge_count() != of.edge_count() ||
      of.switches() != tables.switches() || now.vls != layers.size())
    return false;
  for (std::uint32_t sw = 0; sw < of.switches(); ++sw) {
    const SwitchIdx at{sw};
    if (!tables.shares_row(at, now.lft, at) || graph.first_edge(at) != of.first_edge(at))
      return false;
  }
  for (std::uint32_t at = 0; at < of.edge_count(); ++at) {
    const SwitchEdge &was = graph.edge(at), &is = of.edge(at);
    if (was.to != is.to || was.port != is.port || was.peer_port != is.peer_port) return false;
  }
  return std::ranges::all_of(served, [&](const TargetLid& lid) {
    return lid.layer == (now.path_sls.empty() ? 0 : now.path_sls.sl(SwitchIdx{0}, lid.lid));
  });
}

// Switch by switch: the rows that one of them leads to are read again and again.
std::vector<TreeTurns> TurnRecord::count_turns() const {
  std::vector<TreeTurns> taken(layers.size(), TreeTurns{*channels});
  const ChannelsByPort by_port{graph};
  std::vector<const PortNum*> rows;
  for (std::uint32_t sw = 0; sw < tables.switches(); ++sw)
    rows.push_back(tables.row(SwitchIdx{sw}).data());
  for (std::uint32_t sw = 0; sw < tables.switches(); ++sw) {
    for (const TargetLid& lid : served) {
      const Channel in = by_port(SwitchIdx{sw}, rows[sw][lid.lid.value()]);
      if (in == kNoChannel) continue;
      const SwitchIdx to = channels->to[in];
      const Channel out = by_port(to, rows[to.value()][lid.lid.value()]);
      if (out != kNoChannel) taken[lid.layer].add(in, out);
    }
  }
  return taken;
}

bool TurnRecord::leaves_room() const {
  std::vector<TreeTurns> counted;
  if (!layers.front().taken) counted = count_turns();
  for (std::size_t at = 0; at < layers.size(); ++at) {
    const Layer& layer = layers[at];
    TurnSet turns{*channels, layer.order};
    const bool free = (layer.taken ? *layer.taken : counted[at]).fill(turns);
    if (!free || !find_escape_links(*channels, turns, layer.escape)) return false;
    const std::size_t sample = std::min(layer.escape.size(), kLinksSampled);
    std::size_t tried = 0, replaced = 0;
    for (std::size_t i = 0; i < sample; ++i) {
      const Channel lost = layer.escape[i * layer.escape.size() / sample];
      if (is_bridge(*channels, lost)) continue;
      TurnSet without = turns;
      ++tried;
      replaced += find_escape_links(*channels, without, layer.escape, lost) ? 1 : 0;
    }
    if (2 * replaced < tried) return false;
  }
  return true;
}

}  // namespace smd
