#include "sim-backend/traffic/patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace smd::sim {
namespace {

PatternMix only(TrafficPattern pattern) {
  PatternMix mix;
  mix.push_back({1, std::move(pattern)});
  return mix;
}

Result<PatternMix> uniform(const PatternInput& in) { return only(uniform_pattern(in.hosts)); }

Result<PatternMix> permutation(const PatternInput& in) {
  Rng rng(in.seed);
  return only(permutation_pattern(random_permutation(in.hosts, rng)));
}

Result<PatternMix> reversal(const PatternInput& in) {
  return only(permutation_pattern(bit_reversal(in.hosts)));
}

Result<PatternMix> transposed(const PatternInput& in) {
  return only(permutation_pattern(transpose(in.hosts)));
}

Result<PatternMix> complement(const PatternInput& in) {
  std::vector<HostNum> to(in.hosts);
  for (HostNum host = 0; host < in.hosts; ++host) to[host] = in.hosts - 1 - host;
  return only(permutation_pattern(to));
}

/// The bits of the number rotated by one to the left, where there are 2^b hosts; of others the
/// first 2^b take part.
Result<PatternMix> shuffle(const PatternInput& in) {
  std::vector<HostNum> to(in.hosts);
  std::iota(to.begin(), to.end(), HostNum{0});
  const int bits = static_cast<int>(std::bit_width(in.hosts)) - 1;
  for (HostNum host = 0; bits > 0 && host < HostNum{1} << bits; ++host) {
    to[host] = ((host << 1) | (host >> (bits - 1))) & ((HostNum{1} << bits) - 1);
  }
  return only(permutation_pattern(to));
}

Result<PatternMix> of_groups(const PatternInput& in, std::vector<std::uint32_t> next) {
  return only(group_pattern(in.groups, next, in.hosts));
}

std::uint32_t product(const std::vector<std::uint32_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), 1u, std::multiplies<>());
}

Result<PatternMix> missing_dims(const PatternInput& in) {
  return fail(
      Errc::Invalid,
      fmt::format("needs the grid of the {} switches with hosts: dims = [...]", in.groups.size()));
}

/// Almost half way round in every dimension: the switch farthest in one direction.
Result<PatternMix> tornado(const PatternInput& in) {
  std::vector<std::uint32_t> dims = in.dims;
  if (dims.empty()) dims = {static_cast<std::uint32_t>(in.groups.size())};
  if (product(dims) != in.groups.size()) return missing_dims(in);
  std::vector<std::uint32_t> next(in.groups.size(), 0);
  for (std::uint32_t group = 0; group < next.size(); ++group) {
    std::uint32_t stride = 1;
    for (std::size_t d = dims.size(); d-- > 0;) {
      const std::uint32_t reach = (dims[d] + 1) / 2 - 1;
      next[group] += (group / stride + reach) % dims[d] * stride;
      stride *= dims[d];
    }
  }
  // Host h of a switch to host h of the other.
  std::vector<HostNum> to(in.hosts);
  std::iota(to.begin(), to.end(), HostNum{0});
  for (std::size_t group = 0; group < next.size(); ++group) {
    const std::vector<HostNum>& far = in.groups[next[group]];
    for (std::size_t h = 0; h < in.groups[group].size(); ++h) {
      to[in.groups[group][h]] = far[h % far.size()];
    }
  }
  return only(permutation_pattern(to));
}

Result<std::vector<HostNum>> draw_targets(const PatternInput& in) {
  if (in.targets > in.hosts) {
    return fail(Errc::Invalid,
                fmt::format("has {} targets among {} hosts: fewer targets", in.targets, in.hosts));
  }
  Rng rng(in.seed);
  std::vector<HostNum> all = random_permutation(in.hosts, rng);
  all.resize(std::max(1u, in.targets));
  return all;
}

TrafficPattern towards(const PatternInput& in, std::vector<HostNum> targets) {
  TrafficPattern pattern;
  pattern.target.assign(in.hosts, 0);
  pattern.sets.push_back(std::move(targets));
  return pattern;
}

Result<PatternMix> hot_spot(const PatternInput& in) {
  auto targets = draw_targets(in);
  if (!targets) return tl::unexpected(targets.error());
  PatternMix mix;
  mix.push_back({in.share, towards(in, std::move(*targets))});
  mix.push_back({1 - in.share, uniform_pattern(in.hosts)});
  return mix;
}

TrafficPattern near_by(const PatternInput& in) {
  TrafficPattern pattern;
  pattern.target.resize(in.hosts);
  std::iota(pattern.target.begin(), pattern.target.end(), 0u);
  pattern.sets = in.near;
  return pattern;
}

Result<PatternMix> local(const PatternInput& in) { return only(near_by(in)); }

Result<PatternMix> all_to_all(const PatternInput& in) {
  // Everybody to everybody at random times: the ordered exchange is a collective.
  return only(uniform_pattern(in.hosts));
}

Result<PatternMix> incast(const PatternInput& in) {
  const auto targets = draw_targets(in);
  if (!targets) return tl::unexpected(targets.error());
  TrafficPattern pattern = towards(in, *targets);
  for (const HostNum target : *targets) pattern.target[target] = TrafficPattern::kSilent;
  return only(std::move(pattern));
}

Result<PatternMix> mdn(const PatternInput& in) {
  if (in.dims.empty() || product(in.dims) != in.groups.size()) return missing_dims(in);
  return of_groups(in, next_diagonally(in.dims));
}

Result<PatternMix> hrn(const PatternInput& in) {
  return of_groups(in, next_group(static_cast<std::uint32_t>(in.groups.size())));
}

Result<PatternMix> adversarial(const PatternInput& in) {
  const std::uint32_t size = in.switches_per_group;
  if (size == 0 || in.groups.size() % size != 0) {
    return fail(Errc::Invalid,
                fmt::format("needs the switches of a group: group = …, which divides {}",
                            in.groups.size()));
  }
  std::vector<std::vector<HostNum>> groups(in.groups.size() / size);
  for (std::size_t sw = 0; sw < in.groups.size(); ++sw) {
    std::ranges::copy(in.groups[sw], std::back_inserter(groups[sw / size]));
  }
  const auto next = next_group(static_cast<std::uint32_t>(groups.size()));
  return only(group_pattern(groups, next, in.hosts));
}

/// Each message is one of four, with equal probability.
Result<PatternMix> combined(const PatternInput& in) {
  auto targets = draw_targets(in);
  if (!targets) return tl::unexpected(targets.error());
  PatternMix mix;
  mix.push_back({0.25, uniform_pattern(in.hosts)});
  mix.push_back({0.25, near_by(in)});
  mix.push_back({0.25 * in.share, towards(in, std::move(*targets))});
  mix.push_back({0.25 * (1 - in.share), uniform_pattern(in.hosts)});
  mix.push_back({0.25, permutation_pattern(bit_reversal(in.hosts))});
  return mix;
}

/// The hosts of a rail, by numbers of their own.
class RailHosts {
 public:
  RailHosts(const PatternInput& in, std::uint32_t rail) : number_(in.hosts, kNone) {
    for (HostNum host = 0; host < in.hosts; ++host) {
      if (in.ports.rail[host] != rail) continue;
      number_[host] = static_cast<HostNum>(hosts_.size());
      hosts_.push_back(host);
    }
  }

  /// What a pattern of theirs may ask for.
  [[nodiscard]] PatternInput input(const PatternInput& in) const {
    PatternInput out{.hosts = static_cast<HostNum>(hosts_.size()),
                     .dims = in.dims,
                     .switches_per_group = in.switches_per_group,
                     .share = in.share,
                     .targets = in.targets,
                     .seed = in.seed};
    for (const std::vector<HostNum>& group : in.groups) {
      std::vector<HostNum> own = numbers_of(group);
      if (!own.empty()) out.groups.push_back(std::move(own));
    }
    if (in.near.empty()) return out;
    for (const HostNum host : hosts_) out.near.push_back(numbers_of(in.near[host]));
    return out;
  }

  /// Requires: `of_all` is about all hosts.
  void add(const TrafficPattern& own, TrafficPattern& of_all) const {
    const auto before = static_cast<std::uint32_t>(of_all.sets.size());
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (own.target[i] != TrafficPattern::kSilent)
        of_all.target[hosts_[i]] = before + own.target[i];
    }
    for (const std::vector<HostNum>& set : own.sets) {
      std::vector<HostNum>& out = of_all.sets.emplace_back();
      for (const HostNum number : set) out.push_back(hosts_[number]);
    }
  }

 private:
  static constexpr HostNum kNone = 0xffffffff;

  [[nodiscard]] std::vector<HostNum> numbers_of(const std::vector<HostNum>& hosts) const {
    std::vector<HostNum> out;
    for (const HostNum host : hosts) {
      if (number_[host] != kNone) out.push_back(number_[host]);
    }
    return out;
  }

  std::vector<HostNum> number_;  // of all hosts; kNone of those on other rails
  std::vector<HostNum> hosts_;   // by number
};

constexpr std::array kPatterns{
    PatternRow{"uniform", "any other host", uniform},
    PatternRow{"uniform-self", "any host, oneself included", uniform, true},
    PatternRow{"permutation", "a random partner each", permutation},
    PatternRow{"bit-reversal", "the bits of the number backwards", reversal},
    PatternRow{"transpose", "row and column of the largest square", transposed},
    PatternRow{"complement", "n - 1 - i", complement},
    PatternRow{"shuffle", "the bits of the number rotated", shuffle},
    PatternRow{"tornado", "almost half way round in each dimension", tornado},
    PatternRow{"hot-spot", "`share` to `targets` hosts, the rest uniform", hot_spot},
    PatternRow{"local", "hosts at most `radius` switch hops away", local},
    PatternRow{"all-to-all", "everybody, at random times", all_to_all},
    PatternRow{"incast", "all to `targets` hosts, which are silent", incast},
    PatternRow{"mdn", "the next switch in every dimension", mdn},
    PatternRow{"hrn", "the next switch", hrn},
    PatternRow{"adv+1", "the next group of `group` switches", adversarial},
    PatternRow{"combined", "uniform, local, hot-spot or bit-reversal, by message", combined},
};

}  // namespace

std::span<const PatternRow> traffic_patterns() { return kPatterns; }

const PatternRow* find_pattern(std::string_view name) {
  const auto found = std::ranges::find(kPatterns, name, &PatternRow::name);
  return found == kPatterns.end() ? nullptr : &*found;
}

Result<PatternMix> build_pattern(const PatternRow& row, const PatternInput& in) {
  if (!in.among_rails || in.ports.rails <= 1) return row.build(in);
  PatternMix all;
  for (std::uint32_t rail = 0; rail < in.ports.rails; ++rail) {
    const RailHosts rail_hosts(in, rail);
    auto own = row.build(rail_hosts.input(in));
    if (!own) return own;
    if (all.empty()) {
      for (const PatternShare& share : *own) {
        all.push_back({share.weight, {}});
        all.back().pattern.target.assign(in.hosts, TrafficPattern::kSilent);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) rail_hosts.add((*own)[i].pattern, all[i].pattern);
  }
  return all;
}

Destinations::Destinations(PatternMix mix, bool includes_self, std::vector<std::uint32_t> host_of)
    : mix_(std::move(mix)), includes_self_(includes_self), host_of_(std::move(host_of)) {
  double sum = 0;
  for (PatternShare& share : mix_) share.weight = sum += share.weight;
  for (PatternShare& share : mix_) share.weight /= sum;
  if (host_of_.empty()) return;
  for (const PatternShare& share : mix_) {
    std::vector<std::uint32_t>& only = only_host_.emplace_back();
    for (const std::vector<HostNum>& set : share.pattern.sets) {
      only.push_back(set.empty() ? kMany : host_of_[set.front()]);
      for (const HostNum host : set) {
        if (host_of_[host] != only.back()) only.back() = kMany;
      }
    }
  }
}

bool Destinations::is_alone(HostNum source, const PatternShare& share, std::uint32_t set) const {
  if (includes_self_ || only_host_.empty()) return false;
  const auto at = static_cast<std::size_t>(&share - mix_.data());
  return only_host_[at][set] == host_of_[source];
}

HostNum Destinations::draw(HostNum source, Rng& rng) const {
  const PatternShare* share = mix_.data();
  if (mix_.size() > 1) {
    const double u = static_cast<double>(rng.next() >> 11) * 0x1.0p-53;
    while (share != &mix_.back() && u >= share->weight) ++share;
  }
  const std::uint32_t target = share->pattern.target[source];
  if (target == TrafficPattern::kSilent) return TrafficPattern::kSilent;
  if (is_alone(source, *share, target)) return TrafficPattern::kSilent;
  const std::vector<HostNum>& set = share->pattern.sets[target];
  if (set.size() == 1) {
    return set[0] == source && !includes_self_ ? TrafficPattern::kSilent : set[0];
  }
  HostNum to = set[rng.below(set.size())];
  while (!includes_self_ && is_own(source, to)) to = set[rng.below(set.size())];
  return to;
}

bool Destinations::sends(HostNum source) const {
  return std::ranges::any_of(mix_, [&](const PatternShare& share) {
    const std::uint32_t target = share.pattern.target[source];
    if (target == TrafficPattern::kSilent || is_alone(source, share, target)) return false;
    const std::vector<HostNum>& set = share.pattern.sets[target];
    return set.size() > 1 || (set.size() == 1 && (set[0] != source || includes_self_));
  });
}

}  // namespace smd::sim
