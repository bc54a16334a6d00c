// A list of SMPs with a barrier behind it: what follows begins when every one was answered or given
// up. An agent that does not answer holds up nobody of its list.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "smd/program/program_run.h"
#include "smd/smp/smp_pump.h"

namespace smd {

class Stage {
 public:
  explicit Stage(ProgramRun& run) : run_(run) {}

  Stage(const Stage&) = delete;

  /// Requires: no list is under way. `next` runs once, from the loop, after the cost is noted.
  void start(PhaseCost& cost, SmpPump::IssueNext issue_next, std::function<void()> next);

  /// The same, `send` once for each item.
  template <class T>
  void each(PhaseCost& cost,
            std::vector<T> items,
            std::function<void(const T&)> send,
            std::function<void()> next) {
    start(
        cost,
        [items = std::move(items), send = std::move(send), at = std::size_t{0}]() mutable {
          if (at == items.size()) return false;
          send(items[at++]);
          return true;
        },
        std::move(next));
  }

  /// Requires: called from `send`, `issue_next` or a handler of the list under way.
  void ask(SmpRequest request, std::function<void(const Result<SmpReply>&)> on_reply);

  /// `next` from the loop, `delay` from now.
  void later(Duration delay, std::function<void()> next);

 private:
  ProgramRun& run_;
  std::optional<SmpPump> pump_;
  Timer next_;
};

/// Sorts a list so that consecutive items go to different agents: the first of each, then the
/// second of each. Items of one agent keep their order.
template <class T, class AgentOf>
void spread_over_agents(std::vector<T>& items, const AgentOf& agent_of) {
  std::map<decltype(agent_of(items.front())), std::size_t> seen;
  std::vector<std::pair<std::size_t, T>> turns;
  turns.reserve(items.size());
  for (T& item : items) {
    const std::size_t turn = seen[agent_of(item)]++;
    turns.emplace_back(turn, std::move(item));
  }
  std::ranges::stable_sort(
      turns, {}, [](const std::pair<std::size_t, T>& each) { return each.first; });
  items.clear();
  for (auto& [turn, item] : turns) items.push_back(std::move(item));
}

}  // namespace smd
