#include "smd/plan/make/transient_graph.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace smd {
namespace {

constexpr std::uint32_t kNoColumn = 0xffffffff;
constexpr std::uint16_t kUnreached = 0xffff;

std::size_t width_of(const TransitionTask& task) {
  return std::max(task.held->blocks(), task.wanted->blocks()) * kLftBlockSize;
}

// Empty where the tables do not know the switch.
std::span<const PortNum> row_of(const ForwardingTables& tables, SwitchIdx sw) {
  return sw.value() < tables.switches() ? tables.row(sw) : std::span<const PortNum>{};
}

}  // namespace

TransientGraph::TransientGraph(const TransitionTask& task,
                               const InitialState& initial,
                               std::vector<EntryChange> changes)
    : task_(task),
      initial_(initial),
      fabric_(*task.fabric),
      changes_(std::move(changes)),
      column_of_(width_of(task), kNoColumn),
      egresses_(256 * 256, 0),
      no_row_(width_of(task), kNoRoute) {
  nowhere_ = {no_row_.data(), egresses_.data()};  // port 0 leads to no switch
  next_.fill(nowhere_);
  for (const EntryChange& change : changes_) column_of_[change.lid.value()] = 0;
  for (std::size_t lid = 0; lid < column_of_.size(); ++lid) {
    if (column_of_[lid] == kNoColumn) continue;
    column_of_[lid] = static_cast<std::uint32_t>(columns_.size());
    columns_.push_back(Lid{static_cast<std::uint16_t>(lid)});
  }
  // Rows of cells for switches with changes alone: few of many.
  first_cell_.resize(fabric_.switch_count(), kNoRow);
  std::size_t cells = 0;
  const auto give_row = [&](SwitchIdx sw) {
    if (first_cell_[sw] == kNoRow) first_cell_[sw] = std::exchange(cells, cells + columns_.size());
  };
  for (const EntryChange& change : changes_) give_row(change.sw);
  for (const TableBlock& block : task.unknown) give_row(block.sw);
  stage_.assign(cells, EntryStage::Settled);
  if (!task.unknown.empty()) unknown_.assign(cells, 0);
  for (const TableBlock& block : task.unknown) {
    for (std::size_t i = block.block == 0 ? 1 : 0; i < kLftBlockSize; ++i) {
      const std::size_t lid = block.block * kLftBlockSize + i;
      if (lid < column_of_.size() && column_of_[lid] != kNoColumn)
        unknown_[cell(block.sw, column_of_[lid])] = 1;
    }
  }
  cell_.reserve(changes_.size());
  changed_.assign(cells, 0);
  for (const EntryChange& change : changes_) {
    cell_.push_back(cell(change.sw, column_of_[change.lid.value()]));
    changed_[cell_.back()] = 1;
  }
}

void TransientGraph::set_stages(EntryStage stage) {
  for (std::size_t i = 0; i < changes_.size(); ++i)
    stage_[cell_[i]] = initial_.idle[changes_[i].sw] ? EntryStage::Settled : stage;
}

TransientGraph::Choice TransientGraph::choice(SwitchIdx sw, std::uint32_t column) const {
  const PortNum wanted = entry_of(*task_.wanted, sw, columns_[column]);
  if (first_cell_[sw] == kNoRow) return {wanted, wanted, EntryStage::Settled, false};
  const std::size_t at = cell(sw, column);
  const EntryStage stage = stage_[at];
  if (stage == EntryStage::Settled) return {wanted, wanted, stage, false};
  return {entry_of(*task_.held, sw, columns_[column]),
          wanted,
          stage,
          !unknown_.empty() && unknown_[at] != 0};
}

// The port when its link joins two switches and will carry data, else kNone.
PortIdx TransientGraph::channel_of(SwitchIdx sw, PortNum egress) const {
  const NodeIdx node = fabric_.switch_node[sw];
  if (egress.value() > fabric_.num_ports(node)) return kNone<PortIdx>;
  const PortIdx port = fabric_.port_of(node, egress);
  return initial_.flow[port] == Flow::Never ? kNone<PortIdx> : port;
}

// Channels by which the entry may let packets leave. `new_only`: of the phase's end.
template <class Visit>
void TransientGraph::for_each_egress(SwitchIdx sw,
                                     std::uint32_t column,
                                     bool new_only,
                                     Visit&& visit) const {
  const Choice c = choice(sw, column);
  const bool held = c.stage == EntryStage::Pending || (c.stage == EntryStage::Now && !new_only);
  if (held && c.unknown) {
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      if (initial_.flow[port] != Flow::Never) visit(port);
    }
    return;
  }
  const PortIdx old = held ? channel_of(sw, c.held) : kNone<PortIdx>;
  if (old != kNone<PortIdx>) visit(old);
  const PortIdx wanted_out =
      c.stage != EntryStage::Pending ? channel_of(sw, c.wanted) : kNone<PortIdx>;
  if (wanted_out != kNone<PortIdx> && wanted_out != old) visit(wanted_out);
}

// Channels that packets which the entry sent may be in.
template <class Visit>
void TransientGraph::for_each_sender(SwitchIdx sw,
                                     std::uint32_t column,
                                     bool new_only,
                                     Visit&& visit) const {
  const Choice c = choice(sw, column);
  if (c.stage != EntryStage::Done || new_only) return for_each_egress(sw, column, new_only, visit);
  if (c.unknown) {
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      if (initial_.flow[port] != Flow::Never) visit(port);
    }
    return;
  }
  const PortIdx old = channel_of(sw, c.held), wanted_out = channel_of(sw, c.wanted);
  if (old != kNone<PortIdx>) visit(old);
  if (wanted_out != kNone<PortIdx> && wanted_out != old) visit(wanted_out);
}

bool TransientGraph::may_send(SwitchIdx sw, std::uint32_t column, PortIdx out) const {
  bool found = false;
  for_each_sender(sw, column, false, [&](PortIdx port) { found = found || port == out; });
  return found;
}

// Where the turns of the wanted routes are counted, those of two entries that stay are what is left
// of them without those to and from entries that change. False, and no turns, where that cannot be.
bool TransientGraph::take_counted_turns() {
  if (task_.turns == nullptr || !unknown_.empty() ||
      changes_.size() > fabric_.switch_count() * width_of(task_) / 8)
    return false;
  TurnCounts rest = *task_.turns;
  if (!take_away_changes(rest)) return false;
  for (const NodeIdx node : fabric_.switch_node) {
    std::array<std::uint64_t, 4> flows{};
    for (const PortIdx port : fabric_.external_ports(node)) {
      const unsigned number = fabric_.number_of(port).value();
      if (initial_.flow[port] != Flow::Never) flows[number / 64] |= std::uint64_t{1} << number % 64;
    }
    for (const PortIdx in : fabric_.external_ports(node)) {
      if (initial_.flow[in] == Flow::Never) continue;
      std::array<std::uint64_t, 4> outs{};
      std::ranges::transform(rest.outs(in), flows, outs.begin(), std::bit_and{});
      steady_->add_all(in, outs);
    }
  }
  add_turns_of_nobodys();
  return true;
}

bool TransientGraph::take_away_changes(TurnCounts& turns) const {
  const auto take_away = [&](PortIdx in, PortNum out) {
    if (out.value() >= turns.row(in).size()) return true;  // no such port
    if (turns.count(in, out) == 0) return false;
    turns.take_away(in, out);
    return true;
  };
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const auto [sw, lid, egress] = changes_[i];
    const std::uint32_t column = column_of_[lid.value()];
    if (lid.value() >= task_.lids->owner.size() || task_.lids->owner[lid.value()] == kNone<PortIdx>)
      continue;
    for (const PortIdx in : senders(i)) {
      const SwitchIdx from = initial_.peer_switch[in];
      if (!is_changed(from, column) && !take_away(in, egress)) return false;
    }
    const PortIdx out = channel_of(sw, egress);
    if (out != kNone<PortIdx> &&
        !take_away(fabric_.peer[out], entry_of(*task_.wanted, initial_.peer_switch[out], lid)))
      return false;
  }
  return true;
}

// Nobody counted those of LIDs that nobody has.
void TransientGraph::add_turns_of_nobodys() {
  const std::vector<Lid> lids = list_orphaned_lids(*task_.wanted, *task_.lids);
  const auto stays = [&](SwitchIdx sw, Lid lid) {
    const std::uint32_t column = column_of_[lid.value()];
    return column == kNoColumn || !is_changed(sw, column);
  };
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    for (const Lid lid : lids) {
      const PortNum egress = task_.wanted->route(sw, lid);
      if (egress == kNoRoute || !stays(sw, lid)) continue;
      const PortIdx first = channel_of(sw, egress);
      if (first == kNone<PortIdx>) continue;
      const SwitchIdx at = initial_.peer_switch[first];
      const PortIdx second = channel_of(at, task_.wanted->route(at, lid));
      if (second != kNone<PortIdx> && stays(at, lid)) steady_->add(fabric_.peer[first], second);
    }
  }
}

// Rows side by side: for every LID the next row is the one of the switch that the first names.
// Slice by slice, so that the rows stay in the cache while all neighbours read them.
void TransientGraph::find_steady_turns() {
  steady_.emplace(fabric_);
  if (take_counted_turns()) return;
  constexpr std::size_t kSlice = 4096;
  const std::size_t width = width_of(task_);
  std::vector<PortNum> steady(fabric_.switch_count() * width, kNoRoute);
  for (const SwitchIdx sw : fabric_.switch_node.indices())
    std::ranges::copy(task_.wanted->row(sw),
                      steady.begin() + static_cast<std::ptrdiff_t>(sw.value() * width));
  for (const EntryChange& change : changes_)
    steady[change.sw.value() * width + change.lid.value()] = kNoRoute;
  for (std::size_t first = 0; first < width; first += kSlice) {
    for (const SwitchIdx sw : fabric_.switch_node.indices())
      mark_slice(*steady_, steady, sw, first, std::min(first + kSlice, width));
  }
}

void TransientGraph::mark_slice(TurnGraph& graph,
                                const std::vector<PortNum>& steady,
                                SwitchIdx sw,
                                std::size_t first,
                                std::size_t last) {
  const std::size_t width = width_of(task_);
  const NodeIdx node = fabric_.switch_node[sw];
  bool any = false;
  for (const PortIdx out : fabric_.external_ports(node)) {
    if (initial_.flow[out] == Flow::Never) continue;
    const std::size_t number = fabric_.number_of(out).value();
    const SwitchIdx peer = initial_.peer_switch[out];
    std::uint8_t* const egresses = egresses_.data() + number * 256;
    std::memset(egresses, 0, (fabric_.num_ports(fabric_.switch_node[peer]) / 8 + 1) * 8);
    next_[number] = {steady.data() + peer.value() * width, egresses};
    any = true;
  }
  if (!any) return;
  const PortNum* const row = steady.data() + sw.value() * width;
  for (std::size_t lid = first; lid < last; ++lid) {
    const Next& next = next_[row[lid].value()];
    next.egresses[next.row[lid].value()] = 1;
  }
  for (const PortIdx out : fabric_.external_ports(node)) {
    if (initial_.flow[out] == Flow::Never) continue;
    const std::size_t number = fabric_.number_of(out).value();
    const PortIdx in = fabric_.peer[out];
    const NodeIdx peer = fabric_.node_of[in];
    const unsigned ports = fabric_.num_ports(peer);
    for (unsigned eight = 0; eight <= ports; eight += 8) {
      std::uint64_t found = 0;
      std::memcpy(&found, next_[number].egresses + eight, sizeof found);
      if (found == 0) continue;
      for (unsigned at = eight; at < eight + 8 && at <= ports; ++at) {
        if (next_[number].egresses[at] == 0) continue;
        const PortIdx egress = fabric_.port_of(peer, PortNum{static_cast<std::uint8_t>(at)});
        if (initial_.flow[egress] != Flow::Never) graph.add(in, egress);
      }
    }
    next_[number] = nowhere_;
  }
}

// Packets of the column's LID in the channel that begins at `out`, sent there by some entry.
void TransientGraph::mark_channel(TurnGraph& graph,
                                  PortIdx out,
                                  std::uint32_t column,
                                  bool all_flow) {
  const PortIdx in = fabric_.peer[out];
  const SwitchIdx peer = initial_.peer_switch[out];
  // Links that open at the phase's end see its new entries only.
  if (all_flow || is_now(initial_.flow[out])) {
    for_each_egress(peer, column, false, [&](PortIdx port) {
      if (all_flow || is_now(initial_.flow[port])) add(graph, in, port);
    });
    if (all_flow) return;
  }
  for_each_egress(peer, column, true, [&](PortIdx port) { add(graph, in, port); });
}

void TransientGraph::add(TurnGraph& graph, PortIdx in, PortIdx out) {
  if (graph.has(in, out) || graph.is_forbidden(in, out)) return;
  graph.add(in, out);
  added_.emplace_back(in, out);
}

// Neighbour by neighbour over all changes of a switch, since those go along its rows.
void TransientGraph::find_senders() {
  std::vector<std::pair<std::uint32_t, PortIdx>> found;  // change within the switch, port
  first_sender_.assign(1, 0);
  for (std::size_t first = 0, last = 0; first < changes_.size(); first = last) {
    const SwitchIdx sw = changes_[first].sw;
    while (last < changes_.size() && changes_[last].sw == sw) ++last;
    found.clear();
    for (const PortIdx in : fabric_.external_ports(fabric_.switch_node[sw])) {
      if (initial_.flow[in] == Flow::Never) continue;
      const SwitchIdx peer = initial_.peer_switch[in];
      const PortNum number = fabric_.number_of(fabric_.peer[in]);
      const std::span<const PortNum> wanted = row_of(*task_.wanted, peer);
      const std::span<const PortNum> held = row_of(*task_.held, peer);
      for (std::size_t i = first; i < last; ++i) {
        const Lid lid = changes_[i].lid;
        if ((lid.value() < wanted.size() && wanted[lid.value()] == number) ||
            (lid.value() < held.size() && held[lid.value()] == number) ||
            (!unknown_.empty() && first_cell_[peer] != kNoRow &&
             unknown_[cell(peer, column_of_[lid.value()])]))
          found.emplace_back(static_cast<std::uint32_t>(i - first), in);
      }
    }
    std::ranges::sort(found);
    auto at = found.begin();
    for (std::size_t i = first; i < last; ++i) {
      for (; at != found.end() && at->first == i - first; ++at) senders_.push_back(at->second);
      first_sender_.push_back(static_cast<std::uint32_t>(senders_.size()));
    }
  }
}

// Turns behind the entry and before it; those before it that start at an entry which changes too
// are found there.
void TransientGraph::mark_change(TurnGraph& graph, std::size_t change, bool all_flow) {
  const SwitchIdx sw = changes_[change].sw;
  const std::uint32_t column = column_of_[changes_[change].lid.value()];
  for_each_sender(sw, column, false, [&](PortIdx out) {
    if (!all_flow && initial_.flow[out] == Flow::Later) {
      bool sends = false;
      for_each_sender(sw, column, true, [&](PortIdx port) { sends = sends || port == out; });
      if (!sends) return;
    }
    mark_channel(graph, out, column, all_flow);
  });
  for (const PortIdx in : senders(change)) {
    if (!is_changed(initial_.peer_switch[in], column))
      mark_channel(graph, fabric_.peer[in], column, all_flow);
  }
}

void TransientGraph::mark(TurnGraph& graph, bool all_flow) {
  if (!steady_) {
    find_senders();
    find_steady_turns();
    const bool known = task_.places != nullptr && steady_->sort_by_places(*task_.places);
    steady_is_sorted_ = known || steady_->sort();
  }
  added_.clear();
  closing_.clear();
  graph.add_all(*steady_);
  for (std::size_t i = 0; i < changes_.size(); ++i) mark_change(graph, i, all_flow);
}

// The order of the turns that stay is found once. Where few of the others violate it, it is
// repaired for them, as a search of phases does; where many do, that costs more than another one.
bool TransientGraph::mark_sorted(TurnGraph& graph, bool all_flow) {
  constexpr std::size_t kFew = 8;
  mark(graph, all_flow);
  if (!steady_is_sorted_) return graph.sort();
  graph.take_order(*steady_);
  std::erase_if(added_,
                [&](const auto& turn) { return graph.respects_order(turn.first, turn.second); });
  if (added_.size() > kFew) return graph.sort();
  for (const auto& [in, out] : added_) graph.remove(in, out);
  return std::ranges::all_of(
      added_, [&](const auto& turn) { return graph.insert(turn.first, turn.second); });
}

bool TransientGraph::insert(TurnGraph& graph, PortIdx in, PortIdx out) {
  if (graph.has(in, out)) return true;
  // Until the next graph turns only come: what closed a cycle without the try under way still does.
  const std::uint64_t turn = std::uint64_t{in.value()} << 32 | out.value();
  if (graph.is_forbidden(in, out) || closing_.contains(turn)) return false;
  if (graph.insert(in, out)) {
    inserted_.emplace_back(in, out);
    return true;
  }
  if (inserted_.empty()) closing_.insert(turn);
  return false;
}

bool TransientGraph::try_now(TurnGraph& graph, std::size_t change) {
  const EntryChange& entry = changes_[change];
  const std::uint32_t column = column_of_[entry.lid.value()];
  const EntryStage before = stage(change);
  set_stage(change, EntryStage::Now);
  const PortIdx out = channel_of(entry.sw, entry.egress);
  if (out == kNone<PortIdx>) return true;

  inserted_.clear();
  bool free = true;
  for_each_egress(initial_.peer_switch[out], column, false, [&](PortIdx next) {
    free = free && insert(graph, fabric_.peer[out], next);
  });
  for (const PortIdx in : senders(change)) {
    if (!free) break;
    if (may_send(initial_.peer_switch[in], column, fabric_.peer[in])) free = insert(graph, in, out);
  }
  if (free) return true;
  for (const auto& [in, next] : inserted_) graph.remove(in, next);
  set_stage(change, before);
  return false;
}

std::vector<std::uint16_t> TransientGraph::measure_distances() const {
  constexpr std::uint16_t kUnseen = 0xfffe;
  std::vector<std::uint16_t> distances(changes_.size(), kUnreached);
  std::vector<std::vector<std::size_t>> of_column(columns_.size());
  for (std::size_t i = 0; i < changes_.size(); ++i)
    of_column[column_of_[changes_[i].lid.value()]].push_back(i);
  IndexVector<SwitchIdx, std::uint16_t> length;
  std::vector<SwitchIdx> path;
  for (std::uint32_t column = 0; column < columns_.size(); ++column) {
    length.assign(fabric_.switch_count(), kUnseen);
    for (const std::size_t i : of_column[column]) {
      SwitchIdx sw = changes_[i].sw;
      path.clear();
      while (length[sw] == kUnseen) {
        length[sw] = kUnreached;  // a loop, unless the walk ends
        path.push_back(sw);
        const PortNum egress = entry_of(*task_.wanted, sw, columns_[column]);
        const PortIdx out = channel_of(sw, egress);
        if (out == kNone<PortIdx>) {
          length[sw] = egress == kNoRoute ? kUnreached : 0;
          path.pop_back();
          break;
        }
        sw = initial_.peer_switch[out];
      }
      for (std::uint16_t hops = length[sw]; !path.empty(); path.pop_back()) {
        if (hops != kUnreached) ++hops;
        length[path.back()] = hops;
      }
      distances[i] = length[changes_[i].sw];
    }
  }
  return distances;
}

}  // namespace smd
