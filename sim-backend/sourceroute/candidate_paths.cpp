#include "sim-backend/sourceroute/candidate_paths.h"

#include <algorithm>
#include <set>

namespace smd::sim {
namespace {

constexpr std::size_t kNoState = SIZE_MAX;
constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

}  // namespace

ShortestPaths::ShortestPaths(const RouteNet& net, const SwitchKeys* keys)
    : net_(net), keys_(keys), into_(net.switches()) {
  for (Channel c = 0; c < net.channels(); ++c) into_[net.to(c)].push_back(c);
}

std::size_t ShortestPaths::after(Channel c, bool down, bool& then_down) const {
  if (keys_ == nullptr) return net_.to(c);
  const bool goes_down = (*keys_)[net_.to(c)] > (*keys_)[net_.from(c)];
  if (down && !goes_down) return kNoState;
  then_down = goes_down;
  return state(net_.to(c), goes_down);
}

void ShortestPaths::aim(std::uint32_t destination) {
  destination_ = destination;
  const std::size_t states = (keys_ == nullptr ? 1 : 2) * std::size_t{net_.switches()};
  length_.assign(states, kUnreached);
  count_.assign(states, 0);
  // Backwards, in order of length: a state's ways are those of the states after it.
  std::vector<std::pair<std::uint32_t, bool>> line;
  for (const bool down : {false, true}) {
    if (keys_ == nullptr && down) continue;
    length_[state(destination, down)] = 0;
    count_[state(destination, down)] = 1;
    line.push_back({destination, down});
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto [sw, down] = line[i];
    const std::size_t here = state(sw, down);
    for (const Channel c : into_[sw]) {
      for (const bool before : {false, true}) {
        if (keys_ == nullptr && before) continue;
        bool then_down = false;
        if (after(c, before, then_down) != here) continue;
        const std::size_t there = state(net_.from(c), before);
        if (length_[there] == kUnreached) {
          length_[there] = length_[here] + 1;
          line.push_back({net_.from(c), before});
        }
        if (length_[there] == length_[here] + 1) {
          count_[there] = std::min(kMost, count_[there] + count_[here]);
        }
      }
    }
  }
}

ChannelPath ShortestPaths::draw(std::uint32_t from, Rng& rng) const {
  ChannelPath out;
  bool down = false;
  for (std::uint32_t at = from; at != destination_;) {
    const std::size_t here = state(at, down);
    std::uint64_t left = rng.below(count_[here]);
    for (Channel c = net_.first(at);; ++c) {
      bool then_down = false;
      const std::size_t next = after(c, down, then_down);
      if (next == kNoState || length_[next] + 1 != length_[here]) continue;
      if (left >= count_[next]) {
        left -= count_[next];
        continue;
      }
      out.push_back(c);
      at = net_.to(c);
      down = then_down;
      break;
    }
  }
  return out;
}

void ShortestPaths::list(std::uint32_t at,
                         bool down,
                         ChannelPath& path,
                         std::vector<ChannelPath>& out) const {
  if (at == destination_) return out.push_back(path);
  for (Channel c = net_.first(at); c < net_.end(at); ++c) {
    bool then_down = false;
    const std::size_t next = after(c, down, then_down);
    if (next == kNoState || length_[next] + 1 != length_[state(at, down)]) continue;
    path.push_back(c);
    list(net_.to(c), then_down, path, out);
    path.pop_back();
  }
}

std::vector<ChannelPath> ShortestPaths::sample(std::uint32_t from,
                                               std::size_t most,
                                               Rng& rng) const {
  std::vector<ChannelPath> out;
  if (count(from) <= most) {
    ChannelPath path;
    list(from, false, path, out);
    return out;
  }
  std::set<ChannelPath> seen;
  while (out.size() < most) {
    ChannelPath path = draw(from, rng);
    if (seen.insert(path).second) out.push_back(std::move(path));
  }
  return out;
}

}  // namespace smd::sim
