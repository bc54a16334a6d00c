// The shortest paths from one switch to another, of all or of the legal ones, sampled evenly.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/sourceroute/route_net.h"
#include "smd/base/rng.h"

namespace smd::sim {

using ChannelPath = std::vector<Channel>;

/// The ways to one destination. With keys only up*/down* ways: to smaller keys first, then to
/// larger ones.
class ShortestPaths {
 public:
  explicit ShortestPaths(const RouteNet& net, const SwitchKeys* keys = nullptr);

  /// Requires: called before length() and draw().
  void aim(std::uint32_t destination);

  /// Links of the shortest ones.
  [[nodiscard]] std::uint32_t length(std::uint32_t from) const {
    return length_[state(from, false)];
  }

  /// How many there are, up to 2^62.
  [[nodiscard]] std::uint64_t count(std::uint32_t from) const { return count_[state(from, false)]; }

  /// All of them where there are at most so many; else so many different ones, each set as likely
  /// as any other.
  [[nodiscard]] std::vector<ChannelPath> sample(std::uint32_t from,
                                                std::size_t most,
                                                Rng& rng) const;

 private:
  // Where a way stands: a switch, and whether it has gone down already.
  [[nodiscard]] std::size_t state(std::uint32_t sw, bool down) const {
    return keys_ == nullptr ? sw : 2 * std::size_t{sw} + (down ? 1 : 0);
  }

  /// The state after a channel; none where the turn is not allowed.
  [[nodiscard]] std::size_t after(Channel c, bool down, bool& then_down) const;
  [[nodiscard]] ChannelPath draw(std::uint32_t from, Rng& rng) const;
  void list(std::uint32_t at, bool down, ChannelPath& path, std::vector<ChannelPath>& out) const;

  const RouteNet& net_;
  const SwitchKeys* keys_;
  std::uint32_t destination_ = 0;
  std::vector<std::uint32_t> length_;
  std::vector<std::uint64_t> count_;
  std::vector<std::vector<Channel>> into_;  // by switch
};

}  // namespace smd::sim
