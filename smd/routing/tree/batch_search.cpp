#include "smd/routing/tree/batch_search.h"

#include <algorithm>

namespace smd {

BatchSearch::BatchSearch(const SwitchGraph& graph, const UpDownGraph& up_down)
    : order_(up_down.order()),
      link_of_(graph.edge_count()),
      descends_(graph.switches(), 0),
      entered_(graph.switches(), 0) {
  IndexVector<SwitchIdx, std::uint32_t> known(graph.switches(), 0);  // one past the link
  const auto add = [&](std::uint32_t begin, std::span<const UpDownGraph::Way> ways) {
    for (const UpDownGraph::Way& way : ways) {
      if (known[way.to] <= begin) {
        links_.push_back({.to = way.to, .edge = way.edge, .cables = 0});
        known[way.to] = static_cast<std::uint32_t>(links_.size());
      }
      ++links_[known[way.to] - 1].cables;
      link_of_[way.edge] = known[way.to] - 1;
    }
  };
  for (const SwitchIdx sw : descends_.indices()) {
    const auto begin = static_cast<std::uint32_t>(links_.size());
    first_.push_back(begin);
    add(begin, up_down.up(sw));
    middle_.push_back(static_cast<std::uint32_t>(links_.size()));
    add(begin, up_down.down(sw));
  }
  first_.push_back(static_cast<std::uint32_t>(links_.size()));
  wanted_.resize(links_.size());
}

void BatchSearch::find(std::span<const SwitchIdx> destinations) {
  while (!find_within(destinations)) room_ *= 2;
}

bool BatchSearch::find_within(std::span<const SwitchIdx> destinations) {
  at_.assign(descends_.size() * room_, 0);
  wanted_.assign(wanted_.size(), 0);
  descends_.assign(descends_.size(), 0);
  entered_.assign(entered_.size(), 0);
  lengths_.resize(room_);
  return find_descents(destinations) && find_climbs();
}

bool BatchSearch::find_descents(std::span<const SwitchIdx> destinations) {
  all_ = 0;
  reached_.clear();
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const SwitchIdx sw = destinations[i];
    if (sw == kNone<SwitchIdx>) continue;
    at(sw)[0] = descends_[sw] = std::uint64_t{1} << i;
    all_ |= descends_[sw];
    reached_.push_back(sw);
  }
  for (std::size_t length = 0; !reached_.empty(); ++length) {
    next_.clear();
    for (const SwitchIdx sw : reached_) {
      const std::uint64_t here = at(sw)[length];
      for (std::uint32_t up = first_link(sw); up < first_down(sw); ++up) {
        const SwitchIdx above = links_[up].to;
        const std::uint64_t fresh = here & ~descends_[above];
        if (fresh == 0) continue;
        if (length + 1 == room_) return false;
        std::uint64_t& there = at(above)[length + 1];
        if (there == 0) next_.push_back(above);
        there |= fresh;
      }
    }
    for (const SwitchIdx sw : next_) {
      const std::uint64_t fresh = at(sw)[length + 1];
      descends_[sw] |= fresh;
      for (std::uint32_t down = first_down(sw); down < end_link(sw); ++down)
        wanted_[down] |= fresh & at(links_[down].to)[length];
    }
    reached_.swap(next_);
  }
  return true;
}

// When a switch's turn comes, all above it are as they will stay.
bool BatchSearch::find_climbs() {
  for (const SwitchIdx sw : order_) {
    std::uint64_t* const own = at(sw);
    std::uint64_t rest = all_ & ~entered_[sw];
    std::fill(lengths_.begin(), lengths_.end(), 0);
    std::uint64_t climbs = 0, only_climbs = 0;
    if (rest != 0) {
      for (std::uint32_t up = first_link(sw); up < first_down(sw); ++up) {
        const std::uint64_t* const above = at(links_[up].to);
        for (std::size_t length = 0; length < room_; ++length) lengths_[length] |= above[length];
      }
      for (std::size_t length = 0; length + 1 < room_; ++length) {
        rest &= ~own[length];
        lengths_[length] &= rest;
        rest &= ~lengths_[length];
        climbs |= lengths_[length];
        only_climbs |= lengths_[length] & ~own[length + 1];
      }
      if ((lengths_[room_ - 1] & rest) != 0) return false;
      lengths_[room_ - 1] = 0;
    }
    if (climbs != 0) {
      for (std::size_t length = room_ - 1; length > 0; --length)
        own[length] = (own[length] & ~only_climbs) | lengths_[length - 1];
      for (std::uint32_t up = first_link(sw); up < first_down(sw); ++up) {
        const std::uint64_t* const above = at(links_[up].to);
        std::uint64_t any = 0;
        for (std::size_t length = 0; length < room_; ++length)
          any |= above[length] & lengths_[length];
        wanted_[up] = any;
      }
    }
    if (descends_[sw] == 0) continue;
    for (std::uint32_t down = first_down(sw); down < end_link(sw); ++down) {
      wanted_[down] &= ~only_climbs;
      entered_[links_[down].to] |= wanted_[down];
    }
  }
  return true;
}

}  // namespace smd
