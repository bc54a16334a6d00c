#include "smd/routing/shape/grid_dimensions.h"

#include <algorithm>
#include <tuple>

namespace smd {
namespace {

struct Meeting {
  std::uint32_t a, b;  // classes, a < b
  bool square;

  friend auto operator<=>(const Meeting&, const Meeting&) = default;
};

/// Two classes that meet at so many switches, and nowhere span a 4-cycle.
struct Candidate {
  std::uint32_t a, b;
  std::uint32_t times;
};

std::vector<Meeting> find_meetings(const NeighbourGraph& graph, const LinkClasses& classes) {
  std::vector<Meeting> meetings;
  CornerSearch search{graph};
  std::vector<char> square;
  for (const SwitchIdx sw : graph.by_guid()) {
    const auto around = graph.around(sw);
    square.assign(around.size() * around.size(), 0);
    for (const Corner& corner : search.find(sw)) {
      if (corner.kind == Corner::Kind::Square)
        square[std::min(corner.a, corner.b) * around.size() + std::max(corner.a, corner.b)] = 1;
    }
    for (std::size_t i = 0; i < around.size(); ++i) {
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        const std::uint32_t a = classes.of[around[i].link], b = classes.of[around[j].link];
        if (a != b)
          meetings.push_back({std::min(a, b), std::max(a, b), square[i * around.size() + j] != 0});
      }
    }
  }
  std::sort(meetings.begin(), meetings.end());
  return meetings;
}

class Joining {
 public:
  Joining(const NeighbourGraph& graph, const LinkClasses& classes)
      : classes_(classes),
        sets_(classes.count),
        across_(classes.count),
        offers_(classes.count),
        ends_(classes.count) {
    for (std::uint32_t r = 0; r < graph.switches(); ++r) {
      for (const Neighbour& n : graph.around(graph.by_guid()[r]))
        ends_[classes.of[n.link]].push_back(r);
    }
  }

  void read(const std::vector<Meeting>& meetings) {
    for (std::size_t i = 0; i < meetings.size();) {
      const auto [a, b, _] = meetings[i];
      std::uint32_t times = 0;
      bool square = false;
      for (; i < meetings.size() && meetings[i].a == a && meetings[i].b == b; ++i) {
        ++times;
        square = square || meetings[i].square;
      }
      if (square) {
        across_[a].push_back(b);
        across_[b].push_back(a);
      } else {
        candidates_.push_back({a, b, times});
        offers_[a].push_back({a, b, times});
        offers_[b].push_back({b, a, times});
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& x, const Candidate& y) {
      return std::tie(y.times, x.a, x.b) < std::tie(x.times, y.a, y.b);
    });
  }

  LinkClasses run() {
    for (const Candidate& c : candidates_) {
      if (!may_join(c.a, c.b) || is_doubtful(c.a, c.b, c.times) || is_doubtful(c.b, c.a, c.times))
        continue;
      const std::uint32_t a = sets_.find(c.a), b = sets_.find(c.b);
      const std::uint32_t first = std::min(a, b), second = std::max(a, b);
      sets_.join(first, second);
      across_[first].insert(across_[first].end(), across_[second].begin(), across_[second].end());
      std::vector<std::uint32_t>& ends = ends_[first];
      const auto middle = static_cast<std::ptrdiff_t>(ends.size());
      ends.insert(ends.end(), ends_[second].begin(), ends_[second].end());
      std::inplace_merge(ends.begin(), ends.begin() + middle, ends.end());
    }
    LinkClasses joined{.of = std::vector<std::uint32_t>(classes_.of.size())};
    std::vector<std::uint32_t> number(classes_.count, 0);
    for (std::uint32_t c = 0; c < classes_.count; ++c) {
      const std::uint32_t first = sets_.find(c);
      number[c] = first == c ? joined.count++ : number[first];
    }
    for (std::size_t link = 0; link < joined.of.size(); ++link)
      joined.of[link] = number[classes_.of[link]];
    return joined;
  }

 private:
  // Requires: both stand for their sets.
  bool are_across(std::uint32_t a, std::uint32_t b) {
    if (across_[a].size() > across_[b].size()) std::swap(a, b);
    return std::any_of(
        across_[a].begin(), across_[a].end(), [&](std::uint32_t c) { return sets_.find(c) == b; });
  }

  // A switch has two neighbours in a dimension at most. Requires: both stand for their sets.
  bool are_too_many(std::uint32_t a, std::uint32_t b) const {
    if (ends_[a].size() > ends_[b].size()) std::swap(a, b);
    for (auto at = ends_[a].begin(); at != ends_[a].end();) {
      const auto after = std::upper_bound(at, ends_[a].end(), *at);
      const auto [first, last] = std::equal_range(ends_[b].begin(), ends_[b].end(), *at);
      if (first != last && (after - at) + (last - first) > 2) return true;
      at = after;
    }
    return false;
  }

  bool may_join(std::uint32_t a, std::uint32_t b) {
    a = sets_.find(a);
    b = sets_.find(b);
    return a != b && !are_across(a, b) && !are_too_many(a, b);
  }

  // One class cannot lie in line with two that are across each other.
  bool is_doubtful(std::uint32_t a, std::uint32_t b, std::uint32_t times) {
    return std::any_of(offers_[a].begin(), offers_[a].end(), [&](const Candidate& other) {
      return other.b != b && other.times * 2 > times &&
             are_across(sets_.find(other.b), sets_.find(b)) && may_join(a, other.b);
    });
  }

  const LinkClasses& classes_;
  DisjointSets sets_;
  std::vector<std::vector<std::uint32_t>> across_;  // by set: classes of other dimensions
  std::vector<std::vector<Candidate>> offers_;      // by class
  std::vector<std::vector<std::uint32_t>> ends_;    // by set: switches at its links, ascending
  std::vector<Candidate> candidates_;
};

}  // namespace

LinkClasses join_in_line(const NeighbourGraph& graph, const LinkClasses& classes) {
  Joining joining{graph, classes};
  joining.read(find_meetings(graph, classes));
  return joining.run();
}

}  // namespace smd
