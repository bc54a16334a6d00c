#include "smd/routing/nue/paths_of_switches.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "smd/routing/layered/layered_tables.h"
#include "smd/routing/nue/switch_paths.h"
#include "smd/routing/nue/turn_set.h"
#include "smd/routing/updn/orientation.h"

namespace smd {
namespace {

class PathsOfSwitches : SwitchPaths {
 public:
  PathsOfSwitches(const Fabric& fabric,
                  const LidMap& lids,
                  const SwitchGraph& graph,
                  std::size_t beside,
                  ForwardingTables& lft)
      : SwitchPaths(fabric, lids, graph, beside, lft),
        moves_hosts_(beside != 0),
        chosen_(graph.switches(), kNoChannel) {}

  /// Else every entry is met, and there is nothing to choose.
  [[nodiscard]] bool has_choice() const {
    return std::ranges::any_of(sends_, [](char sends) { return sends == 0; });
  }

  /// The LIDs with entries that are others now.
  std::vector<Lid> run() {
    TurnSet turns{channels_, order_channels()};
    turns_ = &turns;
    for_each_lid([this](Lid lid, SwitchIdx at, bool to_host) {
      if (!to_host) return true;
      mark_met(lid, at);
      return add_entries(lid, at, [this](SwitchIdx sw) { return met_[sw] != 0; });
    });
    if (closed_) return {};
    turns.keep();
    for_each_lid([this](Lid lid, SwitchIdx at, bool) {
      return add_entries(lid, at, [](SwitchIdx) { return true; });
    });
    if (!closed_) return {};
    choose_all();
    // Where who chose first left others no way, all turns of a spanning tree come before: one that
    // is wide near its root, or else one that fits the order of channels.
    for (const bool wide : {true, false}) {
      if (!closed_ || moves_hosts_) break;
      turns.take_back();
      turns.forget_barred();
      if (escape_) forget_escape_tree();
      const EscapeTree near{channels_, list_roots()};
      escape_ = let_in_escape_tree(turns, wide ? near.list_links() : std::vector<Channel>{});
      if (escape_) choose_all();
    }
    if (closed_) return {};
    turns.keep();
    std::vector<Lid> led;
    std::ranges::set_union(write_choices(), withdraw_nobodys(turns), std::back_inserter(led));
    TurnRecord record = make_record(turns.list_channels());
    record.layers.front().taken = std::move(record.count_turns().front());
    if (escape_) record.layers.front().escape = escape_->list_links();
    record_ = std::make_shared<const TurnRecord>(std::move(record));
    return led;
  }

  /// Of the turns of all entries, after run().
  [[nodiscard]] std::shared_ptr<const TurnRecord> record() const { return record_; }

 private:
  struct Choice {
    SwitchIdx sw;
    Lid lid;
    PortNum egress;
  };

  /// `visit(lid, switch that it is at, whether it is one of a sender's hosts)` until it is false,
  /// which closes; ascending.
  template <typename Visit>
  void for_each_lid(Visit visit) {
    for (std::size_t l = 1; l < lids_.owner.size() && !closed_; ++l) {
      const Lid lid{static_cast<std::uint16_t>(l)};
      const SwitchIdx at = last_of(lid);
      if (at == kNone<SwitchIdx>) continue;
      have_at_hand(lid);
      closed_ = !visit(lid, at, !is_of_switch(lid) && sends_[at] != 0);
    }
  }

  /// From the turns of hosts' paths on; closed_ where a LID cannot be had.
  void choose_all() {
    turns_->take_back();
    turns_->forget_barred();
    choices_.clear();
    closed_ = false;
    for (const bool to_hosts : {false, true}) {
      for_each_lid([this, to_hosts](Lid lid, SwitchIdx at, bool to_host) {
        return to_host != to_hosts || choose(lid, at, to_host);
      });
    }
  }

  /// Nobody takes its turns yet but hosts' paths, which are entered again.
  void forget_escape_tree() {
    for (const auto& [in, out] : escape_->list_turns()) turns_->remove(in, out);
    closed_ = false;
    for_each_lid([this](Lid lid, SwitchIdx at, bool to_host) {
      if (!to_host) return true;
      mark_met(lid, at);
      return add_entries(lid, at, [this](SwitchIdx sw) { return met_[sw] != 0; });
    });
    turns_->keep();
    escape_.reset();
  }

  /// All go along the tree. Of no use for a LID of a host: whoever found no way would meet a path
  /// of hosts there as well.
  bool escape(SwitchIdx at) {
    if (!escape_) return false;
    escape_->aim_at(at);
    for (const SwitchIdx sw : near_to_far_) {
      if (sw != at) chosen_[sw] = escape_->egress(sw);
    }
    return true;
  }

  /// The turns of entries of switches that `which` names. False when they close a cycle.
  template <typename Which>
  bool add_entries(Lid lid, SwitchIdx at, Which which) {
    for (const SwitchIdx sw : sends_.indices()) {
      if (sw == at || !which(sw)) continue;
      const Channel in = next(sw, lid);
      if (in == kNoChannel || channels_.to[in] == at) continue;
      const Channel out = next(channels_.to[in], lid);
      if (out != kNoChannel && !turns_->add(in, out)) return false;
    }
    return true;
  }

  [[nodiscard]] bool leads_on(Channel channel, SwitchIdx at) const {
    const SwitchIdx to = channels_.to[channel];
    return to == at || chosen_[to] != kNoChannel;
  }

  /// Of the channels out of `sw` that lead on: one that brings no new turn, else the first whose
  /// turn closes no cycle, by the lowest switch, so that different LIDs turn at the same few.
  bool choose_at(SwitchIdx sw, Lid lid, SwitchIdx at, bool shortest) {
    const auto may = [&](Channel channel) {
      const SwitchIdx to = channels_.to[channel];
      return leads_on(channel, at) && (!shortest || distance_[to] + 1 == distance_[sw]);
    };
    const auto is_known = [&](Channel channel) {
      const SwitchIdx to = channels_.to[channel];
      return to == at || turns_->has(channel, chosen_[to]);
    };
    const Channel now = next(sw, lid);
    if (now != kNoChannel && may(now) && is_known(now)) {
      chosen_[sw] = now;
      return true;
    }
    candidates_.clear();
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
      if (may(c)) candidates_.push_back(c);
    }
    std::ranges::sort(candidates_, {}, [&](Channel c) { return std::pair{channels_.to[c], c}; });
    for (const bool known : {true, false}) {
      for (const Channel c : candidates_) {
        if (known ? !is_known(c) : !turns_->add(c, chosen_[channels_.to[c]])) continue;
        chosen_[sw] = c;
        return true;
      }
    }
    return false;
  }

  /// All entries for the LID of a switch; of others those that are not met.
  bool choose(Lid lid, SwitchIdx at, bool to_host) {
    std::ranges::fill(chosen_, kNoChannel);
    if (to_host) {
      mark_met(lid, at);
      for (const SwitchIdx sw : met_.indices()) {
        if (met_[sw] != 0 && sw != at) chosen_[sw] = next(sw, lid);
      }
    }
    find_distances(at);
    left_.clear();
    for (const SwitchIdx sw : near_to_far_) {
      if (sw == at || chosen_[sw] != kNoChannel) continue;
      if (!choose_at(sw, lid, at, true)) left_.push_back(sw);
    }
    // Where no shortest path will do, a longer one, over switches that have theirs.
    for (bool found = true; found && !left_.empty();) {
      found = std::erase_if(left_, [&](SwitchIdx sw) { return choose_at(sw, lid, at, false); }) > 0;
    }
    if (!left_.empty() && (to_host || !escape(at))) return false;
    for (const SwitchIdx sw : near_to_far_) {
      if (sw == at || chosen_[sw] == next(sw, lid)) continue;
      choices_.push_back({sw, lid, graph_.edge(chosen_[sw]).port});
    }
    return true;
  }

  std::vector<Lid> write_choices() {
    std::vector<Lid> changed;
    for (const Choice& choice : choices_) {
      write(choice.sw, choice.lid, choice.egress);
      changed.push_back(choice.lid);
    }
    std::ranges::sort(changed);
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    return changed;
  }

  const bool moves_hosts_;    // those of switches with few
  TurnSet* turns_ = nullptr;  // of what is settled
  std::shared_ptr<const TurnRecord> record_;
  bool closed_ = false;  // a cycle that nothing can be done about
  std::optional<EscapeTree> escape_;
  std::vector<Choice> choices_;
  // Scratch of one LID.
  IndexVector<SwitchIdx, Channel> chosen_;
  std::vector<SwitchIdx> left_;
  std::vector<Channel> candidates_;
};

/// Of tables that stay as they are.
class TurnsOfTables : SwitchPaths {
 public:
  TurnsOfTables(const Fabric& fabric,
                const LidMap& lids,
                const SwitchGraph& graph,
                ForwardingTables& lft)
      : SwitchPaths(fabric, lids, graph, 0, lft) {}

  /// Null: they close a cycle.
  [[nodiscard]] std::shared_ptr<const TurnRecord> count() const {
    TurnRecord record = make_record({});
    std::vector<TreeTurns> taken = record.count_turns();
    TurnSet turns{channels_, order_channels()};
    if (!taken.front().fill(turns)) return nullptr;
    record.layers.front() = {turns.list_channels(), std::move(taken.front()), {}};
    return std::make_shared<const TurnRecord>(std::move(record));
  }
};

bool stay_on_one_vl(const RoutingTables& tables) {
  return tables.vls == 1 && tables.sl_to_vl.empty() && tables.default_port.empty();
}

bool has_odd_ring(const SwitchGraph& graph) {
  std::vector<SwitchIdx> roots;
  for (const std::vector<SwitchIdx>& island : find_islands(graph)) roots.push_back(island.front());
  const auto distance = compute_distances(graph, roots);
  for (const SwitchIdx sw : distance.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) {
      if (distance[edge.to] == distance[sw]) return true;
    }
  }
  return false;
}

bool has_open_port(const Fabric& fabric, SwitchIdx sw) {
  for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
    if (fabric.peer[port] == kNone<PortIdx>) return true;
  }
  return false;
}

/// Some switches have no hosts, and are not such as only wait for them: these have as many cables
/// to others as one that has hosts, and a port without any.
bool has_switches_between(const Fabric& fabric, const SwitchGraph& graph, const Targets& targets) {
  std::vector<std::size_t> with_hosts;
  for (const SwitchIdx sw : targets.hosts.indices()) {
    if (targets.hosts[sw] != 0) with_hosts.push_back(graph.edges(sw).size());
  }
  std::ranges::sort(with_hosts);
  for (const SwitchIdx sw : targets.hosts.indices()) {
    const bool waits =
        has_open_port(fabric, sw) && std::ranges::binary_search(with_hosts, graph.edges(sw).size());
    if (targets.hosts[sw] == 0 && !waits) return true;
  }
  return false;
}

struct RoutesTask {
  std::string_view engine;
  const Fabric& fabric;
  const LidMap& lids;
  const SwitchGraph& graph;
  const Targets& targets;
  const RoutingRequest& request;
};

/// `trees` as they are, or with paths of switches led elsewhere: along up*/down* as a whole, or
/// else where no turn of hosts' paths forbids it.
std::optional<RoutingTables> fit_one_vl(const RoutesTask& task, const BalancedTrees& trees) {
  const auto write = [&](const BalancedTrees& some, const Layering& layering) {
    return make_layered_tables(task.engine, task.graph, task.targets, some, layering, 1);
  };
  Layering layering{task.graph, trees.trees, Bundle::Pair};
  if (layering.assign(1)) return write(trees, layering);
  if (!trees.plan.has_idle()) return std::nullopt;
  OrientedFabric oriented{
      task.fabric, task.lids, task.request.options.roots, task.request.previous};
  BalancedTrees around = trees;
  lead_around(task.fabric, oriented, around);
  Layering along{task.graph, around.trees, Bundle::Pair};
  std::optional<RoutingTables> tables;
  if (along.assign(1)) {
    tables = write(around, along);
    tables->orientation = std::move(oriented.oriented.orientation);
  } else {
    if (!has_switches_between(task.fabric, task.graph, task.targets)) return std::nullopt;
    tables = write(trees, layering);
    if (!lead_switches_apart(task.fabric, task.lids, *tables, 0)) return std::nullopt;
  }
  tables->notes.emplace_back(kDetoursNote);
  return tables;
}

}  // namespace

bool record_turns(const Fabric& fabric, const LidMap& lids, RoutingTables& tables) {
  if (!stay_on_one_vl(tables)) return false;
  const SwitchGraph graph{fabric};
  tables.turns = TurnsOfTables{fabric, lids, graph, tables.lft}.count();
  return tables.turns != nullptr;
}

std::optional<RoutingTables> lay_on_one_vl(std::string_view engine,
                                           const Fabric& fabric,
                                           const LidMap& lids,
                                           const SwitchGraph& graph,
                                           const Targets& targets,
                                           const RoutingRequest& request,
                                           const BalancedTrees& trees) {
  const RoutesTask task{engine, fabric, lids, graph, targets, request};
  auto tables = fit_one_vl(task, trees);
  if (!tables) return std::nullopt;
  const BalancedTrees evener = even_once_more(fabric, graph, trees);
  if (evener.heaviest_load < trees.heaviest_load) {
    if (auto even = fit_one_vl(task, evener)) tables = std::move(even);
  }
  if (tables->turns == nullptr) static_cast<void>(record_turns(fabric, lids, *tables));
  return tables;
}

std::optional<RoutingTables> lay_tree_on_one_vl(std::string_view engine,
                                                const Fabric& fabric,
                                                const LidMap& lids,
                                                const RoutingRequest& request) {
  const SwitchGraph graph{fabric};
  const Targets targets = find_targets(fabric, lids);
  if (!has_switches_between(fabric, graph, targets) || has_odd_ring(graph)) return std::nullopt;
  const BalancedTrees trees = build_balanced_trees(fabric, lids, graph, targets, {});
  return lay_on_one_vl(engine, fabric, lids, graph, targets, request, trees);
}

bool stay_apart_on_one_vl_only(const RoutingTables& in_force) {
  return in_force.turns != nullptr && in_force.orientation.by_guid.empty() &&
         std::ranges::count(in_force.notes, kDetoursNote) != 0;
}

bool lead_switches_apart(const Fabric& fabric,
                         const LidMap& lids,
                         RoutingTables& tables,
                         std::size_t beside) {
  if (!stay_on_one_vl(tables)) return false;
  const SwitchGraph graph{fabric};
  std::vector<Lid> led;
  const auto hosts = find_targets(fabric, lids).hosts;
  bool hosts_stay = false;  // else loads are others
  for (std::size_t most = 0; most <= beside; ++most) {
    PathsOfSwitches paths{fabric, lids, graph, most, tables.lft};
    if (!led.empty() || !paths.has_choice()) continue;
    led = paths.run();
    hosts_stay = most == 0 && std::ranges::count(hosts, 0u) < std::ssize(hosts);
    tables.turns = paths.record();
  }
  if (led.empty()) return false;
  if (!hosts_stay) tables.load.by_edge.clear();
  if (tables.recomputed) {
    std::vector<Lid> all;
    std::ranges::set_union(*tables.recomputed, led, std::back_inserter(all));
    tables.recomputed = std::move(all);
  }
  return true;
}

}  // namespace smd
