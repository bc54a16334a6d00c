#include <algorithm>
#include <bitset>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/rebalance_shortest.h"
#include "smd/routing/incremental/update_shortest.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/nue/paths_of_switches.h"
#include "smd/routing/nue/switch_paths.h"
#include "smd/routing/nue/turn_set.h"

namespace smd {
namespace {

constexpr std::size_t kPorts = 256;

// Open switches of one LID up to which more are opened before anybody searches for cycles.
constexpr std::size_t kWidest = 128;

// Turns tried in vain, over all LIDs: choosing all paths between switches again helps sooner then.
constexpr std::size_t kMostClosed = 4096;

// The same of one LID: choosing all its entries again helps sooner.
constexpr std::size_t kMostClosedOfOne = 64;

/// Out of routes that PathsOfSwitches led. What the engine changed since then is entered into the
/// turns that are taken: entries that packets of hosts meet as they are, or on another shortest
/// path, of the others any that closes no cycle. Where there is none for a LID, all its entries
/// that hosts do not meet are chosen again. LIDs that nothing changed for are not looked at.
class PathsUpdate : SwitchPaths {
 public:
  using SwitchPaths::take_back;

  /// `record`: of the routes in force.
  PathsUpdate(const Fabric& before,
              const TurnRecord& record,
              const Fabric& fabric,
              const LidMap& lids,
              const SwitchGraph& graph,
              bool hosts_stay,
              ForwardingTables& lft)
      : SwitchPaths(fabric, lids, graph, 0, lft),
        hosts_stay_(hosts_stay),
        record_(record),
        changes_(find_port_changes(before, fabric, graph)),
        map_(record_.graph, graph, changes_.before),
        by_port_before_(record_.graph),
        taken_(channels_, *record_.layers.front().taken, map_),
        changed_here_(graph.switches(), 0),
        open_(graph.switches(), 0) {}

  /// LIDs with paths of hosts that are others than the engine made them, ascending.
  [[nodiscard]] std::span<const Lid> moved() {
    moved_.erase(std::unique(moved_.begin(), moved_.end()), moved_.end());
    return moved_;
  }

  /// LIDs with entries that are others than the engine made them, ascending.
  [[nodiscard]] std::vector<Lid> altered() const { return list_written(); }

  /// Null when something cannot go: the tables are of no use then.
  std::shared_ptr<const TurnRecord> run() {
    list_changed();
    for_each_changed([this](std::span<const Changed> entries) {
      count_turns(entries, false);
      return true;
    });
    turns_ = taken_.list(carry_order(record_.layers.front().order,
                                     map_,
                                     map_.has_new() ? order_channels() : std::vector<Channel>{}));
    if (!record_.layers.front().escape.empty()) escape_ = let_in_escape_tree(turns_, list_kept());
    count_escape_turns([this](Channel in, Channel out) { taken_.add(in, out); });
    const bool done = for_each_changed([this](std::span<const Changed> entries) {
      const bool settled = settle(entries);
      if (settled) count_turns(settled_, true);
      const bool goes = settled || settle_anew(entries);
      for (const Changed& each : settled_) changed_here_[each.sw] = 0;
      return goes;
    });
    if (!done) return nullptr;
    static_cast<void>(withdraw_nobodys(turns_));
    count_escape_turns([this](Channel in, Channel out) { taken_.remove(in, out); });
    TurnRecord record = make_record(turns_.list_channels(), std::move(served_));
    record.layers.front().taken = std::move(taken_);
    if (escape_) record.layers.front().escape = escape_->list_links();
    return std::make_shared<const TurnRecord>(std::move(record));
  }

 private:
  struct Changed {
    Lid lid;
    SwitchIdx sw;
    PortNum before;
    bool met = false;
  };

  /// Entries that are others than in force, and those over links that were not there; of LIDs that
  /// came or went all. By LID.
  void list_changed() {
    std::vector<std::bitset<kPorts>> gained(open_.size());
    for (const PortChanges::Gained& link : changes_.gained)
      gained[link.sw.value()].set(link.port.value());
    was_served_.assign(kUnicastLids, 0);
    is_served_.assign(kUnicastLids, 0);
    for (const TargetLid& served : record_.served) was_served_[served.lid.value()] = 1;
    served_ = list_served_lids(find_targets(fabric_, lids_));
    for (const TargetLid& served : served_) is_served_[served.lid.value()] = 1;
    std::vector<std::size_t> others;  // LIDs that came or went
    for (std::size_t lid = 1; lid < kUnicastLids; ++lid) {
      if (was_served_[lid] != is_served_[lid]) others.push_back(lid);
    }
    for (const SwitchIdx sw : open_.indices()) list_changed_of(sw, gained[sw.value()], others);
    std::ranges::stable_sort(changed_, {}, &Changed::lid);
  }

  void list_changed_of(SwitchIdx sw,
                       const std::bitset<kPorts>& new_links,
                       std::span<const std::size_t> others) {
    const ForwardingTables& old = record_.tables;
    const SwitchIdx row = changes_.before[sw];
    const std::span<const PortNum> now = lft_.row(sw);
    const std::span<const PortNum> then =
        row == kNone<SwitchIdx> ? std::span<const PortNum>{} : old.row(row);
    const auto look_at = [&](std::size_t lid) {
      if (was_served_[lid] == 0 && is_served_[lid] == 0) return;
      const PortNum before = lid < then.size() ? then[lid] : kNoRoute;
      const PortNum is = lid < now.size() ? now[lid] : kNoRoute;
      if (is != before || new_links[is.value()] || was_served_[lid] != is_served_[lid])
        changed_.push_back({Lid{static_cast<std::uint16_t>(lid)}, sw, before});
    };
    if (new_links.any() || now.size() != then.size()) {
      for (std::size_t lid = 1; lid < std::max(now.size(), then.size()); ++lid) look_at(lid);
      return;
    }
    for (const std::size_t lid : others) {
      if (lid < now.size()) look_at(lid);
    }
    lft_.for_each_other_block(sw, old, row, [&](std::size_t block) {
      const std::size_t first = block * kLftBlockSize;
      for (std::size_t lid = std::max<std::size_t>(first, 1); lid < first + kLftBlockSize; ++lid) {
        if (was_served_[lid] == is_served_[lid]) look_at(lid);
      }
      return true;
    });
  }

  /// By LID, until `visit` returns false, which is returned.
  template <class Visit>
  bool for_each_changed(Visit visit) {
    for (auto first = changed_.begin(); first != changed_.end();) {
      const auto behind = std::find_if(
          first, changed_.end(), [&](const Changed& each) { return each.lid != first->lid; });
      const std::span<const Changed> entries{first, behind};
      for (const Changed& each : entries) changed_here_[each.sw] = 1;
      const bool go_on = visit(entries);
      for (const Changed& each : entries) changed_here_[each.sw] = 0;
      if (!go_on) return false;
      first = behind;
    }
    return true;
  }

  /// As it was in force, if the link is still there.
  [[nodiscard]] Channel next_before(SwitchIdx sw, Lid lid) const {
    const SwitchIdx row = changes_.before[sw];
    if (row == kNone<SwitchIdx>) return kNoChannel;
    const Channel was = by_port_before_(row, record_.tables.route(row, lid));
    return was == kNoChannel ? kNoChannel : map_.now[was];
  }

  /// The turns that begin or end with one of the entries: as they are, or away as they were.
  void count_turns(std::span<const Changed> entries, bool add) {
    const Lid lid = entries.front().lid;
    if ((add ? is_served_ : was_served_)[lid.value()] == 0) return;
    const auto entry = [&](SwitchIdx sw) { return add ? next(sw, lid) : next_before(sw, lid); };
    const auto count = [&](Channel in, Channel out) {
      add ? taken_.add(in, out) : taken_.remove(in, out);
    };
    for (const Changed& each : entries) {
      const Channel own = entry(each.sw);
      if (own == kNoChannel) continue;
      if (const Channel onward = entry(channels_.to[own]); onward != kNoChannel) count(own, onward);
      for_each_from(each.sw, [&](SwitchIdx from, Channel into) {
        if (changed_here_[from] == 0 && entry(from) == into) count(into, own);
        return true;
      });
    }
  }

  /// `visit(neighbour, channel from there)` until it is false, which is returned.
  template <class Visit>
  bool for_each_from(SwitchIdx sw, Visit visit) const {
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
      if (!visit(channels_.to[c], channels_.reverse[c])) return false;
    }
    return true;
  }

  /// Enters the turn to the entry of the next switch, and those of switches that hand over to `sw`,
  /// but for open ones, which are asked when it is up to them.
  bool enter(SwitchIdx sw, Lid lid, SwitchIdx last, Channel channel, bool searches = true) {
    if (channel == kNoChannel || closed_ > most_closed_) return false;
    const SwitchIdx to = channels_.to[channel];
    const std::size_t known = entered_.size();
    const auto add = [&](Channel in, Channel out) {
      if (!searches && !turns_.has(in, out) && !turns_.fits(in, out)) return false;
      entered_.emplace_back(in, out);
      if (turns_.add(in, out)) return true;
      ++closed_;
      return false;
    };
    bool free = true;
    if (to != last) {
      const Channel onward = open_[to] != 0 ? kNoChannel : next(to, lid);
      free = onward != kNoChannel && add(channel, onward);
    }
    free =
        free && for_each_from(sw, [&](SwitchIdx from, Channel into) {
          return from == last || open_[from] != 0 || next(from, lid) != into || add(into, channel);
        });
    if (free || turns_.is_kept()) {
      turns_.keep();
    } else {
      turns_.take_back();
    }
    if (!free) entered_.resize(known);
    return free;
  }

  /// By a packet of a sender.
  [[nodiscard]] bool is_met(SwitchIdx sw, Lid lid) {
    reached_.assign(1, sw);
    for (std::size_t i = 0; i < reached_.size(); ++i) {
      if (sends_[reached_[i]] != 0 || reached_.size() > open_.size()) return true;
      for_each_from(reached_[i], [&](SwitchIdx from, Channel into) {
        if (next(from, lid) == into) reached_.push_back(from);
        return true;
      });
    }
    return false;
  }

  [[nodiscard]] std::size_t count_links(SwitchIdx sw, Lid lid, SwitchIdx last) const {
    std::size_t links = 0;
    for (; sw != last && links < open_.size(); ++links) {
      const Channel channel = open_[sw] != 0 ? kNoChannel : next(sw, lid);
      if (channel == kNoChannel) return open_.size();
      sw = channels_.to[channel];
    }
    return links;
  }

  bool take(const Changed& entry, SwitchIdx last, Channel channel) {
    if (!enter(entry.sw, entry.lid, last, channel, searches_ || entry.met)) return false;
    write(entry.sw, entry.lid, graph_.edge(channel).port);
    open_[entry.sw] = 0;
    return true;
  }

  /// As in force where hosts do not meet it, as the engine has it, or else the shortest way, over
  /// the lowest switch, so that different LIDs turn at the same few.
  bool choose(const Changed& entry, SwitchIdx last) {
    const Channel now = next(entry.sw, entry.lid);
    if (!entry.met && take(entry, last, by_port_(entry.sw, entry.before))) return true;
    if (take(entry, last, now)) return true;
    if (entry.met &&
        (!searches_ || count_links(channels_.to[now], entry.lid, last) == open_.size()))
      return false;

    struct Candidate {
      std::size_t links;
      SwitchIdx to;
      Channel channel;
    };

    std::vector<Candidate> ways;
    const std::size_t most =
        entry.met ? count_links(channels_.to[now], entry.lid, last) : open_.size() - 1;
    const std::uint32_t at = entry.sw.value();
    for (Channel c = channels_.first[at]; c < channels_.first[at + 1]; ++c) {
      const std::size_t links = count_links(channels_.to[c], entry.lid, last);
      if (links <= most && links < open_.size()) ways.push_back({links, channels_.to[c], c});
    }
    std::ranges::stable_sort(ways, {}, [](const Candidate& way) {
      return std::pair{way.links, way.to};
    });
    const bool found = std::ranges::any_of(
        ways, [&](const Candidate& way) { return take(entry, last, way.channel); });
    if (found && entry.met) moved_.push_back(entry.lid);
    return found;
  }

  /// What left_ holds. Where hosts have to stay, whoever can go the way that is best for him does,
  /// once it is known how that goes on, and one goes another way when nobody can.
  bool settle_left(SwitchIdx last) {
    const auto go_best_way = [&](const Changed& each) {
      const Channel was = each.met ? kNoChannel : by_port_(each.sw, each.before);
      return take(each, last, was == kNoChannel ? next(each.sw, each.lid) : was);
    };
    const auto go_any_way = [&](const Changed& each) { return choose(each, last); };
    for (bool found = true; found && !left_.empty();) {
      if (!hosts_stay_) {
        found = std::erase_if(left_, go_any_way) > 0;
        continue;
      }
      if (std::erase_if(left_, go_best_way) > 0) continue;
      const auto other = std::ranges::find_if(left_, go_any_way);
      found = other != left_.end();
      if (found) left_.erase(other);
    }
    return left_.empty();
  }

  /// Who hands over to one of left_ that no host meets is open as well, and his turns count no
  /// more. False: nobody does.
  bool widen(SwitchIdx last) {
    const std::size_t first = settled_.size();
    for (const Changed& each : left_) {
      if (each.met) continue;
      for_each_from(each.sw, [&](SwitchIdx from, Channel into) {
        if (from != last && changed_here_[from] == 0 && next(from, each.lid) == into)
          settled_.push_back({each.lid, from, lft_.route(from, each.lid)});
        return true;
      });
    }
    const std::span<const Changed> more{settled_.begin() + static_cast<std::ptrdiff_t>(first),
                                        settled_.end()};
    for (const Changed& each : more) {
      changed_here_[each.sw] = 1;
      open_[each.sw] = 1;
      left_.push_back(each);
    }
    // Where they lead has changed, and those turns are gone.
    for (const Changed& each : more) {
      const Channel own = next(each.sw, each.lid);
      for_each_from(each.sw, [&](SwitchIdx from, Channel into) {
        if (changed_here_[from] != 0 || next(from, each.lid) != into) return true;
        taken_.remove(into, own);
        if (!taken_.is_taken(into, own)) turns_.remove(into, own);
        return true;
      });
    }
    return !more.empty();
  }

  bool settle(std::span<const Changed> entries) {
    const Lid lid = entries.front().lid;
    const SwitchIdx last = last_of(lid);
    entered_.clear();
    most_closed_ = std::min(kMostClosed, closed_ + kMostClosedOfOne);
    settled_.assign(entries.begin(), entries.end());
    if (is_served_[lid.value()] == 0) return true;
    left_.clear();
    for (Changed each : entries) {
      if (each.sw == last || lft_.route(each.sw, lid) == kNoRoute) continue;
      each.met = !is_of_switch(lid) && sends_[last] != 0 && is_met(each.sw, lid);
      left_.push_back(each);
    }
    for (const Changed& each : left_) open_[each.sw] = 1;
    searches_ = false;
    while (!settle_left(last)) {
      if ((searches_ || left_.size() < kWidest) && widen(last)) continue;
      if (searches_) {
        close_left();
        return false;
      }
      searches_ = true;
    }
    return true;
  }

  void close_left() {
    for (const Changed& each : left_) open_[each.sw] = 0;
  }

  /// All entries of the LID that hosts do not meet, from the nearest switch on: as they are where
  /// that goes.
  bool settle_anew(std::span<const Changed> entries) {
    const Lid lid = entries.front().lid;
    const SwitchIdx last = last_of(lid);
    for (const auto& [in, out] : entered_) {
      if (!taken_.is_taken(in, out)) turns_.remove(in, out);
    }
    // Of what did not change, all turns that are still counted.
    for (const SwitchIdx sw : open_.indices()) {
      const Channel in = was_served_[lid.value()] != 0 ? next_before(sw, lid) : kNoChannel;
      if (in == kNoChannel || changed_here_[sw] != 0 || changed_here_[channels_.to[in]] != 0)
        continue;
      const Channel out = next_before(channels_.to[in], lid);
      if (out == kNoChannel) continue;
      taken_.remove(in, out);
      if (!taken_.is_taken(in, out)) turns_.remove(in, out);
    }
    turns_.forget_barred();
    searches_ = true;
    most_closed_ = kMostClosed;
    find_distances(last);
    std::ranges::fill(met_, char{0});
    if (!is_of_switch(lid) && sends_[last] != 0) mark_met(lid, last);
    left_.clear();
    std::vector<Changed> all;
    for (const SwitchIdx sw : near_to_far_) {
      if (sw == last) continue;
      all.push_back({lid, sw, lft_.route(sw, lid), met_[sw] != 0});
      open_[sw] = met_[sw] != 0 ? 0 : 1;
    }
    bool goes = std::ranges::all_of(all, [&](const Changed& each) {
      return !each.met || enter(each.sw, lid, last, next(each.sw, lid));
    });
    std::ranges::copy_if(
        all, std::back_inserter(left_), [](const Changed& each) { return !each.met; });
    if (!goes || (!settle_left(last) && !go_along_escape_tree(lid, last))) {
      close_left();
      return false;
    }
    for (const Changed& each : all) {
      const Channel in = next(each.sw, lid);
      const Channel out = in == kNoChannel ? kNoChannel : next(channels_.to[in], lid);
      if (out != kNoChannel) taken_.add(in, out);
    }
    return true;
  }

  /// As if a LID took them, so that they stay in the set while others leave it.
  template <class Count>
  void count_escape_turns(Count count) const {
    if (!escape_) return;
    for (const auto& [in, out] : escape_->list_turns()) count(in, out);
  }

  /// Links of the escape tree in force that there still are.
  [[nodiscard]] std::vector<Channel> list_kept() const {
    std::vector<Channel> kept;
    for (const Channel was : record_.layers.front().escape) {
      if (map_.now[was] != kNoChannel) kept.push_back(map_.now[was]);
    }
    return kept;
  }

  /// Who has no way goes along an escape tree as far as it does not meet a path of hosts; where
  /// none is met, everybody does. Nobody hands over to one of them.
  bool go_along_escape_tree(Lid lid, SwitchIdx last) {
    if (!escape_) return false;
    escape_->aim_at(last);
    std::vector<SwitchIdx> going;
    if (is_of_switch(lid) || sends_[last] == 0) {
      std::ranges::copy_if(
          near_to_far_, std::back_inserter(going), [last](SwitchIdx sw) { return sw != last; });
    } else {
      std::ranges::transform(left_, std::back_inserter(going), &Changed::sw);
    }
    for (const SwitchIdx sw : going) {
      write(sw, lid, graph_.edge(escape_->egress(sw)).port);
      open_[sw] = 0;
    }
    const bool free = std::ranges::all_of(going, [&](SwitchIdx sw) {
      const Channel in = next(sw, lid);
      const SwitchIdx to = channels_.to[in];
      return to == last || turns_.add(in, next(to, lid));
    });
    free ? turns_.keep() : turns_.take_back();
    return free;
  }

  static constexpr std::size_t kUnicastLids = 0xc000;

  const bool hosts_stay_;
  const TurnRecord& record_;
  const PortChanges changes_;
  const ChannelMap map_;
  const ChannelsByPort by_port_before_;
  TreeTurns taken_;
  TurnSet turns_{channels_, {}};
  std::optional<EscapeTree> escape_;
  std::vector<Changed> changed_;
  std::vector<TargetLid> served_;
  std::vector<char> was_served_, is_served_;  // by LID
  // Of one LID.
  IndexVector<SwitchIdx, char> changed_here_, open_;
  std::vector<Changed> left_, settled_;  // who has no way yet; all whose entries may be others
  std::vector<SwitchIdx> reached_;
  std::vector<std::pair<Channel, Channel>> entered_;  // turns, as far as they go
  // Else only turns that are taken, or agree with the order, are entered for what hosts do not
  // meet, and hosts stay.
  bool searches_ = true;
  std::size_t closed_ = 0;  // turns that were tried and close a cycle
  std::size_t most_closed_ = kMostClosed;
  std::vector<Lid> moved_;
};

/// Tables that are kept apart in place of `tables`. False: they cannot be.
bool keep(const PreviousRoutes& in_force,
          const Fabric& fabric,
          const LidMap& lids,
          bool hosts_stay,
          RoutingTables& tables) {
  const TurnRecord* record = in_force.routing->turns.get();
  if (record == nullptr || record->layers.size() != 1 || !record->layers.front().taken ||
      !tables.recomputed || tables.vls != 1 || !tables.sl_to_vl.empty() ||
      !tables.default_port.empty() || tables.turns != nullptr ||
      !record->is_of(in_force, SwitchGraph{*in_force.fabric}))
    return false;
  const SwitchGraph graph{fabric};
  PathsUpdate paths{*in_force.fabric, *record, fabric, lids, graph, hosts_stay, tables.lft};
  auto now = paths.run();
  if (now == nullptr || (!paths.moved().empty() && hosts_stay)) {
    paths.take_back(tables.lft);
    return false;
  }
  if (!paths.moved().empty()) {
    ForwardingTables before = tables.lft;
    paths.take_back(before);
    move_loads(graph, find_targets(fabric, lids), before, tables.lft, paths.moved(), tables.load);
  }
  std::vector<Lid> recomputed;
  std::ranges::set_union(*tables.recomputed, paths.altered(), std::back_inserter(recomputed));
  tables.recomputed = std::move(recomputed);
  tables.turns = std::move(now);
  return true;
}

}  // namespace

bool keep_switches_apart(const PreviousRoutes& in_force,
                         const Fabric& fabric,
                         const LidMap& lids,
                         RoutingTables& tables) {
  return keep(in_force, fabric, lids, false, tables);
}

std::optional<RoutingTables> update_on_one_vl(std::string_view engine,
                                              const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request) {
  const PreviousRoutes& in_force = *request.in_force;
  const RoutingTables& before = *in_force.routing;
  if (before.turns == nullptr) return std::nullopt;
  const SwitchGraph graph{fabric};
  const Targets targets = find_targets(fabric, lids);
  if (std::ranges::count(targets.hosts, 0u) == 0) return std::nullopt;
  const std::vector<std::uint32_t> costs = find_link_costs(fabric, graph);
  auto updated = update_shortest(fabric, lids, graph, targets, costs, in_force, request.rebalance);
  if (!updated) return std::nullopt;
  RoutingTables tables{.engine = std::string{engine}, .lft = std::move(updated->lft)};
  tables.recomputed = std::move(updated->recomputed);
  tables.load = std::move(updated->load);
  const auto keeps = [&] {
    return keep(in_force, fabric, lids, true, tables) ||
           keep(in_force, fabric, lids, false, tables) ||
           // After a restart the record is of other routes than those that were found.
           record_turns(fabric, lids, tables);
  };
  // At rest nothing is chosen again.
  const auto has_changed = [&] {
    return find_port_changes(*in_force.fabric, fabric, graph).any() ||
           find_targets(*in_force.fabric, *in_force.lids).hosts != targets.hosts;
  };
  if (!keeps() && (!has_changed() || !lead_switches_apart(fabric, lids, tables, 0)))
    return std::nullopt;
  tables.notes.emplace_back(kDetoursNote);
  // Not by these directions any more; kept for who asks for them next.
  tables.orientation.by_guid = before.orientation.by_guid;
  return tables;
}

}  // namespace smd
