// Channel dependency graphs while a plan is being made: turns come and go, and a topological order
// of the channels follows them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "smd/plan/transition.h"

namespace smd {

/// How much may still be done to find a plan, in steps: a channel or a pair of a switch and a LID
/// that is looked at. Counted and not timed, so that a change of a fabric has one plan everywhere.
class PlanBudget {
 public:
  explicit PlanBudget(std::uint64_t steps) : left_(steps) {}

  void spend(std::uint64_t steps) { left_ -= std::min(left_, steps); }

  [[nodiscard]] std::uint64_t left() const { return left_; }

  [[nodiscard]] bool is_spent() const { return left_ == 0; }

 private:
  std::uint64_t left_;
};

// An order in which every edge of a graph is respected, while edges come: only what lies between
// the ends of an edge that violates it moves (Pearce and Kelly, a dynamic topological sort
// algorithm for directed acyclic graphs, 2006).

/// `Places` and `Marks` are indexed by `Node`: a place, all different, and a char for each.
template <class Node, class Places, class Marks>
class OrderRepair {
 public:
  explicit OrderRepair(Marks unmarked) : seen_(std::move(unmarked)) {}

  /// Makes room in `place` for an edge from `from` to `to`. False, and nothing changed, when it
  /// would close a cycle. after(node, visit) and before(node, visit) call visit for the neighbours.
  template <class After, class Before>
  [[nodiscard]] bool repair(Places& place, Node from, Node to, After&& after, Before&& before) {
    visited_ = 0;
    if (from == to) return false;
    if (place[from] < place[to]) return true;
    const std::uint32_t floor = place[to];
    const std::uint32_t ceiling = place[from];
    const bool free =
        reach(ahead_, to, from, after, [&](Node node) { return place[node] <= ceiling; });
    visited_ = ahead_.size();
    if (!free) return false;
    // Nothing before `from` is `from`: this cannot fail.
    (void)reach(behind_, from, from, before, [&](Node node) { return place[node] >= floor; });
    visited_ += behind_.size();
    reorder(place);
    return true;
  }

  /// Nodes that the last repair looked at.
  [[nodiscard]] std::size_t visited() const { return visited_; }

 private:
  // All that can be reached within bounds; false as soon as `goal` is.
  template <class Neighbours, class Within>
  bool reach(
      std::vector<Node>& reached, Node start, Node goal, Neighbours&& neighbours, Within&& within) {
    bool free = true;
    reached.clear();
    stack_.assign(1, start);
    seen_[start] = 1;
    while (!stack_.empty() && free) {
      const Node node = stack_.back();
      stack_.pop_back();
      reached.push_back(node);
      neighbours(node, [&](Node next) {
        if (next == goal) free = false;
        if (seen_[next] || !within(next)) return;
        seen_[next] = 1;
        stack_.push_back(next);
      });
    }
    for (const Node node : stack_) seen_[node] = 0;
    for (const Node node : reached) seen_[node] = 0;
    return free;
  }

  struct Placed {  // sorted without a look at the places
    std::uint32_t place;
    Node node;
  };

  static void sort(std::vector<Placed>& sorted,
                   const std::vector<Node>& nodes,
                   const Places& place) {
    sorted.clear();
    for (const Node node : nodes) sorted.push_back({place[node], node});
    std::ranges::sort(sorted, {}, &Placed::place);
  }

  // Gives the places that `behind_` and `ahead_` hold to all of `behind_`, then all of `ahead_`.
  void reorder(Places& place) {
    sort(first_, behind_, place);
    sort(second_, ahead_, place);
    places_.clear();
    std::ranges::merge(
        first_, second_, std::back_inserter(places_), {}, &Placed::place, &Placed::place);
    std::size_t at = 0;
    for (const Placed& each : first_) place[each.node] = places_[at++].place;
    for (const Placed& each : second_) place[each.node] = places_[at++].place;
  }

  Marks seen_;
  std::size_t visited_ = 0;
  std::vector<Node> ahead_, behind_, stack_;
  std::vector<Placed> first_, second_, places_;
};

// The channel graph while a plan is being made: turns come and go, and an order of the channels
// follows them.

/// A turn leads from the channel that ends at port `in` of a switch to the one that begins at its
/// port `out`. Only links between two switches have channels here.
class TurnGraph {
 public:
  explicit TurnGraph(const Fabric& fabric);

  [[nodiscard]] bool is_channel(PortIdx port) const { return rows_->places[port].words != 0; }

  /// Requires of the functions below: `in` and `out` are channels and ports of one switch.
  [[nodiscard]] bool has(PortIdx in, PortIdx out) const {
    return turns_[word(in, out)] & bit(in, out);
  }

  void add(PortIdx in, PortIdx out) {
    const Word mask = bit(in, out) & ~forbidden_[word(in, out)];
    turns_[word(in, out)] |= mask;
  }

  /// All turns of another graph of the same fabric.
  void add_all(const TurnGraph& other);

  /// The turns from `in` to ports whose numbers have a bit. Requires: as many words as its switch
  /// has ports for.
  void add_all(PortIdx in, std::span<const std::uint64_t> numbers);

  void remove(PortIdx in, PortIdx out) { turns_[word(in, out)] &= ~bit(in, out); }

  /// From now on this turn does not exist, however often it is added.
  void forbid(PortIdx in, PortIdx out);

  [[nodiscard]] bool is_forbidden(PortIdx in, PortIdx out) const {
    return forbidden_[word(in, out)] & bit(in, out);
  }

  /// A packet that would leave by the port it came in by is discarded: forbids all such turns.
  void forbid_u_turns();

  /// Orders the channels anew; false when there is a cycle, and then there is no order.
  [[nodiscard]] bool sort();

  /// Takes the order instead of computing one; false, and no order, where a turn violates it.
  [[nodiscard]] bool sort_by(const ChannelOrder& order);

  /// The same where the places of the channels are all different: insert() may follow.
  [[nodiscard]] bool sort_by_places(const ChannelOrder& places);

  /// The order of another graph of the same fabric, which is sorted. Turns that violate it are gone
  /// before one is inserted.
  void take_order(const TurnGraph& other) { position_ = other.position_; }

  [[nodiscard]] bool respects_order(PortIdx in, PortIdx out) const {
    return position_[fabric_->peer[in]] < position_[out];
  }

  /// Adds a turn and repairs the order. False, and nothing changed, when a cycle would close.
  /// Requires: sorted.
  [[nodiscard]] bool insert(PortIdx in, PortIdx out);

  /// Requires: sorted.
  [[nodiscard]] const ChannelOrder& order() const { return position_; }

  /// Calls visit(in, out) for every turn, in port order.
  template <class Visit>
  void for_each_turn(Visit&& visit) const {
    for (const PortIdx in : rows_->places.indices()) {
      if (is_channel(in)) for_each_egress(in, [&](PortIdx out) { visit(in, out); });
    }
  }

 private:
  using Word = std::uint64_t;

  struct Place {
    std::uint32_t words = 0;  // 0: no channel
    std::uint32_t first_word = 0;
    std::uint32_t first_port = 0;  // of its switch
    std::uint32_t of_switch = 0;   // in PortPlaces::channels
  };

  struct PortPlaces {  // of all graphs of a fabric
    IndexVector<PortIdx, Place> places;
    std::vector<Word> channels;  // by switch: ports that are channels
  };

  [[nodiscard]] std::size_t word(PortIdx in, PortIdx out) const {
    const Place& at = rows_->places[in];
    return at.first_word + (out.value() - at.first_port) / 64;
  }

  [[nodiscard]] Word bit(PortIdx in, PortIdx out) const {
    return Word{1} << ((out.value() - rows_->places[in].first_port) % 64);
  }

  [[nodiscard]] bool respects(const ChannelOrder& order) const;

  template <class Visit>
  void for_each_egress(PortIdx in, Visit&& visit) const {
    const Place& at = rows_->places[in];
    for (std::uint32_t i = 0; i < at.words; ++i) {
      for (Word bits = turns_[at.first_word + i]; bits != 0; bits &= bits - 1) {
        const auto offset = i * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        visit(PortIdx{at.first_port + offset});
      }
    }
  }

  /// A search meets a port of a switch over many turns, and has to look at it over the first alone:
  /// a bit for each port of the switch that was looked at, where channels out and in differ.
  class PortMarks {
   public:
    /// Of the words of the port's switch that a turn can name it in.
    [[nodiscard]] Word& at(std::size_t word) {
      if (bits_[word] == 0) touched_.push_back(word);
      return bits_[word];
    }

    void resize(std::size_t words) { bits_.assign(words, 0); }

    void clear() {
      for (const std::size_t word : touched_) bits_[word] = 0;
      touched_.clear();
    }

   private:
    std::vector<Word> bits_;
    std::vector<std::size_t> touched_;  // some twice
  };

  /// Channels that may be waited for from `in`, but for those that were visited since
  /// looked_.clear().
  template <class Visit>
  void for_each_new_egress(PortIdx in, Visit&& visit) {
    const Place& at = rows_->places[in];
    for (std::uint32_t i = 0; i < at.words; ++i) {
      Word& looked = looked_.at(at.of_switch + i);
      const Word found = turns_[at.first_word + i] & ~looked;
      looked |= found;
      for (Word bits = found; bits != 0; bits &= bits - 1) {
        const auto offset = i * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        visit(PortIdx{at.first_port + offset});
      }
    }
  }

  /// Channels that lead to the one that begins at `out`, in the same way.
  template <class Visit>
  void for_each_new_entry(PortIdx out, Visit&& visit) {
    const Place& at = rows_->places[out];
    for (std::uint32_t i = 0; i < at.words; ++i) {
      Word& looked = looked_.at(at.of_switch + i);
      for (Word bits = rows_->channels[at.of_switch + i] & ~looked; bits != 0; bits &= bits - 1) {
        const auto offset = i * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        const PortIdx in{at.first_port + offset};
        if (!has(in, out)) continue;
        looked |= bits & -bits;
        visit(fabric_->peer[in]);
      }
    }
  }

  const Fabric* fabric_;
  std::shared_ptr<const PortPlaces> rows_;
  std::vector<Word> turns_, forbidden_;
  PortMarks looked_;
  ChannelOrder position_;  // by the port a channel begins at
  OrderRepair<PortIdx, ChannelOrder, IndexVector<PortIdx, char>> repair_;
};

// A turn graph whose latest turns can be taken back.

class TrialGraph {
 public:
  explicit TrialGraph(TurnGraph graph) : graph_(std::move(graph)) {}

  /// False when there is a cycle: then nothing can be tried.
  [[nodiscard]] bool sort() { return graph_.sort(); }

  /// False, and nothing changed, when a cycle would close or the turn was forbidden.
  [[nodiscard]] bool insert(PortIdx in, PortIdx out) {
    if (graph_.has(in, out)) return true;
    if (graph_.is_forbidden(in, out) || !graph_.insert(in, out)) return false;
    added_.emplace_back(in, out);
    return true;
  }

  [[nodiscard]] std::size_t mark() const { return added_.size(); }

  /// As it was at that mark.
  void undo(std::size_t mark) {
    for (; added_.size() > mark; added_.pop_back())
      graph_.remove(added_.back().first, added_.back().second);
  }

  [[nodiscard]] std::uint32_t position(PortIdx channel) const { return graph_.order()[channel]; }

 private:
  TurnGraph graph_;
  std::vector<std::pair<PortIdx, PortIdx>> added_;
};

// Which VL of which channel may wait for which, while a plan is being made: kept in an order in
// which every dependency is respected.

class VlTurnGraph {
 public:
  using VlChannel = std::uint32_t;  // port times VLs plus VL
  using Edge = std::pair<VlChannel, VlChannel>;

  explicit VlTurnGraph(std::size_t vls)
      : next_(vls), before_(vls), place_(vls, 0), repair_(std::vector<char>(vls, 0)) {}

  [[nodiscard]] bool has(const Edge& edge) const;

  /// Without looking at what it closes: sort() has to follow.
  void add(const Edge& edge);

  /// Requires: has(edge).
  void remove(const Edge& edge);

  /// Orders the channels anew; false when there is a cycle, and then there is no order.
  [[nodiscard]] bool sort();

  /// Channels that wait for each other, each for the next and the last for the first. Empty: none.
  [[nodiscard]] std::vector<VlChannel> find_cycle() const;

  /// Adds an edge and repairs the order. False, and nothing changed, when a cycle would close, or
  /// the budget is spent. Requires: sorted.
  [[nodiscard]] bool insert(const Edge& edge, PlanBudget& budget);

  /// By channel and VL. Requires: sorted.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return place_; }

 private:
  using Neighbours = std::vector<std::vector<VlChannel>>;

  /// Channels in the order in which they wait for nothing any more, where `waits` says for how many
  /// each does, and `next` who waits for it. What is left of `waits` is not 0 for the others.
  static std::vector<VlChannel> peel(const Neighbours& next, std::vector<std::size_t>& waits);

  Neighbours next_, before_;
  std::vector<std::uint32_t> place_;
  OrderRepair<VlChannel, std::vector<std::uint32_t>, std::vector<char>> repair_;
};

}  // namespace smd
