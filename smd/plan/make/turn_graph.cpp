#include "smd/plan/make/turn_graph.h"

#include <algorithm>
#include <utility>

namespace smd {

TurnGraph::TurnGraph(const Fabric& fabric)
    : fabric_(&fabric),
      position_(fabric.port_count(), 0),
      repair_(IndexVector<PortIdx, char>(fabric.port_count(), 0)) {
  PortPlaces rows{.places = IndexVector<PortIdx, Place>(fabric.port_count()), .channels = {}};
  std::uint32_t at = 0;
  for (const NodeIdx node : fabric.switch_node) {
    const auto of_switch = static_cast<std::uint32_t>(rows.channels.size());
    const std::uint32_t words = fabric.num_ports(node) / 64 + 1;
    rows.channels.resize(rows.channels.size() + words, 0);
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[peer])) continue;
      rows.places[port] = {.words = words,
                           .first_word = at,
                           .first_port = fabric.first_port[node],
                           .of_switch = of_switch};
      const unsigned number = fabric.number_of(port).value();
      rows.channels[of_switch + number / 64] |= Word{1} << (number % 64);
      at += words;
    }
  }
  looked_.resize(rows.channels.size());
  rows_ = std::make_shared<const PortPlaces>(std::move(rows));
  turns_.assign(at, 0);
  forbidden_.assign(at, 0);
}

void TurnGraph::forbid(PortIdx in, PortIdx out) {
  forbidden_[word(in, out)] |= bit(in, out);
  remove(in, out);
}

void TurnGraph::forbid_u_turns() {
  for (const PortIdx port : rows_->places.indices()) {
    if (is_channel(port)) forbid(port, port);
  }
}

void TurnGraph::add_all(const TurnGraph& other) {
  for (std::size_t i = 0; i < turns_.size(); ++i) turns_[i] |= other.turns_[i] & ~forbidden_[i];
}

void TurnGraph::add_all(PortIdx in, std::span<const std::uint64_t> numbers) {
  const Place& at = rows_->places[in];
  for (std::uint32_t i = 0; i < at.words; ++i)
    turns_[at.first_word + i] |= numbers[i] & ~forbidden_[at.first_word + i];
}

bool TurnGraph::sort() {
  IndexVector<PortIdx, std::uint32_t> waits(rows_->places.size(), 0);
  for_each_turn([&](PortIdx, PortIdx out) { ++waits[out]; });
  std::vector<PortIdx> free;
  std::size_t channels = 0;
  for (const PortIdx port : rows_->places.indices()) {
    if (!is_channel(port)) continue;
    ++channels;
    if (waits[port] == 0) free.push_back(port);
  }
  for (std::size_t at = 0; at < free.size(); ++at) {
    position_[free[at]] = static_cast<std::uint32_t>(at);
    for_each_egress(fabric_->peer[free[at]], [&](PortIdx out) {
      if (--waits[out] == 0) free.push_back(out);
    });
  }
  return free.size() == channels;
}

bool TurnGraph::respects(const ChannelOrder& order) const {
  for (const PortIdx in : rows_->places.indices()) {
    const Place& at = rows_->places[in];
    if (at.words == 0) continue;
    const std::uint32_t place = order[fabric_->peer[in]];
    const std::uint32_t* const places = order.raw().data() + at.first_port;
    bool too_low = false;
    for (std::uint32_t i = 0; i < at.words; ++i) {
      for (Word bits = turns_[at.first_word + i]; bits != 0; bits &= bits - 1)
        too_low |= places[i * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))] <= place;
    }
    if (too_low) return false;
  }
  return true;
}

bool TurnGraph::sort_by_places(const ChannelOrder& places) {
  if (!respects(places)) return false;
  position_ = places;
  return true;
}

bool TurnGraph::sort_by(const ChannelOrder& order) {
  if (!respects(order)) return false;
  // insert() needs positions that are all different.
  std::vector<PortIdx> channels;
  for (const PortIdx port : rows_->places.indices()) {
    if (is_channel(port)) channels.push_back(port);
  }
  std::ranges::stable_sort(channels, {}, [&](PortIdx port) { return order[port]; });
  for (std::size_t at = 0; at < channels.size(); ++at)
    position_[channels[at]] = static_cast<std::uint32_t>(at);
  return true;
}

bool TurnGraph::insert(PortIdx in, PortIdx out) {
  if (has(in, out) || is_forbidden(in, out)) return true;
  if (respects_order(in, out)) {
    add(in, out);
    return true;
  }
  // One search is over when the other begins.
  bool ahead = true;
  looked_.clear();
  const auto after = [&](PortIdx channel, auto&& visit) {
    for_each_new_egress(fabric_->peer[channel], visit);
  };
  const auto before = [&](PortIdx channel, auto&& visit) {
    if (std::exchange(ahead, false)) looked_.clear();
    for_each_new_entry(channel, visit);
  };
  if (!repair_.repair(position_, fabric_->peer[in], out, after, before)) return false;
  add(in, out);
  return true;
}

bool VlTurnGraph::has(const Edge& edge) const {
  return std::ranges::find(next_[edge.first], edge.second) != next_[edge.first].end();
}

void VlTurnGraph::add(const Edge& edge) {
  if (has(edge)) return;
  next_[edge.first].push_back(edge.second);
  before_[edge.second].push_back(edge.first);
}

void VlTurnGraph::remove(const Edge& edge) {
  next_[edge.first].erase(std::ranges::find(next_[edge.first], edge.second));
  before_[edge.second].erase(std::ranges::find(before_[edge.second], edge.first));
}

std::vector<VlTurnGraph::VlChannel> VlTurnGraph::peel(const Neighbours& next,
                                                      std::vector<std::size_t>& waits) {
  std::vector<VlChannel> free;
  for (VlChannel vl = 0; vl < waits.size(); ++vl) {
    if (waits[vl] == 0) free.push_back(vl);
  }
  for (std::size_t at = 0; at < free.size(); ++at) {
    for (const VlChannel each : next[free[at]]) {
      if (--waits[each] == 0) free.push_back(each);
    }
  }
  return free;
}

bool VlTurnGraph::sort() {
  std::vector<std::size_t> waits;
  for (const auto& before : before_) waits.push_back(before.size());
  const std::vector<VlChannel> free = peel(next_, waits);
  for (std::size_t at = 0; at < free.size(); ++at)
    place_[free[at]] = static_cast<std::uint32_t>(at);
  return free.size() == next_.size();
}

std::vector<VlTurnGraph::VlChannel> VlTurnGraph::find_cycle() const {
  // What is left when all that waits for nobody is taken away has a way back from everywhere.
  std::vector<std::size_t> waits;
  for (const auto& next : next_) waits.push_back(next.size());
  (void)peel(before_, waits);
  const auto first = std::ranges::find_if(waits, [](std::size_t count) { return count != 0; });
  if (first == waits.end()) return {};
  std::vector<VlChannel> way;
  std::vector<char> met(next_.size(), 0);
  auto at = static_cast<VlChannel>(first - waits.begin());
  while (!met[at]) {
    met[at] = 1;
    way.push_back(at);
    at = *std::ranges::find_if(next_[at], [&](VlChannel next) { return waits[next] != 0; });
  }
  way.erase(way.begin(), std::ranges::find(way, at));
  return way;
}

bool VlTurnGraph::insert(const Edge& edge, PlanBudget& budget) {
  if (has(edge)) return true;
  if (budget.is_spent()) return false;
  const auto neighbours = [](const auto& lists) {
    return [&lists](VlChannel vl, auto&& visit) { std::ranges::for_each(lists[vl], visit); };
  };
  const bool fits =
      repair_.repair(place_, edge.first, edge.second, neighbours(next_), neighbours(before_));
  budget.spend(1 + repair_.visited());
  if (!fits) return false;
  add(edge);
  return true;
}

}  // namespace smd
