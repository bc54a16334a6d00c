// Multicast algorithms by name: how destinations are divided among messages and in which order each
// visits them, and by which channels it may go on. A message that forks is copied where its
// destinations' ways part; any other visits one after the other, and forks to hosts alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim-backend/multicast/labelled_net.h"

namespace smd::sim {

struct MulticastMessage {
  std::vector<Node> order;  // in which destinations are visited; of one that forks: any
  unsigned part = 0;        // of the network that it keeps to
  Node first = kNoWhere;    // the neighbour that it must leave the source by
};

struct MulticastStep {
  NetHop hop;
  unsigned lane = 0;
  bool escape = true;  // always to be had, where others are free to choose
};

/// Where the head of a message is.
struct MulticastPlace {
  Node at = 0;
  Node from = kNoWhere;  // the switch before; kNoWhere: the source
  Node to = 0;           // the next destination
  unsigned part = 0;
  Node first = kNoWhere;
};

struct MulticastAlgorithm {
  std::string name;
  std::string meaning;  // in a line
  unsigned lanes = 1;
  bool forks = false;
  bool adaptive = false;   // its escapes alone need be free of circles
  bool needs_mesh = true;  // of two dimensions
  std::vector<MulticastMessage> (*divide)(const LabelledNet& net,
                                          Node source,
                                          std::span<const Node> destinations) = nullptr;
  /// Appends the ways on. Requires: it is not at its destination.
  void (*ways)(const LabelledNet& net,
               const MulticastPlace& place,
               std::vector<MulticastStep>& out) = nullptr;
  bool needs_labels = true;
};

[[nodiscard]] const std::vector<MulticastAlgorithm>& multicast_algorithms();

/// Null where there is none.
[[nodiscard]] const MulticastAlgorithm* find_multicast_algorithm(const std::string& name);

/// Empty: it works there; else why not.
[[nodiscard]] std::string refuse_multicast(const LabelledNet& net,
                                           const MulticastAlgorithm& algorithm);

/// A message and the channels that it takes, by the first of the ways that it has everywhere.
struct MulticastTrace {
  MulticastMessage message;
  std::vector<PortIdx> channels;    // each as often as it is taken
  std::vector<unsigned> distances;  // links from the source, as `message.order`
};

/// Requires: not refused; destinations other than the source, each once.
[[nodiscard]] std::vector<MulticastTrace> trace_multicast(const LabelledNet& net,
                                                          const MulticastAlgorithm& algorithm,
                                                          Node source,
                                                          std::span<const Node> destinations);

struct MulticastFigures {
  std::uint64_t sets = 0;
  std::uint64_t channels = 0, distances = 0, destinations = 0, farthest = 0;  // sums

  [[nodiscard]] double mean_channels() const { return over(channels, sets); }

  /// From the source to a destination.
  [[nodiscard]] double mean_distance() const { return over(distances, destinations); }

  [[nodiscard]] double mean_farthest() const { return over(farthest, sets); }

  void add(const std::vector<MulticastTrace>& trips);

 private:
  static double over(std::uint64_t sum, std::uint64_t count) {
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
  }
};

/// `sets` of `size` destinations each, from random sources. Requires: size < nodes.
[[nodiscard]] MulticastFigures measure_random_sets(const LabelledNet& net,
                                                   const MulticastAlgorithm& algorithm,
                                                   unsigned sets,
                                                   unsigned size,
                                                   std::uint64_t seed);

}  // namespace smd::sim
