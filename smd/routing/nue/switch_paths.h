// Tables for one VL in the making, read as channels, and which switches anybody sends from: what
// paths between switches are chosen by, at first and after a change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/routing/graph/channels.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/nue/turn_record.h"
#include "smd/routing/nue/turn_set.h"
#include "smd/routing/updn/islands.h"

namespace smd {

class SwitchPaths {
 protected:
  SwitchPaths(const Fabric& fabric,
              const LidMap& lids,
              const SwitchGraph& graph,
              std::size_t beside,
              ForwardingTables& lft)
      : fabric_(fabric),
        lids_(lids),
        graph_(graph),
        lft_(lft),
        shared_channels_(std::make_shared<const Channels>(graph)),
        channels_(*shared_channels_),
        by_port_(graph),
        sends_(graph.switches(), 0),
        met_(graph.switches(), 0),
        distance_(graph.switches(), kUnreached) {
    find_senders(beside);
  }

  void write(SwitchIdx sw, Lid lid, PortNum port) {
    at_hand_ = kNoBlock;
    written_.push_back({sw, lid, lft_.route(sw, lid)});
    lft_.set_route(sw, lid, port);
  }

  /// LIDs with entries that are others than before, ascending.
  [[nodiscard]] std::vector<Lid> list_written() const {
    std::vector<Lid> lids;
    for (const Written& each : written_) {
      if (lft_.route(each.sw, each.lid) != each.before) lids.push_back(each.lid);
    }
    std::ranges::sort(lids);
    lids.erase(std::unique(lids.begin(), lids.end()), lids.end());
    return lids;
  }

  /// The entries of all switches side by side, until one is written: where LIDs are looked at one
  /// after the other, each in every row, rows are too far apart for the cache.
  void have_at_hand(Lid lid) {
    const std::size_t block = lid.value() / kLftBlockSize;
    if (block == at_hand_ || block >= lft_.blocks()) return;
    entries_.resize(lft_.switches() * kLftBlockSize);
    for (const SwitchIdx sw : sends_.indices())
      std::ranges::copy(lft_.block(sw, block),
                        entries_.begin() + static_cast<std::ptrdiff_t>(sw.value() * kLftBlockSize));
    at_hand_ = block;
  }

  /// Tables with all entries that were written are as they were before.
  void take_back(ForwardingTables& lft) const {
    for (const Written& each : written_ | std::views::reverse)
      lft.set_route(each.sw, each.lid, each.before);
  }

  [[nodiscard]] Channel next(SwitchIdx sw, Lid lid) const {
    const std::size_t value = lid.value();
    if (value / kLftBlockSize != at_hand_) return by_port_(sw, lft_.route(sw, lid));
    return by_port_(sw, entries_[sw.value() * kLftBlockSize + value % kLftBlockSize]);
  }

  /// The switch that hands packets for the LID over; kNone where there is none.
  [[nodiscard]] SwitchIdx last_of(Lid lid) const {
    const PortIdx owner = lids_.owner_of(lid);
    if (owner == kNone<PortIdx>) return kNone<SwitchIdx>;
    const NodeIdx node = fabric_.node_of[owner];
    if (fabric_.is_switch(node)) return fabric_.switch_of[node];
    const PortIdx peer = fabric_.peer[owner];
    return peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric_.switch_at(peer);
  }

  [[nodiscard]] bool is_of_switch(Lid lid) const {
    return fabric_.is_switch(fabric_.node_of[lids_.owner_of(lid)]);
  }

  /// Switches that packets of senders for `lid` come by.
  void mark_met(Lid lid, SwitchIdx at) {
    std::ranges::fill(met_, char{0});
    met_[at] = 1;
    for (const SwitchIdx sender : sends_.indices()) {
      if (sends_[sender] == 0) continue;
      for (SwitchIdx sw = sender; met_[sw] == 0;) {
        met_[sw] = 1;
        const Channel channel = next(sw, lid);
        if (channel == kNoChannel) break;
        sw = channels_.to[channel];
      }
    }
  }

  void find_distances(SwitchIdx at) {
    if (!near_to_far_.empty() && near_to_far_.front() == at) return;
    near_to_far_.assign(1, at);
    std::ranges::fill(distance_, kUnreached);
    distance_[at] = 0;
    for (std::size_t i = 0; i < near_to_far_.size(); ++i) {
      for (const SwitchEdge& edge : graph_.edges(near_to_far_[i])) {
        if (distance_[edge.to] != kUnreached) continue;
        distance_[edge.to] = distance_[near_to_far_[i]] + 1;
        near_to_far_.push_back(edge.to);
      }
    }
  }

  [[nodiscard]] std::vector<SwitchIdx> list_senders() const {
    std::vector<SwitchIdx> senders;
    for (const SwitchIdx sw : sends_.indices()) {
      if (sends_[sw] != 0) senders.push_back(sw);
    }
    return senders;
  }

  // Up, away from hosts, before down: what hosts' paths on a tree agree with.
  [[nodiscard]] std::vector<Channel> order_channels() const {
    const auto level = compute_distances(graph_, list_senders());
    std::uint32_t farthest = 0;  // but for those that nobody reaches, which are one further
    for (const std::uint32_t each : level)
      farthest = each == kUnreached ? farthest : std::max(farthest, each);
    const auto rank = [&](Channel channel) {
      const std::uint32_t from = std::min(level[channels_.from[channel]], farthest + 1);
      const std::uint32_t to = std::min(level[channels_.to[channel]], farthest + 1);
      return from < to ? from : 2 * farthest + 3 - from;
    };
    std::vector<std::uint32_t> place(2 * std::size_t{farthest} + 5, 0);
    for (Channel c = 0; c < channels_.size(); ++c) ++place[rank(c) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<Channel> order(channels_.size());
    for (Channel c = 0; c < channels_.size(); ++c) order[place[rank(c)]++] = c;
    return order;
  }

  /// Entries for LIDs that no switch hands over stay for whoever comes back, but for those whose
  /// turns close a cycle with those in the set, which gets the others. Returns LIDs that lost some,
  /// ascending.
  std::vector<Lid> withdraw_nobodys(TurnSet& turns) {
    std::vector<Lid> withdrawn;
    std::vector<Lid> nobodys = list_orphaned_lids(lft_, lids_);
    // And of ports that have no cable any more.
    for (std::size_t l = 1; l < lids_.owner.size() && l <= lft_.top().value(); ++l) {
      const Lid lid{static_cast<std::uint16_t>(l)};
      if (lids_.owner_of(lid) != kNone<PortIdx> && last_of(lid) == kNone<SwitchIdx>)
        nobodys.push_back(lid);
    }
    std::ranges::sort(nobodys);
    for (const Lid lid : nobodys) {
      for (const SwitchIdx sw : sends_.indices()) {
        const Channel in = next(sw, lid);
        if (in == kNoChannel) continue;
        const Channel out = next(channels_.to[in], lid);
        if (out == kNoChannel || turns.add(in, out)) continue;
        write(sw, lid, kNoRoute);
        if (withdrawn.empty() || withdrawn.back() != lid) withdrawn.push_back(lid);
      }
    }
    turns.keep();
    return withdrawn;
  }

  /// One for each island, a switch that sends and has most cables.
  [[nodiscard]] std::vector<SwitchIdx> list_roots() const {
    std::vector<SwitchIdx> roots;
    for (const std::vector<SwitchIdx>& island : find_islands(graph_)) {
      roots.push_back(*std::ranges::max_element(island, {}, [this](SwitchIdx sw) {
        return std::pair{sends_[sw] != 0, graph_.edges(sw).size()};
      }));
    }
    return roots;
  }

  /// One beside the turns in the set, of links of `wished` as far as can be; its turns are in the
  /// set then. Nothing: there is none. Requires: as find_escape_links().
  [[nodiscard]] std::optional<EscapeTree> let_in_escape_tree(
      TurnSet& turns, std::span<const Channel> wished) const {
    const auto links = find_escape_links(channels_, turns, wished);
    if (!links) return std::nullopt;
    return EscapeTree{channels_, list_roots(), *links};
  }

  [[nodiscard]] TurnRecord make_record(std::vector<Channel> order) const {
    return make_record(std::move(order), list_served_lids(find_targets(fabric_, lids_)));
  }

  [[nodiscard]] TurnRecord make_record(std::vector<Channel> order,
                                       std::vector<TargetLid> served) const {
    TurnRecord record{.graph = graph_,
                      .channels = shared_channels_,
                      .hosts = {},
                      .tables = lft_,
                      .served = std::move(served),
                      .layers = {},
                      .paths = {}};
    record.layers.push_back({std::move(order), std::nullopt, {}});
    return record;
  }

  const Fabric& fabric_;
  const LidMap& lids_;
  const SwitchGraph& graph_;
  ForwardingTables& lft_;
  const std::shared_ptr<const Channels> shared_channels_;
  const Channels& channels_;
  const ChannelsByPort by_port_;
  IndexVector<SwitchIdx, char> sends_;  // a host, a router or the manager hangs here

  // Of one LID, or of the switch that it is at.
  IndexVector<SwitchIdx, char> met_;
  IndexVector<SwitchIdx, std::uint32_t> distance_;
  std::vector<SwitchIdx> near_to_far_;

 private:
  struct Written {
    SwitchIdx sw;
    Lid lid;
    PortNum before;
  };

  static constexpr std::size_t kNoBlock = std::numeric_limits<std::size_t>::max();

  std::vector<Written> written_;
  std::size_t at_hand_ = kNoBlock;
  std::vector<PortNum> entries_;  // of that block

  void find_senders(std::size_t beside) {
    for (const SwitchIdx sw : fabric_.switch_node.indices()) {
      const NodeIdx node = fabric_.switch_node[sw];
      std::size_t hosts = 0;
      for (const PortIdx port : fabric_.external_ports(node)) {
        const PortIdx peer = fabric_.peer[port];
        hosts += peer != kNone<PortIdx> && (fabric_.is_host(peer) || is_router(peer));
      }
      sends_[sw] = hosts > beside ? 1 : 0;
    }
    if (fabric_.sm_port == kNone<PortIdx>) return;
    NodeIdx node = fabric_.node_of[fabric_.sm_port];
    if (!fabric_.is_switch(node) && fabric_.peer[fabric_.sm_port] != kNone<PortIdx>)
      node = fabric_.node_of[fabric_.peer[fabric_.sm_port]];
    if (fabric_.is_switch(node)) sends_[fabric_.switch_of[node]] = 1;
  }

  /// Routers draw nothing of their own, but pass on what other subnets send.
  [[nodiscard]] bool is_router(PortIdx port) const {
    return fabric_.node_info[fabric_.node_of[port]].node_type ==
           static_cast<std::uint8_t>(NodeType::Router);
  }
};

}  // namespace smd
