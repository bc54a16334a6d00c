#include "smd/routing/verify/load_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/patterns.h"

namespace smd {
namespace {

/// Prices are whole numbers up to this, so that what they prove can be added up exactly.
constexpr double kHighestPrice = 1 << 20;

/// The search ends where no bound could be higher by more than this.
constexpr double kClose = 1.0005;

constexpr unsigned kMostRounds = 2000;

/// How far prices go towards where the gap would close, were what they prove linear in them.
constexpr double kStep = 0.15;

/// Switches, with parallel channels as one edge.
class Network {
 public:
  struct Edge {
    std::uint32_t to = 0;
    std::uint64_t speed = 0;  // of all, Mbit/s
  };

  Network(const Fabric& fabric, const LidMap& lids)
      : fabric_(fabric),
        channels_(find_channels(fabric)),
        speeds_(fabric, channels_),
        edge_of_(fabric.port_count(), kNoEdge),
        hosts_(fabric.switch_count(), 0) {
    for (const PortIdx host : find_hosts(fabric, lids)) ++hosts_[switch_at(fabric.peer[host])];
    std::vector<std::uint32_t> edge_to(fabric.switch_count(), kNoEdge);
    std::size_t at = 0;
    for (std::uint32_t sw = 0; sw < fabric.switch_count(); ++sw) {
      first_.push_back(static_cast<std::uint32_t>(edges_.size()));
      first_channel_.push_back(at);
      for (; at < channels_.size() && switch_at(channels_[at]) == sw; ++at) {
        const std::uint32_t to = switch_at(fabric.peer[channels_[at]]);
        std::uint32_t& edge = edge_to[to];
        if (edge == kNoEdge || edge < first_.back()) {
          edge = static_cast<std::uint32_t>(edges_.size());
          edges_.push_back({.to = to});
        }
        edges_[edge].speed += speeds_.of(channels_[at]);
        edge_of_[channels_[at].value()] = edge;
      }
    }
    first_.push_back(static_cast<std::uint32_t>(edges_.size()));
    first_channel_.push_back(at);
  }

  [[nodiscard]] std::uint32_t switches() const { return static_cast<std::uint32_t>(hosts_.size()); }

  [[nodiscard]] std::uint64_t hosts(std::uint32_t sw) const { return hosts_[sw]; }

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }

  [[nodiscard]] std::uint32_t first(std::uint32_t sw) const { return first_[sw]; }

  [[nodiscard]] std::uint32_t end(std::uint32_t sw) const { return first_[sw + 1]; }

  /// In channels of the slowest speed.
  [[nodiscard]] double capacity(std::uint32_t edge) const {
    return static_cast<double>(edges_[edge].speed) / static_cast<double>(speeds_.slowest());
  }

  [[nodiscard]] const ChannelSpeeds& speeds() const { return speeds_; }

  /// Of each channel that leaves the switch.
  [[nodiscard]] std::vector<std::uint64_t> speeds_of(std::uint32_t sw) const {
    std::vector<std::uint64_t> out;
    for (std::size_t at = first_channel_[sw]; at < first_channel_[sw + 1]; ++at)
      out.push_back(speeds_.of(channels_[at]));
    return out;
  }

  /// By port, of what edges have.
  [[nodiscard]] std::vector<std::uint32_t> by_port(const std::vector<std::uint32_t>& of) const {
    std::vector<std::uint32_t> out(edge_of_.size(), 0);
    for (std::size_t port = 0; port < out.size(); ++port)
      if (edge_of_[port] != kNoEdge) out[port] = of[edge_of_[port]];
    return out;
  }

 private:
  static constexpr std::uint32_t kNoEdge = 0xffffffff;

  [[nodiscard]] std::uint32_t switch_at(PortIdx port) const {
    return fabric_.switch_at(port).value();
  }

  const Fabric& fabric_;
  std::vector<PortIdx> channels_;  // switch by switch, as nodes stand
  ChannelSpeeds speeds_;
  std::vector<std::uint32_t> edge_of_;  // by port
  std::vector<std::uint64_t> hosts_;
  std::vector<std::uint32_t> first_;
  std::vector<std::size_t> first_channel_;
  std::vector<Edge> edges_;
};

/// Cheapest ways from one switch.
template <class Price>
class CheapestPaths {
 public:
  explicit CheapestPaths(const Network& net) : net_(net), distance_(net.switches(), kFar) {}

  void search(std::uint32_t from, const std::vector<Price>& price) {
    std::ranges::fill(distance_, kFar);
    order_.clear();
    done_.assign(net_.switches(), 0);
    distance_[from] = 0;
    heap_.push({0, from});
    while (!heap_.empty()) {
      const auto [distance, sw] = heap_.top();
      heap_.pop();
      if (done_[sw] != 0) continue;
      done_[sw] = 1;
      order_.push_back(sw);
      for (std::uint32_t edge = net_.first(sw); edge < net_.end(sw); ++edge) {
        const std::uint32_t to = net_.edges()[edge].to;
        const Price there = distance + price[edge];
        if (there >= distance_[to]) continue;
        distance_[to] = there;
        heap_.push({there, to});
      }
    }
  }

  /// Switches that can be reached, nearest first.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

  [[nodiscard]] Price distance(std::uint32_t sw) const { return distance_[sw]; }

 private:
  static constexpr Price kFar = std::numeric_limits<Price>::max();

  using Place = std::pair<Price, std::uint32_t>;

  const Network& net_;
  std::vector<Price> distance_;
  std::vector<char> done_;
  std::vector<std::uint32_t> order_;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> heap_;
};

class BoundSearch {
 public:
  BoundSearch(const Network& net, std::uint64_t steps)
      : net_(net),
        steps_(steps),
        ways_(net),
        price_(net.edges().size()),
        spread_(net.edges().size(), 0.0),
        added_(net.edges().size(), 0.0),
        passing_(net.switches(), 0.0) {}

  LoadBound run() {
    LoadBound out;
    if (net_.edges().empty()) return out;
    for (std::uint32_t edge = 0; edge < price_.size(); ++edge) price_[edge] = 1;
    search();
    out.divided = least_peak_;
    prove(best_price_, out);
    cut_around_switches(out);
    return out;
  }

 private:
  void search() {
    double best = 0;
    for (unsigned round = 0; round < kMostRounds; ++round) {
      const std::uint64_t before = spent_;
      const double proved = spread_along_cheapest();
      if (proved > best) {
        best = proved;
        best_price_ = price_;
      }
      if (best == 0) return;  // nothing crosses a channel
      mix(round);
      if (least_peak_ <= best * kClose) return;
      if (spent_ + (spent_ - before) > steps_) return;
      raise_prices(proved);
    }
  }

  /// All paths, divided among the ways that are cheapest now. Returns what the prices prove.
  double spread_along_cheapest() {
    std::ranges::fill(added_, 0.0);
    double paid = 0, all = 0;
    for (std::uint32_t edge = 0; edge < price_.size(); ++edge)
      all += price_[edge] * net_.capacity(edge);
    for (std::uint32_t from = 0; from < net_.switches(); ++from) {
      if (net_.hosts(from) == 0) continue;
      spent_ += price_.size();
      ways_.search(from, price_);
      const auto sent = static_cast<double>(net_.hosts(from));
      for (const std::uint32_t sw : ways_.order()) {
        passing_[sw] = sent * static_cast<double>(net_.hosts(sw));
        paid += passing_[sw] * ways_.distance(sw);
      }
      lead_back(from);
    }
    return all > 0 ? paid / all : 0;
  }

  /// What passes each switch comes from those before it, by what their edges carry.
  void lead_back(std::uint32_t from) {
    const std::vector<std::uint32_t>& order = ways_.order();
    for (const std::uint32_t sw : order) into_[sw] = 0;
    const auto each_cheapest = [&](std::uint32_t sw, auto&& visit) {
      for (std::uint32_t edge = net_.first(sw); edge < net_.end(sw); ++edge) {
        const std::uint32_t to = net_.edges()[edge].to;
        const double there = ways_.distance(to);
        if (to != from && ways_.distance(sw) + price_[edge] <= there * (1 + 1e-12)) visit(edge, to);
      }
    };
    for (const std::uint32_t sw : order) {
      each_cheapest(
          sw, [&](std::uint32_t edge, std::uint32_t to) { into_[to] += net_.capacity(edge); });
    }
    for (std::size_t at = order.size(); at-- > 0;) {
      const std::uint32_t sw = order[at];
      each_cheapest(sw, [&](std::uint32_t edge, std::uint32_t to) {
        const double share = passing_[to] * net_.capacity(edge) / into_[to];
        added_[edge] += share;
        passing_[sw] += share;
      });
    }
  }

  /// Of the fullest channel, once a part of what was spread goes the new ways.
  [[nodiscard]] double peak_with(double part) const {
    double peak = 0;
    for (std::uint32_t edge = 0; edge < spread_.size(); ++edge) {
      const double load = spread_[edge] + part * (added_[edge] - spread_[edge]);
      peak = std::max(peak, load / net_.capacity(edge));
    }
    return peak;
  }

  /// As much of the new ways as makes the fullest channel least, but not nothing.
  void mix(unsigned round) {
    if (round == 0) {
      spread_ = added_;
    } else {
      double low = 0, high = 1;
      for (unsigned step = 0; step < 20; ++step) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (peak_with(a) <= peak_with(b)) {
          high = b;
        } else {
          low = a;
        }
      }
      const double part = std::clamp((low + high) / 2, 1.0 / (round + 2.0), 1.0);
      for (std::uint32_t edge = 0; edge < spread_.size(); ++edge)
        spread_[edge] += part * (added_[edge] - spread_[edge]);
    }
    const double peak = peak_with(0);
    least_peak_ = round == 0 ? peak : std::min(least_peak_, peak);
  }

  /// What is fuller now than prices say gets dearer, by what there is left to gain.
  void raise_prices(double proved) {
    double all = 0, off = 0, mean = 0;
    for (std::uint32_t edge = 0; edge < price_.size(); ++edge) {
      const double weight = price_[edge] * net_.capacity(edge);
      all += weight;
      mean += weight * added_[edge] / net_.capacity(edge);
    }
    mean /= all;
    for (std::uint32_t edge = 0; edge < price_.size(); ++edge) {
      const double over = added_[edge] / net_.capacity(edge) / mean - 1;
      off += price_[edge] * net_.capacity(edge) / all * over * over;
    }
    if (off == 0) return;
    const double rate = kStep * (least_peak_ / proved - 1) / off;
    double highest = 0;
    for (std::uint32_t edge = 0; edge < price_.size(); ++edge) {
      const double over = added_[edge] / net_.capacity(edge) / mean - 1;
      price_[edge] *= std::exp(std::min(rate * over, 1.0));
      highest = std::max(highest, price_[edge]);
    }
    for (double& each : price_) each = std::max(each / highest, 1e-9);
  }

  /// Adds up exactly what prices prove, when they are whole numbers.
  void prove(const std::vector<double>& price, LoadBound& out) const {
    if (price.empty()) return;
    const double highest = *std::ranges::max_element(price);
    const bool equal = std::ranges::all_of(price, [&](double each) { return each == highest; });
    std::vector<std::uint64_t> whole(price.size(), 1);
    for (std::size_t edge = 0; edge < price.size() && !equal; ++edge)
      whole[edge] = static_cast<std::uint64_t>(std::llround(price[edge] / highest * kHighestPrice));
    CheapestPaths<std::uint64_t> ways(net_);
    unsigned __int128 paid = 0, all = 0;
    for (std::uint32_t edge = 0; edge < whole.size(); ++edge)
      all += static_cast<unsigned __int128>(whole[edge]) * net_.edges()[edge].speed;
    for (std::uint32_t from = 0; from < net_.switches(); ++from) {
      if (net_.hosts(from) == 0) continue;
      ways.search(from, whole);
      for (const std::uint32_t sw : ways.order())
        paid +=
            static_cast<unsigned __int128>(net_.hosts(from) * net_.hosts(sw)) * ways.distance(sw);
    }
    paid *= net_.speeds().slowest();
    out.fullest = net_.speeds().mixed()
                      ? static_cast<double>(paid) / static_cast<double>(all)
                      : static_cast<double>(static_cast<std::uint64_t>((paid + all - 1) / all));
    std::vector<std::uint32_t> narrow(whole.begin(), whole.end());
    out.prices = net_.by_port(narrow);
  }

  /// Of a switch with h hosts: to each of the LIDs elsewhere all h paths leave by one channel.
  void cut_around_switches(LoadBound& out) {
    std::vector<std::uint64_t> together(net_.switches(), 0);  // hosts that are connected
    for (std::uint32_t sw = 0; sw < net_.switches(); ++sw) {
      if (together[sw] != 0) continue;
      ways_.search(sw, price_);
      std::uint64_t hosts = 0;
      for (const std::uint32_t each : ways_.order()) hosts += net_.hosts(each);
      for (const std::uint32_t each : ways_.order()) together[each] = hosts + 1;
    }
    for (std::uint32_t sw = 0; sw < net_.switches(); ++sw) {
      if (net_.first(sw) == net_.end(sw) || net_.hosts(sw) == 0) continue;
      const double carried = static_cast<double>(net_.hosts(sw)) *
                             share_out(together[sw] - 1 - net_.hosts(sw), net_.speeds_of(sw));
      if (carried <= out.fullest) continue;
      out.fullest = carried;
      out.around = SwitchIdx{sw};
      out.prices.clear();
    }
  }

  /// Of so many whole things, what the fullest channel gets where that is least: in channels of the
  /// slowest speed.
  [[nodiscard]] double share_out(std::uint64_t count,
                                 const std::vector<std::uint64_t>& speeds) const {
    const std::uint64_t all = std::accumulate(speeds.begin(), speeds.end(), std::uint64_t{0});
    std::vector<std::uint64_t> got;
    std::uint64_t left = count;
    for (const std::uint64_t speed : speeds) {
      got.push_back(count * speed / all);
      left -= got.back();
    }
    const auto next = [&](std::size_t at) {
      return static_cast<double>(got[at] + 1) / static_cast<double>(speeds[at]);
    };
    for (; left > 0; --left) {
      std::size_t least = 0;
      for (std::size_t at = 1; at < got.size(); ++at) least = next(at) < next(least) ? at : least;
      ++got[least];
    }
    double most = 0;
    for (std::size_t at = 0; at < got.size(); ++at)
      most = std::max(
          most,
          static_cast<double>(got[at] * net_.speeds().slowest()) / static_cast<double>(speeds[at]));
    return most;
  }

  const Network& net_;
  std::uint64_t steps_;
  std::uint64_t spent_ = 0;
  CheapestPaths<double> ways_;
  std::vector<double> price_;
  std::vector<double> best_price_;
  std::vector<double> spread_;  // paths by edge: the mixture of all that was found
  std::vector<double> added_;
  std::vector<double> passing_;
  std::vector<double> into_ = std::vector<double>(net_.switches(), 0.0);
  double least_peak_ = 0;
};

}  // namespace

LoadBound find_load_bound(const Fabric& fabric, const LidMap& lids, std::uint64_t steps) {
  const Network net(fabric, lids);
  return BoundSearch(net, steps).run();
}

}  // namespace smd
