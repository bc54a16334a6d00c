#include "smd/routing/graph/acyclic_graph.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

namespace smd {
namespace {

/// Calls `visit` with every channel that `channel` may wait for.
template <class Visit>
void each_next(const Dependencies& dependencies,
               const std::vector<std::uint64_t>& bits,
               Channel channel,
               Visit&& visit) {
  Channel out = dependencies.first_out(channel);
  const std::uint32_t end = dependencies.first_word(channel + 1);
  for (std::uint32_t word = dependencies.first_word(channel); word < end; ++word, out += 64) {
    for (std::uint64_t left = bits[word]; left != 0; left &= left - 1)
      visit(out + static_cast<Channel>(std::countr_zero(left)));
  }
}

// Dependencies between channels that could not be sorted, heaviest first.
std::vector<Dependency> list_doubtful(const Dependencies& dependencies,
                                      std::span<const std::uint32_t> uses,
                                      const AcyclicGraph& layer) {
  std::vector<Dependency> doubtful;
  for (Channel channel = 0; channel < dependencies.channels(); ++channel) {
    if (!layer.unsorted()[channel]) continue;
    const Dependency end = dependencies.first_word(channel + 1) * 64;
    for (Dependency d = dependencies.at(channel, 0); d < end; ++d) {
      if (uses[d] != 0 && layer.has(d) && layer.unsorted()[dependencies.out(d)])
        doubtful.push_back(d);
    }
  }
  std::sort(doubtful.begin(), doubtful.end(), [&](Dependency a, Dependency b) {
    return uses[a] != uses[b] ? uses[a] > uses[b] : a < b;
  });
  return doubtful;
}

}  // namespace

AcyclicGraph::AcyclicGraph(const Dependencies& dependencies)
    : dependencies_(dependencies),
      bits_(dependencies.words(), 0),
      place_(dependencies.channels()),
      at_place_(dependencies.channels()),
      seen_(dependencies.channels(), 0) {
  std::iota(place_.begin(), place_.end(), 0u);
  std::iota(at_place_.begin(), at_place_.end(), 0u);
}

void AcyclicGraph::clear() {
  std::fill(bits_.begin(), bits_.end(), 0);
  forget_refused();
}

void AcyclicGraph::forget_refused() { refused_.clear(); }

bool AcyclicGraph::sort() {
  std::vector<std::uint32_t> waiting(dependencies_.channels(), 0);  // how many wait for one
  for (Channel channel = 0; channel < dependencies_.channels(); ++channel)
    each_next(dependencies_, bits_, channel, [&](Channel next) { ++waiting[next]; });
  std::vector<Channel> order;
  order.reserve(dependencies_.channels());
  for (Channel channel = 0; channel < dependencies_.channels(); ++channel) {
    if (waiting[channel] == 0) order.push_back(channel);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    each_next(dependencies_, bits_, order[at], [&](Channel next) {
      if (--waiting[next] == 0) order.push_back(next);
    });
  }
  if (order.size() != dependencies_.channels()) {
    unsorted_.assign(dependencies_.channels(), 1);
    for (const Channel channel : order) unsorted_[channel] = 0;
    return false;
  }
  for (std::uint32_t at = 0; at < order.size(); ++at) place_[order[at]] = at;
  at_place_ = std::move(order);
  return true;
}

AcyclicGraph::Answer AcyclicGraph::add(Dependency dependency, std::uint64_t& budget) {
  const Channel in = dependencies_.in(dependency);
  const Channel out = dependencies_.out(dependency);
  if (place_[in] < place_[out]) {
    set(dependency);
    return Answer::Added;
  }
  if (budget == 0) return Answer::TooMuchWork;
  if (!search_ahead(out, in, budget)) {
    for (const Channel channel : ahead_) seen_[channel] = 0;
    return budget == 0 ? Answer::TooMuchWork : Answer::Closes;
  }
  move_behind(in, out);
  set(dependency);
  return Answer::Added;
}

bool AcyclicGraph::add_all(std::span<const Dependency> wanted, std::uint64_t& budget) {
  const auto is_refused = [&](Dependency d) { return (refused_[d / 64] & bit(d)) != 0; };
  if (!refused_.empty() && std::ranges::any_of(wanted, is_refused)) return false;
  added_.clear();
  for (const Dependency dependency : wanted) {
    if (has(dependency)) continue;
    Answer answer = add(dependency, budget);
    if (answer == Answer::Added) {
      added_.push_back(dependency);
      continue;
    }
    for (const Dependency added : added_) bits_[added / 64] &= ~bit(added);
    // Whether it closes a cycle without the others is worth knowing: then it always will.
    if (answer == Answer::Closes && !added_.empty()) {
      answer = add(dependency, budget);
      if (answer == Answer::Added) bits_[dependency / 64] &= ~bit(dependency);
    }
    if (answer != Answer::Added) {
      refused_.resize(bits_.size(), 0);
      refused_[dependency / 64] |= bit(dependency);
    }
    return false;
  }
  return true;
}

// Whom `from` leads to, up to the place of `target`; false when that is the target itself. Depth
// first: what leads to the target is seldom all there is, and the last found is often nearest.
bool AcyclicGraph::search_ahead(Channel from, Channel target, std::uint64_t& budget) {
  const std::uint32_t highest = place_[target];
  bool closes = false;
  ahead_.assign(1, from);
  stack_.assign(1, from);
  seen_[from] = 1;
  while (!stack_.empty() && !closes) {
    if (budget == 0) return false;
    --budget;
    const Channel channel = stack_.back();
    stack_.pop_back();
    each_next(dependencies_, bits_, channel, [&](Channel next) {
      if (next == target) closes = true;
      if (place_[next] >= highest || seen_[next]) return;
      seen_[next] = 1;
      ahead_.push_back(next);
      stack_.push_back(next);
    });
  }
  return !closes;
}

// Those that `to` leads to move behind `from`; the others close up. Nobody overtakes another of the
// same kind, so everything else stays in order.
void AcyclicGraph::move_behind(Channel from, Channel to) {
  std::uint32_t free = place_[to];
  const std::uint32_t last = place_[from];
  const auto put = [&](Channel channel) {
    at_place_[free] = channel;
    place_[channel] = free++;
  };
  moved_.clear();
  for (std::uint32_t place = free; place <= last; ++place) {
    const Channel channel = at_place_[place];
    if (seen_[channel]) {
      moved_.push_back(channel);
      seen_[channel] = 0;
    } else {
      put(channel);
    }
  }
  for (const Channel channel : moved_) put(channel);
}

void keep_heaviest(const Dependencies& dependencies,
                   std::span<const std::uint32_t> uses,
                   AcyclicGraph& layer,
                   std::uint64_t budget) {
  const std::vector<Dependency> doubtful = list_doubtful(dependencies, uses, layer);
  for (const Dependency d : doubtful) layer.remove(d);

  // How many of the heaviest can stay together, by bisection: sorting all at once is cheaper than
  // adding one by one.
  std::size_t fits = 0;
  std::size_t closes = doubtful.size();
  std::size_t present = 0;
  const auto make_present = [&](std::size_t wanted) {
    for (; present < wanted; ++present) layer.set(doubtful[present]);
    for (; present > wanted; --present) layer.remove(doubtful[present - 1]);
  };
  while (closes - fits > 1) {
    const std::size_t middle = fits + (closes - fits) / 2;
    make_present(middle);
    (layer.sort() ? fits : closes) = middle;
  }
  make_present(fits);
  layer.sort();

  // doubtful[fits] is what closed a cycle.
  for (std::size_t at = fits + 1; at < doubtful.size(); ++at) layer.add(doubtful[at], budget);
}

}  // namespace smd
