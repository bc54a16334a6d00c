// The rows are those of Lin, McKinley and Ni (1994), Duato (1995) and Perez Malumbres: by labels of
// a Hamiltonian path, by quadrants of a mesh, and by the west-first turn rule.
#include "sim-backend/multicast/algorithm.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "smd/base/check.h"
#include "smd/base/rng.h"

namespace smd::sim {
namespace {

using Messages = std::vector<MulticastMessage>;
using Steps = std::vector<MulticastStep>;
using Nodes = std::span<const Node>;

NetHop hop_to(const LabelledNet& net, Node from, Node to) {
  for (const NetHop& hop : net.around(from)) {
    if (hop.to == to) return hop;
  }
  return {};
}

// Steps.

/// The neighbour of the furthest label that does not pass the destination's.
NetHop by_labels(const LabelledNet& net, Node at, Node to) {
  const bool up = net.label(to) > net.label(at);
  NetHop best;
  for (const NetHop& hop : net.around(at)) {
    const std::uint32_t label = net.label(hop.to);
    if (up ? label > net.label(to) : label < net.label(to)) continue;
    if (best.to == kNoWhere || (up ? label > net.label(best.to) : label < net.label(best.to)))
      best = hop;
  }
  return best;
}

/// Along the row first.
NetHop by_xy(const LabelledNet& net, Node at, Node to) {
  const int dx = net.x(to) - net.x(at), dy = net.y(to) - net.y(at);
  if (dx != 0) return hop_to(net, at, net.at(net.x(at) + (dx > 0 ? 1 : -1), net.y(at)));
  return hop_to(net, at, net.at(net.x(at), net.y(at) + (dy > 0 ? 1 : -1)));
}

void ways_xy(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  out.push_back({.hop = by_xy(net, place.at, place.to)});
}

void ways_labels(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  const bool forced = place.from == kNoWhere && place.first != kNoWhere;
  out.push_back(
      {.hop = forced ? hop_to(net, place.at, place.first) : by_labels(net, place.at, place.to)});
}

void ways_labels_2(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  const NetHop hop = by_labels(net, place.at, place.to);
  out.push_back({.hop = hop, .lane = 0});
  out.push_back({.hop = hop, .lane = 1});
}

/// Every label on the way.
void ways_path(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  const bool ascends = net.label(place.to) > net.label(place.at);
  const std::uint32_t next = ascends ? net.label(place.at) + 1 : net.label(place.at) - 1;
  out.push_back({.hop = *std::ranges::find_if(net.around(place.at), [&](const NetHop& hop) {
                   return net.label(hop.to) == next;
                 })});
}

/// Along the breadth-first tree of the first switch: up until the destination lies below.
void ways_tree(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  constexpr Node kRoot = 0;
  const auto depth = [&](Node node) { return net.distance(node, kRoot); };
  const auto up = [&](Node node) {
    const auto around = net.around(node);
    return *std::ranges::find_if(around,
                                 [&](const NetHop& hop) { return depth(hop.to) < depth(node); });
  };
  Node below = place.to, above = place.to;
  while (depth(above) > depth(place.at)) {
    below = above;
    above = up(above).to;
  }
  if (above != place.at) return out.push_back({.hop = up(place.at)});
  out.push_back({.hop = *std::ranges::find(net.around(place.at), below, &NetHop::to)});
}

/// Labels may be left on the way only on a mesh of two dimensions: elsewhere a list would come back
/// to a channel of the escapes that it holds.
void ways_labels_adaptive(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  out.push_back({.hop = by_labels(net, place.at, place.to), .lane = 0});
  const bool up = net.label(place.to) > net.label(place.at);
  for (const NetHop& hop : net.around(place.at)) {
    const std::uint32_t label = net.label(hop.to);
    const bool past = up ? label > net.label(place.to) : label < net.label(place.to);
    const bool back = up ? label < net.label(place.at) : label > net.label(place.at);
    if (back && !net.is_mesh()) continue;
    if (!past && net.distance(hop.to, place.to) < net.distance(place.at, place.to))
      out.push_back({.hop = hop, .lane = 1, .escape = false});
  }
}

void ways_xy_adaptive(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  out.push_back({.hop = by_xy(net, place.at, place.to), .lane = 0});
  for (const NetHop& hop : net.around(place.at)) {
    if (net.distance(hop.to, place.to) < net.distance(place.at, place.to))
      out.push_back({.hop = hop, .lane = 1, .escape = false});
  }
}

/// Quadrants, as parts: 0 north-east, 1 north-west, 2 south-west, 3 south-east. Every channel has a
/// lane for either quadrant that it lies in.
void ways_quadrant(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  const NetHop hop = by_xy(net, place.at, place.to);
  const bool along_row = net.y(hop.to) == net.y(place.at);
  const bool south = place.part >= 2, west = place.part == 1 || place.part == 2;
  out.push_back({.hop = hop, .lane = (along_row ? south : west) ? 1u : 0u});
}

bool came_south(const LabelledNet& net, const MulticastPlace& place) {
  return place.from != kNoWhere && net.y(place.from) > net.y(place.at);
}

bool goes_north(const LabelledNet& net, Node at, const NetHop& hop) {
  return net.y(hop.to) > net.y(at);
}

/// West first; then any shortest way.
void list_west_first(const LabelledNet& net, const MulticastPlace& place, bool ban, Steps& out) {
  const bool west = net.x(place.to) < net.x(place.at);
  for (const NetHop& hop : net.around(place.at)) {
    if (net.distance(hop.to, place.to) >= net.distance(place.at, place.to)) continue;
    if (west && net.x(hop.to) >= net.x(place.at)) continue;
    if (ban && came_south(net, place) && goes_north(net, place.at, hop)) continue;
    out.push_back({.hop = hop});
  }
}

void ways_west_first(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  list_west_first(net, place, true, out);
}

void ways_west_first_printed(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  list_west_first(net, place, false, out);
}

/// Part 0 goes west, part 1 east, each with columns of its own.
void list_halves(const LabelledNet& net, const MulticastPlace& place, bool ban, Steps& out) {
  for (const NetHop& hop : net.around(place.at)) {
    if (net.distance(hop.to, place.to) >= net.distance(place.at, place.to)) continue;
    if (ban && came_south(net, place) && goes_north(net, place.at, hop)) continue;
    const bool column = net.x(hop.to) == net.x(place.at);
    out.push_back({.hop = hop, .lane = column ? place.part : 0});
  }
}

void ways_halves(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  list_halves(net, place, true, out);
}

void ways_halves_printed(const LabelledNet& net, const MulticastPlace& place, Steps& out) {
  list_halves(net, place, false, out);
}

// Divisions.

Messages one_each(const LabelledNet&, Node, Nodes to) {
  Messages out;
  for (const Node node : to) out.push_back({.order = {node}});
  return out;
}

Messages all_in_one(const LabelledNet&, Node, Nodes to) {
  return {{.order = {to.begin(), to.end()}}};
}

std::vector<Node> sorted_by_label(const LabelledNet& net, Nodes to, bool ascending) {
  std::vector<Node> out(to.begin(), to.end());
  std::ranges::sort(out, [&](Node a, Node b) {
    return ascending ? net.label(a) < net.label(b) : net.label(a) > net.label(b);
  });
  return out;
}

Messages in_label_order(const LabelledNet& net, Node, Nodes to) {
  return {{.order = sorted_by_label(net, to, true)}};
}

void add_message(Messages& out, std::vector<Node> order, unsigned part, Node first = kNoWhere) {
  if (!order.empty()) out.push_back({.order = std::move(order), .part = part, .first = first});
}

Messages high_and_low(const LabelledNet& net, Node source, Nodes to) {
  std::vector<Node> high, low;
  for (const Node node : to) (net.label(node) > net.label(source) ? high : low).push_back(node);
  Messages out;
  add_message(out, sorted_by_label(net, high, true), 0);
  add_message(out, sorted_by_label(net, low, false), 1);
  return out;
}

/// On a mesh by the columns of the two neighbours on that side; elsewhere by the neighbour that
/// the way to the destination begins with.
Messages by_neighbour(const LabelledNet& net, Node source, Nodes to) {
  Messages out;
  unsigned part = 0;
  for (const MulticastMessage& side : high_and_low(net, source, to)) {
    const bool up = side.part == 0;
    std::vector<Node> neighbours;
    for (const NetHop& hop : net.around(source)) {
      if ((net.label(hop.to) > net.label(source)) == up) neighbours.push_back(hop.to);
    }
    std::map<Node, std::vector<Node>> by_first;
    for (const Node node : side.order) {
      Node first = by_labels(net, source, node).to;
      if (net.is_mesh() && neighbours.size() == 2) {
        const auto [a, b] = std::pair(neighbours[0], neighbours[1]);
        const bool in_a = net.x(a) < net.x(b) ? net.x(node) <= net.x(a) : net.x(node) >= net.x(a);
        first = in_a ? a : b;
      } else if (net.is_mesh()) {
        first = kNoWhere;  // a side with one neighbour is not divided
      }
      by_first[first].push_back(node);
    }
    for (auto& [first, order] : by_first) add_message(out, std::move(order), part++, first);
  }
  return out;
}

Messages by_quadrant(const LabelledNet& net, Node source, Nodes to) {
  const int x0 = net.x(source), y0 = net.y(source);
  std::array<std::vector<Node>, 4> sets;
  for (const Node node : to) {
    const int x = net.x(node), y = net.y(node);
    const unsigned part = x > x0 && y >= y0 ? 0 : x <= x0 && y > y0 ? 1 : x < x0 ? 2 : 3;
    sets[part].push_back(node);
  }
  Messages out;
  for (unsigned part = 0; part < 4; ++part) add_message(out, sets[part], part);
  return out;
}

/// Column by column away from the source, each from the last row that was met upwards, then down.
std::vector<Node> by_columns(const LabelledNet& net, Node source, Nodes to, bool westwards) {
  std::vector<Node> left(to.begin(), to.end()), out;
  int row = net.y(source);
  while (!left.empty()) {
    const auto place = [&](Node node) {
      const int column = westwards ? -net.x(node) : net.x(node);
      const bool below = net.y(node) < row;
      return std::tuple(column, below, below ? -net.y(node) : net.y(node));
    };
    const auto next = std::ranges::min_element(left, {}, place);
    row = net.y(*next);
    out.push_back(*next);
    left.erase(next);
  }
  return out;
}

/// What lies west on the source's row first, the nearest before the others; then by columns from
/// the westernmost.
std::vector<Node> west_first_order(const LabelledNet& net, Node source, Nodes to) {
  std::vector<Node> left(to.begin(), to.end()), out;
  Node head = source;
  while (!left.empty()) {
    const auto place = [&](Node node) {
      const bool on_row = net.y(node) == net.y(head) && net.x(node) < net.x(head);
      const bool below = net.y(node) < net.y(head);
      return on_row ? std::tuple(0, -net.x(node), false, 0)
                    : std::tuple(1, net.x(node), below, below ? -net.y(node) : net.y(node));
    };
    const auto next = std::ranges::min_element(left, {}, place);
    head = *next;
    out.push_back(head);
    left.erase(next);
  }
  return out;
}

Messages west_first(const LabelledNet& net, Node source, Nodes to) {
  return {{.order = west_first_order(net, source, to)}};
}

std::pair<std::vector<Node>, std::vector<Node>> halves(const LabelledNet& net,
                                                       Node source,
                                                       Nodes to,
                                                       bool even) {
  std::vector<Node> west, east, column;
  for (const Node node : to) {
    const int dx = net.x(node) - net.x(source);
    (dx < 0 ? west : dx > 0 ? east : column).push_back(node);
  }
  std::vector<Node>& with_column = even && west.size() < east.size() ? west : east;
  with_column.insert(with_column.end(), column.begin(), column.end());
  return {west, east};
}

Messages west_first_halves(const LabelledNet& net, Node source, Nodes to) {
  const auto [west, east] = halves(net, source, to, false);
  Messages out;
  if (!west.empty()) add_message(out, west_first_order(net, source, west), 0);
  if (!east.empty()) add_message(out, west_first_order(net, source, east), 1);
  return out;
}

Messages column_halves(const LabelledNet& net, Node source, Nodes to) {
  const auto [west, east] = halves(net, source, to, true);
  Messages out;
  add_message(out, by_columns(net, source, west, true), 0);
  add_message(out, by_columns(net, source, east, false), 1);
  return out;
}

}  // namespace

const std::vector<MulticastAlgorithm>& multicast_algorithms() {
  static const std::vector<MulticastAlgorithm> rows = {
      {"separate",
       "a message to each destination, along rows first",
       1,
       false,
       false,
       true,
       one_each,
       ways_xy},
      {"separate-labels",
       "a message to each destination, along labels",
       1,
       false,
       false,
       false,
       one_each,
       ways_labels},
      {"xy-adaptive",
       "a message to each destination, any shortest way beside rows first",
       2,
       false,
       true,
       true,
       one_each,
       ways_xy_adaptive},
      {"tree-xy",
       "one message that forks, along rows first",
       1,
       true,
       false,
       true,
       all_in_one,
       ways_xy},
      {"double-channel",
       "a message for each quadrant that forks, on lanes of its own",
       2,
       true,
       false,
       true,
       by_quadrant,
       ways_quadrant},
      {"single-channel",
       "double-channel's messages on one lane",
       1,
       true,
       false,
       true,
       by_quadrant,
       ways_xy},
      {"path-xy",
       "one message in the order of labels, along rows first",
       1,
       false,
       false,
       true,
       in_label_order,
       ways_xy},
      {"dual-path", "up and down the labels", 1, false, false, false, high_and_low, ways_labels},
      {"dual-path-2",
       "up and down the labels, on either of two lanes",
       2,
       false,
       false,
       false,
       high_and_low,
       ways_labels_2},
      {"dual-path-adaptive",
       "up and down the labels, and any shortest way that passes none; off meshes none that goes "
       "back",
       2,
       false,
       true,
       false,
       high_and_low,
       ways_labels_adaptive},
      {"label-path", "up and down every label", 1, false, false, false, high_and_low, ways_path},
      {"multi-path",
       "up and down the labels by each neighbour of the source",
       1,
       false,
       false,
       false,
       by_neighbour,
       ways_labels},
      {"pm",
       "one message, west first, then any shortest way; never north after south",
       1,
       false,
       false,
       true,
       west_first,
       ways_west_first},
      {"pm-split",
       "pm's in two messages, west and east of the source",
       1,
       false,
       false,
       true,
       west_first_halves,
       ways_west_first},
      {"pm-printed",
       "pm as it was printed: also north after south",
       1,
       false,
       false,
       true,
       west_first,
       ways_west_first_printed},
      {"fm",
       "west and east of the source by any shortest way; never north after south",
       2,
       false,
       false,
       true,
       column_halves,
       ways_halves},
      {"fm-printed",
       "fm as it was printed: also north after south",
       2,
       false,
       false,
       true,
       column_halves,
       ways_halves_printed},
      {"up-down-tree",
       "one message that forks along the breadth-first tree of the first switch",
       1,
       true,
       false,
       false,
       all_in_one,
       ways_tree,
       false},
  };
  return rows;
}

const MulticastAlgorithm* find_multicast_algorithm(const std::string& name) {
  const auto found = std::ranges::find(multicast_algorithms(), name, &MulticastAlgorithm::name);
  return found == multicast_algorithms().end() ? nullptr : &*found;
}

std::string refuse_multicast(const LabelledNet& net, const MulticastAlgorithm& algorithm) {
  if (algorithm.needs_mesh && !net.is_mesh())
    return algorithm.name + " needs a mesh of two dimensions with all its cables";
  if (algorithm.needs_labels && !net.has_labels())
    return algorithm.name + " needs labels: " + net.why_unlabelled();
  return {};
}

namespace {

NetHop first_way(const LabelledNet& net,
                 const MulticastAlgorithm& algorithm,
                 const MulticastPlace& place) {
  std::vector<MulticastStep> ways;
  algorithm.ways(net, place, ways);
  SMD_CHECK(!ways.empty(), "a message that cannot go on");
  return ways.front().hop;
}

}  // namespace

std::vector<MulticastTrace> trace_multicast(const LabelledNet& net,
                                            const MulticastAlgorithm& algorithm,
                                            Node source,
                                            std::span<const Node> destinations) {
  std::vector<MulticastTrace> trips;
  for (MulticastMessage& message : algorithm.divide(net, source, destinations)) {
    MulticastTrace trip{.message = std::move(message), .channels = {}, .distances = {}};
    MulticastPlace place{.at = source, .part = trip.message.part, .first = trip.message.first};
    unsigned length = 0;
    for (const Node to : trip.message.order) {
      if (algorithm.forks) {
        place = {.at = source, .part = trip.message.part};
        length = 0;
      }
      place.to = to;
      while (place.at != to) {
        const NetHop hop = first_way(net, algorithm, place);
        trip.channels.push_back(hop.out);
        place.from = place.at;
        place.at = hop.to;
        ++length;
      }
      trip.distances.push_back(length);
    }
    if (algorithm.forks) {
      std::ranges::sort(trip.channels);
      const auto again = std::ranges::unique(trip.channels);
      trip.channels.erase(again.begin(), again.end());
    }
    trips.push_back(std::move(trip));
  }
  return trips;
}

void MulticastFigures::add(const std::vector<MulticastTrace>& trips) {
  ++sets;
  unsigned longest = 0;
  for (const MulticastTrace& trip : trips) {
    channels += trip.channels.size();
    destinations += trip.distances.size();
    for (const unsigned distance : trip.distances) {
      distances += distance;
      longest = std::max(longest, distance);
    }
  }
  farthest += longest;
}

MulticastFigures measure_random_sets(const LabelledNet& net,
                                     const MulticastAlgorithm& algorithm,
                                     unsigned sets,
                                     unsigned size,
                                     std::uint64_t seed) {
  Rng rng(seed);
  MulticastFigures out;
  for (unsigned n = 0; n < sets; ++n) {
    const auto source = static_cast<Node>(rng.below(net.nodes()));
    std::set<Node> drawn;
    while (drawn.size() < size) {
      const auto node = static_cast<Node>(rng.below(net.nodes()));
      if (node != source) drawn.insert(node);
    }
    const std::vector<Node> destinations(drawn.begin(), drawn.end());
    out.add(trace_multicast(net, algorithm, source, destinations));
  }
  return out;
}

}  // namespace smd::sim
