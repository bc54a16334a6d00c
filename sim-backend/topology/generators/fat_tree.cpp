// fat-tree: full bisection from k-port switches.
//
// Untrimmed it is the m-port n-tree: leaves with k/2 hosts, every switch but the top ones half up
// and half down. With `hosts` it is the tree of the same levels, among all parallel ports
// generalised fat trees whose every level has at least as many cables up as hosts below, that
// needs the fewest switches; of equals the one that the hosts fill exactly, then the one with the
// fewest cables. What the hosts do not fill is left out from the end.
//
// Hosts with several adapters are whole on their leaves: hosts of the tree's definition are
// adapters then, and a leaf has a multiple of what a host has.
#include <fmt/core.h>

#include <array>
#include <optional>
#include <tuple>

#include "sim-backend/topology/generators/generator_entries.h"
#include "sim-backend/topology/generators/imperfect.h"
#include "sim-backend/topology/generators/pgft.h"

namespace smd::sim {
namespace {

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

TreeShape full_tree(std::uint32_t k, std::uint32_t levels) {
  TreeShape shape;
  for (std::uint32_t level = 1; level <= levels; ++level) {
    shape.down.push_back(level == levels ? k : k / 2);
    shape.up.push_back(level == 1 ? 1 : k / 2);
    shape.parallel.push_back(1);
  }
  return shape;
}

/// Depth-first over the levels with a lower bound: below the top, a level needs at least
/// hosts / (k/2) switches, the top at least hosts / k.
class Search {
 public:
  Search(std::uint32_t k, std::uint32_t levels, std::uint64_t hosts, std::uint32_t adapters)
      : k_(k), levels_(levels), hosts_(hosts), adapters_(adapters) {}

  std::optional<TreeShape> run() {
    for (std::uint32_t m = k_ / 2 / adapters_ * adapters_; m >= 1; m -= adapters_) {
      const std::uint64_t leaves = ceil_div(hosts_, m);
      if (best_ && leaves + least_above(1) > std::get<0>(*best_))
        break;  // fewer hosts: more leaves
      shape_ = {.down = {m}, .up = {1}, .parallel = {1}};
      choose_parents({.below = m, .twins = 1, .switches = leaves});
    }
    return best_shape_;
  }

 private:
  /// The levels chosen so far: hosts below one switch, switches that share those hosts, and all
  /// switches down to the leaves.
  struct Chosen {
    std::uint64_t below;
    std::uint64_t twins;
    std::uint64_t switches;
  };

  [[nodiscard]] std::uint64_t least_above(std::size_t level) const {
    const std::uint64_t middle = levels_ - level > 1 ? levels_ - level - 1 : 0;
    return middle * ceil_div(hosts_, k_ / 2) + ceil_div(hosts_, k_);
  }

  void choose_parents(const Chosen& chosen) {
    const std::size_t level = shape_.levels();
    const std::uint64_t used = shape_.down_ports(level);
    for (std::uint32_t p = 1; p <= k_; ++p) {
      // Enough parents that the cables of all twins together carry the hosts below.
      const std::uint64_t w = ceil_div(chosen.below, chosen.twins * p);
      if (used + w * p <= k_) choose_children(chosen, static_cast<std::uint32_t>(w), p);
      if (w == 1) break;  // more parallel cables only waste ports
    }
  }

  void choose_children(const Chosen& chosen, std::uint32_t w, std::uint32_t p) {
    const bool is_top = shape_.levels() + 1 == levels_;
    const std::uint64_t all = ceil_div(hosts_, chosen.below);
    const std::uint64_t most = std::min<std::uint64_t>(all, k_ / p);
    for (std::uint64_t m = is_top ? all : 1; m <= most; ++m) {
      Chosen next{.below = chosen.below * m, .twins = chosen.twins * w};
      next.switches = chosen.switches + ceil_div(hosts_, next.below) * next.twins;
      push(static_cast<std::uint32_t>(m), w, p);
      if (is_top) {
        offer(next);
      } else if (!best_ || next.switches + least_above(shape_.levels()) <= std::get<0>(*best_)) {
        choose_parents(next);
      }
      pop();
    }
  }

  void offer(const Chosen& chosen) {
    std::uint64_t cables = 0;
    for (std::size_t level = 1; level < levels_; ++level) {
      cables += shape_.switches_on(level) * shape_.up_ports(level);
    }
    const Score score{chosen.switches, chosen.below != hosts_, cables};
    if (best_ && *best_ <= score) return;
    best_ = score;
    best_shape_ = shape_;
  }

  void push(std::uint32_t m, std::uint32_t w, std::uint32_t p) {
    shape_.down.push_back(m);
    shape_.up.push_back(w);
    shape_.parallel.push_back(p);
  }

  void pop() {
    shape_.down.pop_back();
    shape_.up.pop_back();
    shape_.parallel.pop_back();
  }

  using Score = std::tuple<std::uint64_t, bool, std::uint64_t>;

  std::uint32_t k_;
  std::uint32_t levels_;
  std::uint64_t hosts_;
  std::uint32_t adapters_;
  TreeShape shape_;
  std::optional<Score> best_;
  std::optional<TreeShape> best_shape_;
};

Result<FabricSpec> draw_fat_tree(const Arguments& arguments) {
  const std::uint32_t k = arguments.number("k");
  const std::uint32_t levels = arguments.number("levels");
  std::uint64_t hosts = arguments.number("hosts");
  if (k % 2 != 0)
    return fail(Errc::Invalid, fmt::format("k={} is odd: half of a switch goes up", k));
  TreeShape shape = full_tree(k, levels);
  const std::uint32_t adapters = arguments.adapters;
  const std::uint32_t on_leaf = shape.down[0];
  if (adapters > on_leaf) {
    return fail(Errc::Invalid,
                fmt::format("adapters={} is too many: a leaf of k={} and levels={} has {} ports "
                            "for hosts",
                            adapters,
                            k,
                            levels,
                            on_leaf));
  }
  const std::uint64_t capacity = shape.hosts() / on_leaf * (on_leaf / adapters);
  if (hosts > capacity) {
    const std::string each = adapters == 1 ? "" : fmt::format(" of {} adapters", adapters);
    return fail(Errc::Invalid,
                fmt::format("hosts={} is too many: k={} and levels={} hold {}{}",
                            hosts,
                            k,
                            levels,
                            capacity,
                            each));
  }
  if (hosts == 0) hosts = capacity;
  hosts *= adapters;  // as the tree counts them
  if (std::string why = check_size({.switches = hosts / k, .host_ports = hosts}); !why.empty()) {
    return fail(Errc::Invalid, std::move(why));
  }
  if (hosts < shape.hosts() && levels > 1) {
    shape = Search(k, levels, hosts, adapters).run().value_or(shape);
  }
  if (std::string why = check_size(shape.size()); !why.empty()) {
    return fail(Errc::Invalid, std::move(why));
  }
  Drawing drawing(arguments);
  draw_tree(drawing, shape, hosts, k);
  return make_imperfect(std::move(drawing).finish(), arguments);
}

constexpr std::array kOwnFatTreeKeys{
    number_key("k", "36", 2, 254).means("ports per switch, even"),
    number_key("levels", "2", 1, 4).means("levels of switches"),
    number_key("hosts", "0", 0, 49151)
        .means("trims to so many hosts and the fewest switches that keep full bisection; 0 builds "
               "all"),
    kAdaptersKey,
};

constexpr auto kFatTreeKeys = with_imperfect_keys(kOwnFatTreeKeys);

}  // namespace

const Generator kFatTree{
    .name = "fat-tree",
    .meaning = "full-bisection tree of k-port switches",
    .keys = kFatTreeKeys,
    .draw = draw_fat_tree,
};

}  // namespace smd::sim
