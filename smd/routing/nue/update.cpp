#include "smd/routing/nue/update.h"

#include <algorithm>
#include <utility>

#include "smd/routing/trees/rebalance.h"
#include "smd/routing/updn/islands.h"

namespace smd {
namespace {

constexpr std::uint32_t kDead = kUnreached - 1;  // leads nowhere, or in a circle

}  // namespace

void set_layer_sls(std::size_t switches,
                   Lid top,
                   unsigned layers,
                   const std::vector<std::uint8_t>& layer_of,
                   RoutingTables& tables) {
  tables.vls = layers;
  if (layers == 1) return;
  tables.path_sls = PathSls{switches, top};
  for (std::uint32_t source = 0; source < switches; ++source)
    std::ranges::copy(layer_of, tables.path_sls.row(SwitchIdx{source}).begin());
}

NueUpdate::NueUpdate(const Fabric& fabric,
                     const LidMap& lids,
                     const SwitchGraph& graph,
                     std::shared_ptr<const Channels> channels,
                     const Targets& targets,
                     const std::vector<std::uint32_t>& costs,
                     const PreviousRoutes& in_force,
                     bool keeps_unowned)
    : lids_(lids),
      graph_(graph),
      shared_channels_(std::move(channels)),
      channels_(*shared_channels_),
      targets_(targets),
      costs_(costs),
      in_force_(in_force),
      changes_(find_port_changes(*in_force.fabric, fabric, graph)),
      by_port_(graph),
      keeps_unowned_(keeps_unowned),
      island_of_(fabric.switch_count(), 0),
      wanted_(keeps_unowned ? list_kept_lids(fabric, lids, targets, in_force)
                            : list_served_lids(targets)),
      result_{.engine = "nue",
              .lft = ForwardingTables::without_rows(
                  fabric.switch_count(), std::max(lids.top, in_force.routing->lft.top()))},
      load_(channels_.size(), 0),
      relinked_(changes_.any()),
      moved_(result_.lft.top().value() + std::size_t{1}, 0),
      growth_(channels_),
      depth_beside_(fabric.switch_count(), kUnreached),
      is_missing_(fabric.switch_count(), 0),
      flow_(fabric.switch_count(), 0) {
  for (const auto& island : find_islands(graph)) {
    roots_.push_back(
        *std::ranges::max_element(island, {}, [&](SwitchIdx sw) { return targets.hosts[sw]; }));
    for (const SwitchIdx sw : island)
      island_of_[sw] = static_cast<std::uint32_t>(island_size_.size());
    island_size_.push_back(static_cast<std::uint32_t>(island.size()));
  }
  first_order_ = EscapeTree{channels_, roots_}.list_channels();
  for (const PortChanges::Gained& link : changes_.gained)
    gained_.push_back(by_port_(link.sw, link.port));
}

std::optional<RoutingTables> NueUpdate::even_from_scratch(unsigned layers) {
  from_scratch_ = true;
  return compute(layers, true);
}

std::optional<RoutingTables> NueUpdate::compute(unsigned layers, bool rebalances) {
  if (in_force_.routing->vls > layers) return std::nullopt;
  choose_layers();
  const TurnRecord* record = in_force_.routing->turns.get();
  if (record == nullptr || !carry_over(*record)) {
    record = nullptr;
    read_all();
  }
  if (!fill_turns(record) || !repair_all(record)) return std::nullopt;
  if (!from_scratch_) release_escapes();
  use_gained();
  rebalance(rebalances);
  result_.recomputed = list_recomputed();
  set_layer_sls(
      targets_.of.size(), result_.lft.top(), static_cast<unsigned>(turns_.size()), layer_, result_);
  result_.turns = make_record();
  return std::move(result_);
}

// Who has moved and is not as he was: some came back to where they had been.
std::vector<Lid> NueUpdate::list_recomputed() const {
  const ForwardingTables& old = in_force_.routing->lft;
  std::vector<Lid> maybe, list;
  for (std::uint32_t value = 1; value < moved_.size(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (!moved_[value]) continue;
    (lid > old.top() || layer_[value] != previous_layer(lid) ? list : maybe).push_back(lid);
  }
  const auto sort_out = [&](SwitchIdx sw, auto&& was) {
    const std::span<const PortNum> is = result_.lft.row(sw);
    std::erase_if(maybe, [&](Lid lid) {
      const bool differs = is[lid.value()] != was(lid);
      if (differs) list.push_back(lid);
      return differs;
    });
  };
  const auto& before = changes_.before;
  for (const SwitchIdx sw : before.indices()) {
    if (before[sw] == kNone<SwitchIdx>) sort_out(sw, [](Lid) { return kNoRoute; });
  }
  for (const SwitchIdx sw : before.indices()) {
    const SwitchIdx row = before[sw];
    if (row == kNone<SwitchIdx> || result_.lft.shares_row(sw, old, row)) continue;
    sort_out(sw, [was = old.row(row)](Lid lid) { return was[lid.value()]; });
  }
  std::ranges::sort(list);
  return list;
}

// A LID without entries goes where others at its switch are: there it finds their turns. If it has
// had a layer other than the first, it was there before, and who sends to it may still say so.
void NueUpdate::choose_layers() {
  for (std::uint32_t value = 0; value < moved_.size(); ++value)
    layer_.push_back(previous_layer(Lid{static_cast<std::uint16_t>(value)}));
  std::vector<TargetLid> fresh;
  IndexVector<SwitchIdx, std::uint8_t> layer_at(channels_.switches(), 0);
  for (std::size_t at = wanted_.size(); at-- > 0;) {  // the lowest LID says
    if (has_entries(in_force_.routing->lft, wanted_[at].lid))
      layer_at[wanted_[at].last] = layer_[wanted_[at].lid.value()];
    else
      fresh.push_back(wanted_[at]);
  }
  for (const TargetLid& wanted : fresh) {
    std::uint8_t& layer = layer_[wanted.lid.value()];
    if (layer == 0) layer = layer_at[wanted.last];
  }
}

std::uint8_t NueUpdate::previous_layer(Lid lid) const {
  const PathSls& sls = in_force_.routing->path_sls;
  if (sls.empty() || lid > in_force_.routing->lft.top()) return 0;
  return static_cast<std::uint8_t>(sls.sl(SwitchIdx{0}, lid) % in_force_.routing->vls);
}

// Taking over what is known of the routes in force. First what is other than then is taken away,
// along the entries as they were: LIDs that nobody has any more or who has moved, hosts that send
// no more or do now, and paths that pass a port that leads elsewhere. What is left of the record is
// true of the entries that are left.

bool NueUpdate::carry_over(const TurnRecord& record) {
  const SwitchGraph graph_before{*in_force_.fabric};
  if (!record.is_of(in_force_, graph_before) || !are_islands_split_only(graph_before)) return false;
  map_.emplace(record.graph, graph_, changes_.before);
  by_port_before_.emplace(record.graph);
  for (const SwitchIdx sw : changes_.before.indices()) {
    if (changes_.before[sw] != kNone<SwitchIdx>)
      result_.lft.set_row(sw, in_force_.routing->lft, changes_.before[sw]);
  }
  for (Channel c = 0; c < load_.size(); ++c) {
    if (map_->before[c] != kNoChannel) load_[c] = record.paths[map_->before[c]] * costs_[c];
  }
  if (record.layers.front().taken) {
    for (const TurnRecord::Layer& layer : record.layers)
      taken_.emplace_back(channels_, *layer.taken, *map_);
  } else {
    for (const TreeTurns& counted : record.count_turns())
      taken_.emplace_back(channels_, counted, *map_);
  }
  match_lids(record);
  keep_stranded();
  move_senders(record);
  const std::vector<Cell> cells = list_broken_cells();
  for (std::size_t at = 0; at < cells.size();) {
    const std::size_t begin = at;
    while (at < cells.size() && cells[at].lid == cells[begin].lid) ++at;
    cut_out(wanted_[cells[begin].lid], std::span{cells}.subspan(begin, at - begin), record);
  }
  for (std::size_t at = 0; at < wanted_.size(); ++at) {
    if (!same_[at]) look_at(wanted_[at]);
  }
  std::ranges::sort(broken_, {}, [](const Broken& broken) { return broken.lid.lid; });
  return true;
}

// Where islands have grown together everybody lacks entries of the others.
bool NueUpdate::are_islands_split_only(const SwitchGraph& before) const {
  constexpr std::uint32_t kNoIsland = kUnreached;
  IndexVector<SwitchIdx, std::uint32_t> was(before.switches(), 0);
  std::uint32_t number = 0;
  for (const auto& island : find_islands(before)) {
    for (const SwitchIdx sw : island) was[sw] = number;
    ++number;
  }
  std::vector<std::uint32_t> from(island_size_.size(), kNoIsland);
  for (const SwitchIdx sw : island_of_.indices()) {
    const SwitchIdx row = changes_.before[sw];
    if (row == kNone<SwitchIdx>) continue;
    std::uint32_t& known = from[island_of_[sw]];
    if (known == kNoIsland) known = was[row];
    if (known != was[row]) return false;
  }
  return true;
}

void NueUpdate::match_lids(const TurnRecord& record) {
  std::vector<char> is_there(record.graph.switches(), 0);
  for (const SwitchIdx row : changes_.before) {
    if (row != kNone<SwitchIdx>) is_there[row.value()] = 1;
  }
  const auto is_stranded = [&](const TargetLid& was) {
    return was.last == kNone<SwitchIdx> || !is_there[was.last.value()];
  };
  // On several layers trees that stay keep loads from getting even.
  if (keeps_unowned_ && record.layers.size() == 1) {
    for (const TargetLid& was : record.served) {
      if (is_stranded(was) && lids_.owner_of(was.lid) == kNone<PortIdx>) stranded_.push_back(was);
    }
    std::erase_if(wanted_, [&](const TargetLid& wanted) {
      return std::ranges::binary_search(stranded_, wanted.lid, {}, &TargetLid::lid);
    });
  }
  same_.assign(wanted_.size(), 0);
  auto stranded = stranded_.begin();
  auto was = record.served.begin();
  const auto forget_up_to = [&](std::uint32_t lid) {
    for (; was != record.served.end() && was->lid.value() < lid; ++was) {
      if (stranded != stranded_.end() && stranded->lid == was->lid) {
        forget_loads(*was, record);
        *stranded++ = {.lid = was->lid, .last = kNone<SwitchIdx>, .egress = kNoRoute};
        continue;
      }
      forget(*was, record);
      erase_entries(was->lid);
    }
  };
  for (std::size_t at = 0; at < wanted_.size(); ++at) {
    const TargetLid& wanted = wanted_[at];
    forget_up_to(wanted.lid.value());
    if (was == record.served.end() || was->lid != wanted.lid) continue;
    same_[at] = was->last != kNone<SwitchIdx> && changes_.before[wanted.last] == was->last &&
                was->demand == wanted.demand;
    if (!same_[at]) {
      forget(*was, record);
      if (!keeps_unowned_ && is_stranded(*was)) erase_entries(was->lid);
    } else if (was->egress != wanted.egress) {
      result_.lft.set_route(wanted.last, wanted.lid, wanted.egress);
      moved_[wanted.lid.value()] = 1;
    }
    ++was;
  }
  forget_up_to(~0u);
}

// LIDs whose switch is away keep entries that lead towards it, and their turns count; so whoever
// comes back with it finds them. One that leads elsewhere than it did has to end there.
void NueUpdate::keep_stranded() {
  if (stranded_.empty()) return;
  std::vector<std::pair<SwitchIdx, PortNum>> relinked;
  for (const SwitchIdx sw : changes_.before.indices()) {
    for (unsigned port = 1; changes_.suspect[sw].any() && port < 256; ++port) {
      if (changes_.suspect[sw][port])
        relinked.emplace_back(sw, PortNum{static_cast<std::uint8_t>(port)});
    }
  }
  for (const TargetLid& stranded : stranded_) {
    const Lid lid = stranded.lid;
    TreeTurns& taken = taken_[layer_[lid.value()]];
    const auto leads_over = [&](SwitchIdx sw, PortNum port) {
      return result_.lft.route(sw, lid) == port && by_port_(sw, port) != kNoChannel;
    };
    for (const auto& [sw, port] : relinked) {
      if (!leads_over(sw, port) ||
          result_.lft.route(channels_.to[by_port_(sw, port)], lid) == kNoRoute)
        continue;
      result_.lft.set_route(sw, lid, kNoRoute);
      moved_[lid.value()] = 1;
    }
    for (const auto& [sw, port] : relinked) {
      if (!leads_over(sw, port)) continue;
      const Channel first = channels_.first[sw.value()], end = channels_.first[sw.value() + 1];
      for (Channel c = first; c < end; ++c) {
        const Channel in = channels_.reverse[c];
        if (entry(channels_.to[c], lid) == in) taken.add(in, by_port_(sw, port));
      }
    }
  }
}

void NueUpdate::erase_entries(Lid lid) {
  for (const SwitchIdx sw : changes_.before.indices()) result_.lft.set_route(sw, lid, kNoRoute);
  moved_[lid.value()] = 1;
}

// Its turns and loads, as they were when the record was made.
void NueUpdate::forget(const TargetLid& lid, const TurnRecord& record) {
  TreeTurns& taken = taken_[lid.layer];
  for (std::uint32_t row = 0; row < record.graph.switches(); ++row) {
    const auto entry_before = [&](SwitchIdx at) {
      return at == lid.last ? kNoChannel : (*by_port_before_)(at, record.tables.route(at, lid.lid));
    };
    const Channel in = entry_before(SwitchIdx{row});
    if (in == kNoChannel) continue;
    const Channel out = entry_before(record.channels->to[in]);
    if (out != kNoChannel && map_->now[in] != kNoChannel && map_->now[out] != kNoChannel)
      taken.remove(map_->now[in], map_->now[out]);
  }
  forget_loads(lid, record);
}

void NueUpdate::forget_loads(const TargetLid& lid, const TurnRecord& record) {
  for (const SwitchIdx row : record.hosts.indices())
    follow_before(record, row, lid, std::uint64_t{0} - record.hosts[row]);
}

// Adds to every channel of the path, as it was, that there still is.
void NueUpdate::follow_before(const TurnRecord& record,
                              SwitchIdx row,
                              const TargetLid& lid,
                              std::uint64_t paths) {
  if (paths == 0 || lid.demand == 0) return;
  while (row != lid.last) {
    const Channel egress = (*by_port_before_)(row, record.tables.route(row, lid.lid));
    if (egress == kNoChannel) return;
    if (const Channel now = map_->now[egress]; now != kNoChannel)
      load_[now] += paths * lid.demand * costs_[now];
    row = record.channels->to[egress];
  }
}

// Of all LIDs that are served as before, the paths from switches with more hosts or fewer, along
// the entries as they were.
void NueUpdate::move_senders(const TurnRecord& record) {
  IndexVector<SwitchIdx, std::uint32_t> hosts(record.hosts.size(), 0);
  for (const SwitchIdx sw : changes_.before.indices()) {
    if (changes_.before[sw] != kNone<SwitchIdx>) hosts[changes_.before[sw]] = targets_.hosts[sw];
  }
  for (const SwitchIdx row : hosts.indices()) {
    const std::uint64_t more = std::uint64_t{hosts[row]} - record.hosts[row];
    if (more == 0) continue;
    for (std::size_t at = 0; at < wanted_.size(); ++at) {
      if (!same_[at]) continue;
      TargetLid was = wanted_[at];
      was.last = changes_.before[was.last];
      follow_before(record, row, was, more);
    }
  }
}

// Entries over ports that lead elsewhere now, and those that new switches lack.
std::vector<NueUpdate::Cell> NueUpdate::list_broken_cells() const {
  std::vector<Cell> cells;
  for (const SwitchIdx sw : changes_.before.indices()) {
    const bool is_new = changes_.before[sw] == kNone<SwitchIdx>;
    const auto& suspect = changes_.suspect[sw];
    if (!is_new && suspect.none()) continue;
    const std::span<const PortNum> row = result_.lft.row(sw);
    for (std::uint32_t at = 0; at < wanted_.size(); ++at) {
      const TargetLid& wanted = wanted_[at];
      if (!same_[at] || wanted.last == sw) continue;
      if (is_new ? island_of_[sw] == island_of_[wanted.last]
                 : suspect[row[wanted.lid.value()].value()])
        cells.push_back({at, sw});
    }
  }
  std::ranges::sort(cells);
  return cells;
}

// Those switches and whoever comes to them, with their turns and loads. Who shares no island with
// the last switch any more has no entry from now on, the others are missing.
void NueUpdate::cut_out(const TargetLid& wanted,
                        std::span<const Cell> cells,
                        const TurnRecord& record) {
  const Lid lid = wanted.lid;
  dead_.clear();
  for (const Cell& cell : cells) {
    dead_.push_back(cell.sw);
    is_missing_[cell.sw] = 1;
  }
  for (std::size_t at = 0; at < dead_.size(); ++at) {
    const std::uint32_t sw = dead_[at].value();
    for (Channel c = channels_.first[sw]; c < channels_.first[sw + 1]; ++c) {
      const SwitchIdx neighbour = channels_.to[c];
      if (is_missing_[neighbour] || neighbour == wanted.last ||
          entry(neighbour, lid) != channels_.reverse[c])
        continue;
      is_missing_[neighbour] = 1;
      dead_.push_back(neighbour);
    }
  }
  TreeTurns& taken = taken_[layer_[lid.value()]];
  for (const SwitchIdx sw : dead_) flow_[sw] = targets_.hosts[sw];
  TargetLid was = wanted;
  was.last = changes_.before[wanted.last];
  const std::size_t first = missing_.size();
  for (std::size_t at = dead_.size(); at-- > 0;) {
    const SwitchIdx sw = dead_[at];
    if (at < cells.size()) {
      const SwitchIdx row = changes_.before[sw];
      if (row != kNone<SwitchIdx>) follow_before(record, row, was, std::uint64_t{0} - flow_[sw]);
    } else {
      const Channel in = entry(sw, lid);
      const SwitchIdx to = channels_.to[in];
      load_[in] -= flow_[sw] * wanted.demand * costs_[in];
      flow_[to] += flow_[sw];
      const Channel out = entry(to, lid);
      if (out != kNoChannel && map_->before[out] != kNoChannel) taken.remove(in, out);
    }
  }
  moved_[lid.value()] = 1;
  for (const SwitchIdx sw : dead_) {
    is_missing_[sw] = 0;
    if (island_of_[sw] == island_of_[wanted.last])
      missing_.push_back(sw);
    else
      result_.lft.set_route(sw, lid, kNoRoute);
  }
  if (missing_.size() > first) broken_.push_back({wanted, first, missing_.size() - first});
}

// Without a record: every entry of wanted_.

void NueUpdate::read_all() {
  taken_.assign(in_force_.routing->vls, TreeTurns{channels_});
  copy_entries();
  for (const TargetLid& wanted : wanted_) look_at(wanted);
}

void NueUpdate::copy_entries() {
  const ForwardingTables& old = in_force_.routing->lft;
  result_.lft = ForwardingTables{channels_.switches(), result_.lft.top()};
  std::ranges::fill(moved_, char{1});
  for (const SwitchIdx sw : changes_.before.indices()) {
    if (changes_.before[sw] == kNone<SwitchIdx>) continue;
    const std::span<const PortNum> from = old.row(changes_.before[sw]);
    const std::span<PortNum> to = result_.lft.mutable_row(sw);
    for (const TargetLid& wanted : wanted_) {
      if (wanted.lid <= old.top()) to[wanted.lid.value()] = from[wanted.lid.value()];
    }
  }
}

// Whatever still leads there counts.
void NueUpdate::look_at(const TargetLid& wanted) {
  moved_[wanted.lid.value()] = 1;
  walk(wanted);
  taken_[layer_[wanted.lid.value()]].add(tree_);
  change_load(tree_, wanted.demand, true);
  result_.lft.set_route(wanted.last, wanted.lid, wanted.egress);
  if (tree_.order.size() != island_size_[island_of_[wanted.last]]) broken_.push_back({wanted});
}

// tree_: the switches whose entries lead to the last one. The others' go.
void NueUpdate::walk(const TargetLid& wanted) {
  tree_.egress.assign(channels_.switches(), kNoChannel);
  tree_.depth.assign(channels_.switches(), kUnreached);
  tree_.order.assign(1, wanted.last);
  tree_.depth[wanted.last] = 0;
  for (const SwitchIdx start : tree_.depth.indices()) {
    path_.clear();
    SwitchIdx sw = start;
    while (tree_.depth[sw] == kUnreached) {
      const Channel egress = entry(sw, wanted.lid);
      tree_.egress[sw] = egress;
      tree_.depth[sw] = kDead;  // met again on this walk, it is a circle
      path_.push_back(sw);
      if (egress == kNoChannel) break;
      sw = channels_.to[egress];
    }
    std::uint32_t depth = tree_.depth[sw];
    for (std::size_t at = path_.size(); at-- > 0 && depth != kDead;) {
      tree_.depth[path_[at]] = ++depth;
      tree_.order.push_back(path_[at]);
    }
  }
  for (const SwitchIdx sw : tree_.depth.indices()) {
    if (tree_.depth[sw] != kDead) continue;
    tree_.depth[sw] = kUnreached;
    tree_.egress[sw] = kNoChannel;
    result_.lft.set_route(sw, wanted.lid, kNoRoute);
  }
}

// Who stands behind whomever it hands over to.
void NueUpdate::change_load(const GrownTree& tree, std::uint32_t demand, bool add) {
  if (demand == 0) return;
  for (const SwitchIdx sw : tree.order) flow_[sw] = targets_.hosts[sw];
  for (std::size_t at = tree.order.size(); at-- > 1;) {
    const SwitchIdx sw = tree.order[at];
    const Channel egress = tree.egress[sw];
    const std::uint64_t weight = flow_[sw] * demand * costs_[egress];
    load_[egress] += add ? weight : std::uint64_t{0} - weight;
    flow_[channels_.to[egress]] += flow_[sw];
  }
}

// False when what is taken closes a cycle.
bool NueUpdate::fill_turns(const TurnRecord* record) {
  for (std::size_t layer = 0; layer < taken_.size(); ++layer) {
    turns_.emplace_back(channels_,
                        record == nullptr
                            ? first_order_
                            : carry_order(record->layers[layer].order, *map_, first_order_));
    if (!taken_[layer].fill(turns_.back())) return false;
  }
  return true;
}

// Those of before as far as they are there and free, with others in place of the rest. Where there
// is nothing to repair they stay for the next change as they are.
void NueUpdate::find_escapes(const TurnRecord* record) {
  for (std::size_t layer = 0; layer < turns_.size(); ++layer) {
    escapes_.emplace_back();
    std::vector<Channel> kept;
    if (record != nullptr) {
      for (const Channel was : record->layers[layer].escape) {
        if (map_->now[was] != kNoChannel) kept.push_back(map_->now[was]);
      }
    }
    if (record != nullptr && !from_scratch_ && !relinked_ && broken_.empty()) {
      if (!kept.empty()) escapes_.back().emplace(channels_, roots_, kept);
      continue;
    }
    auto links = find_escape_links(channels_, turns_[layer], kept);
    if (!links && !kept.empty()) links = find_escape_links(channels_, turns_[layer], {});
    if (links) escapes_.back().emplace(channels_, roots_, *links);
  }
}

// What is repaired is; loads are evened as if there were no escape trees, so that they do not hang
// on which there have been.
void NueUpdate::release_escapes() {
  for (std::size_t layer = 0; layer < turns_.size(); ++layer) {
    if (!escapes_[layer]) continue;
    for (const auto& [in, out] : escapes_[layer]->list_turns()) {
      if (!taken_[layer].is_taken(in, out)) turns_[layer].remove(in, out);
    }
    turns_[layer].forget_barred();
  }
}

std::shared_ptr<const TurnRecord> NueUpdate::make_record() {
  wanted_.insert(wanted_.end(), stranded_.begin(), stranded_.end());
  std::ranges::sort(wanted_, {}, &TargetLid::lid);
  for (TargetLid& lid : wanted_) lid.layer = layer_[lid.lid.value()];
  TurnRecord record{.graph = graph_,
                    .channels = shared_channels_,
                    .hosts = targets_.hosts,
                    .tables = result_.lft,
                    .served = wanted_,
                    .layers = {},
                    .paths = load_};
  for (std::size_t layer = 0; layer < turns_.size(); ++layer)
    record.layers.push_back(
        {turns_[layer].list_channels(),
         std::move(taken_[layer]),
         escapes_[layer] ? escapes_[layer]->list_links() : std::vector<Channel>{}});
  for (Channel c = 0; c < load_.size(); ++c) record.paths[c] /= costs_[c];
  return std::make_shared<const TurnRecord>(std::move(record));
}

// What a change leaves uneven in the trees that are kept: the fullest links give away what other
// paths take as well.

class NueUpdate::Movable final : public MovableTrees {
 public:
  explicit Movable(NueUpdate& update) : update_(update) {}

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(update_.wanted_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override {
    return update_.wanted_[tree].last;
  }

  [[nodiscard]] std::uint32_t demand(std::uint32_t tree) const override {
    return update_.wanted_[tree].demand;
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    const TargetLid& wanted = update_.wanted_[tree];
    return sw == wanted.last ? kNoEdge : update_.entry(sw, wanted.lid);
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    return update_.moved_[update_.wanted_[tree].lid.value()] != 0;
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    const Lid lid = update_.wanted_[tree].lid;
    const ForwardingTables& before = update_.in_force_.routing->lft;
    const SwitchIdx row = update_.changes_.before[sw];
    return row == kNone<SwitchIdx> || lid > before.top() ||
           before.route(row, lid) != update_.result_.lft.route(sw, lid);
  }

  [[nodiscard]] bool may_have_changed(SwitchIdx sw) const override {
    const SwitchIdx row = update_.changes_.before[sw];
    return row == kNone<SwitchIdx> ||
           !update_.result_.lft.shares_row(sw, update_.in_force_.routing->lft, row);
  }

  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx, std::uint32_t edge) override {
    return update_.turn(update_.wanted_[tree], edge);
  }

 private:
  NueUpdate& update_;
};

void NueUpdate::rebalance(bool asked) {
  // What is aimed at later must not depend on how often nothing changed before.
  if (!relinked_ && !asked) {
    result_.load.imbalance = in_force_.routing->load.imbalance;
    return;
  }
  Movable trees{*this};
  Traffic traffic{.sources = targets_.hosts,
                  .demand = IndexVector<SwitchIdx, std::uint64_t>(graph_.switches(), 0)};
  for (const TargetLid& wanted : wanted_) traffic.demand[wanted.last] += wanted.demand;
  const Imbalance& before = in_force_.routing->load.imbalance;
  LoadTarget aim = find_load_target(find_least_peak(graph_, traffic, costs_, load_), before, load_);
  if (asked) aim.enough = aim.best;
  LoadRebalancer rebalancer{graph_, traffic.sources, costs_, load_, trees};
  if (asked && before.peak == 0) {
    rebalancer.run_from_scratch(aim.best);
  } else {
    rebalancer.run(aim);
  }
  result_.load.imbalance = carry_imbalance(before, load_);
}

// The switch that `egress` leaves takes it, if the turns are free on the LID's layer.
// Requires: the switch has an entry that leads to the last one.
bool NueUpdate::turn(const TargetLid& wanted, Channel egress) {
  const Lid lid = wanted.lid;
  const SwitchIdx sw = channels_.from[egress];
  TurnSet& turns = turns_[layer_[lid.value()]];
  const auto next_of = [&](Channel c) {
    return channels_.to[c] == wanted.last ? kNoChannel : entry(channels_.to[c], lid);
  };
  const Channel old = entry(sw, lid);
  const Channel next = next_of(egress), next_before = next_of(old);
  new_turns_.clear();
  into_.clear();
  if (next != kNoChannel) new_turns_.emplace_back(egress, next);
  for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
    const Channel in = channels_.reverse[c];
    if (entry(channels_.to[c], lid) != in) continue;
    into_.push_back(in);
    new_turns_.emplace_back(in, egress);
  }
  if (!turns.add_together(new_turns_)) return false;
  TreeTurns& taken = taken_[layer_[lid.value()]];
  if (next != kNoChannel) taken.add(egress, next);
  if (next_before != kNoChannel) taken.remove(old, next_before);
  for (const Channel in : into_) {
    taken.add(in, egress);
    taken.remove(in, old);
  }
  result_.lft.set_route(sw, lid, graph_.edge(egress).port);
  moved_[lid.value()] = 1;
  return true;
}

}  // namespace smd
