// What the parts of one run share: what it goes by, and lists of SMPs with a barrier after each.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "smd/program/program_input.h"
#include "smd/program/program_report.h"
#include "smd/smp/smp_client.h"

namespace smd {

// One run of the programmer, shared by its parts: where they read, and where they note.

struct ProgramRun {
  Runtime& runtime;
  SmpClient& client;
  ProgramState& state;
  CostMeter& meter;
  ProgramInput input;
  ProgramReport report;

  /// Of external switch ports; nothing: as it is. Set before any port is.
  IndexVector<PortIdx, std::optional<PartitionEnforcement>> enforcement{};

  /// Switches that did not confirm all entries of an initial plan.
  std::set<Guid> without_entries{};

  [[nodiscard]] const Fabric& fabric() const { return *input.report->fabric; }

  [[nodiscard]] NodeIdx node_of(SwitchIdx sw) const { return fabric().switch_node[sw]; }

  [[nodiscard]] Guid guid_of(SwitchIdx sw) const { return fabric().node_guid[node_of(sw)]; }

  void fault(NodeIdx node, PortNum port, std::string what);
  void not_kept(NodeIdx node, PortNum port, std::string what);
};

/// Whether the port is of a link between two switches of which one is among those.
[[nodiscard]] bool leads_to_unconfirmed(const ProgramRun& run, PortIdx port);

/// Blocks up to the highest LID that are not in force yet, since LinearFDBTop is below them. What
/// the block of LinearFDBTop itself holds is part of every plan, known or not.
template <class Visit>
void for_each_hidden_block(const ProgramRun& run, SwitchIdx sw, Visit&& visit) {
  const SwitchInfo& now = run.report.switch_info[sw];
  const std::uint32_t held = now.linear_fdb_top;
  const std::uint32_t top = run.input.lft->top().value();
  if (has_random_table(now) || held >= top) return;
  const auto block_size = static_cast<std::uint32_t>(kLftBlockSize);
  for (std::uint32_t number = held == 0 ? 0 : held / block_size + 1; number <= top / block_size;
       ++number)
    visit(number);
}

/// What of a list could not be confirmed.
struct Unconfirmed {
  std::vector<Guid> nodes;  // in the order in which they failed; one may be there twice
  std::string first;

  [[nodiscard]] bool empty() const { return nodes.empty(); }

  void add(Guid node, const std::string& what) {
    if (nodes.empty()) first = what;
    nodes.push_back(node);
  }
};

[[nodiscard]] bool accepted(const Result<SmpReply>& reply);

/// Why it was not accepted.
[[nodiscard]] std::string describe_failure(const Result<SmpReply>& reply);

// A list of SMPs with a barrier behind it: what follows begins when every one was answered or given
// up. An agent that does not answer holds up nobody of its list.

class SmpBatch {
 public:
  explicit SmpBatch(ProgramRun& run) : run_(run) {}

  SmpBatch(const SmpBatch&) = delete;

  /// Requires: no list is under way. `next` runs once, from the loop, after the cost is noted.
  void start(PhaseCost& cost, SmpPump::IssueNext issue_next, std::function<void()> next);

  /// The same, `send` once for each item. Most may have nothing to send, and the loop turns now and
  /// then all the same.
  template <class T>
  void each(PhaseCost& cost,
            std::vector<T> items,
            std::function<void(const T&)> send,
            std::function<void()> next) {
    some(cost,
         std::make_shared<const std::vector<T>>(std::move(items)),
         0,
         std::move(send),
         std::move(next));
  }

  /// Requires: called from `send`, `issue_next` or a handler of the list under way.
  void ask(SmpRequest request, std::function<void(const Result<SmpReply>&)> on_reply);

  /// `next` from the loop, `delay` from now.
  void later(Duration delay, std::function<void()> next);

 private:
  /// Without a turn of the loop. Comparing a port with what it should be takes a tenth of a
  /// microsecond.
  static constexpr std::size_t kItemsPerTurn = 8192;

  /// Those from `first` on.
  template <class T>
  void some(PhaseCost& cost,
            std::shared_ptr<const std::vector<T>> items,
            std::size_t first,
            std::function<void(const T&)> send,
            std::function<void()> next) {
    const std::size_t end = std::min(items->size(), first + kItemsPerTurn);
    auto rest = [this, &cost, items, end, send, next = std::move(next)]() mutable {
      if (end == items->size()) return next();
      some(cost, std::move(items), end, std::move(send), std::move(next));
    };
    start(
        cost,
        [items, send = std::move(send), at = first, end]() mutable {
          if (at == end) return false;
          send((*items)[at++]);
          return true;
        },
        std::move(rest));
  }

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
