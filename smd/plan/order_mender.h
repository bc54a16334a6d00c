// An order in which every edge of a graph rises, while edges come: only what lies between the ends
// of a falling edge moves (Pearce and Kelly, a dynamic topological sort algorithm for directed
// acyclic graphs, 2006).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace smd {

/// `Places` and `Marks` are indexed by `Node`: a place, all different, and a char for each.
template <class Node, class Places, class Marks>
class OrderMender {
 public:
  explicit OrderMender(Marks unmarked) : seen_(std::move(unmarked)) {}

  /// Makes room in `place` for an edge from `from` to `to`. False, and nothing changed, when it
  /// would close a cycle. after(node, visit) and before(node, visit) call visit for the neighbours.
  template <class After, class Before>
  [[nodiscard]] bool mend(Places& place, Node from, Node to, After&& after, Before&& before) {
    if (from == to) return false;
    if (place[from] < place[to]) return true;
    const std::uint32_t floor = place[to];
    const std::uint32_t ceiling = place[from];
    if (!reach(ahead_, to, from, after, [&](Node node) { return place[node] <= ceiling; }))
      return false;
    // Nothing before `from` is `from`: this cannot fail.
    (void)reach(behind_, from, from, before, [&](Node node) { return place[node] >= floor; });
    reorder(place);
    return true;
  }

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

  // Gives the places that `behind_` and `ahead_` hold to all of `behind_`, then all of `ahead_`.
  void reorder(Places& place) {
    const auto by_place = [&](Node node) { return place[node]; };
    std::ranges::sort(behind_, {}, by_place);
    std::ranges::sort(ahead_, {}, by_place);
    places_.clear();
    for (const Node node : behind_) places_.push_back(place[node]);
    for (const Node node : ahead_) places_.push_back(place[node]);
    std::ranges::sort(places_);
    std::size_t at = 0;
    for (const Node node : behind_) place[node] = places_[at++];
    for (const Node node : ahead_) place[node] = places_[at++];
  }

  Marks seen_;
  std::vector<Node> ahead_, behind_, stack_;
  std::vector<std::uint32_t> places_;
};

}  // namespace smd
