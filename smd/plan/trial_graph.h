// A turn graph whose latest turns can be taken back.
#pragma once

#include <utility>
#include <vector>

#include "smd/plan/turn_graph.h"

namespace smd {

class TrialGraph {
 public:
  explicit TrialGraph(TurnGraph graph) : graph_(std::move(graph)) {}

  /// False when there is a cycle: then nothing can be tried.
  [[nodiscard]] bool sort() { return graph_.sort(); }

  /// False, and nothing changed, when a cycle would close or the turn was struck.
  [[nodiscard]] bool insert(PortIdx in, PortIdx out) {
    if (graph_.has(in, out)) return true;
    if (graph_.is_struck(in, out) || !graph_.insert(in, out)) return false;
    added_.emplace_back(in, out);
    return true;
  }

  [[nodiscard]] std::size_t mark() const { return added_.size(); }

  /// As it was at that mark.
  void undo(std::size_t mark) {
    for (; added_.size() > mark; added_.pop_back())
      graph_.remove(added_.back().first, added_.back().second);
  }

  [[nodiscard]] std::uint32_t position(PortIdx channel) const { return graph_.order()[channel]; }

 private:
  TurnGraph graph_;
  std::vector<std::pair<PortIdx, PortIdx>> added_;
};

}  // namespace smd
