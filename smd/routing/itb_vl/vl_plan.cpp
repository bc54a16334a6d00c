#include "smd/routing/itb_vl/vl_plan.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "smd/routing/itb_vl/trees.h"
#include "smd/routing/trees/rebalance.h"

namespace smd {
namespace {

constexpr unsigned kRounds = 4;  // of giving destinations up*/down* trees

class Planner {
 public:
  explicit Planner(const ItbVlTask& task)
      : task_(task),
        rule_(task.graph, task.oriented),
        allowed_(task.graph, task.oriented, rule_),
        kind_(task.graph.switches(), AllowedNextHops::Kind::Shortest) {}

  Result<ItbVlPlan> run() {
    if (task_.previous != nullptr) {
      grow_trees(true);
      if (try_changes()) return finish();
    }
    grow_trees(false);
    if (try_changes() || try_layers()) return finish();
    const std::string why = explain_failure();
    if (cuts_known()) {
      kind_.assign(kind_.size(), AllowedNextHops::Kind::LeastCuts);
      grow_trees(false);
      if (try_changes()) {
        plan_.notes.push_back("of the shortest paths those with fewest cuts, for want of lanes");
        return finish();
      }
    }
    if (try_detours()) return finish();
    return fail(Errc::Unsupported, why);
  }

 private:
  /// VLs that a path may go through.
  [[nodiscard]] unsigned most_changing() const { return task_.vl_changes ? task_.max_vls : 1; }

  [[nodiscard]] bool cuts_known() const { return task_.cut != VlChangeRule::MinimalCycles; }

  [[nodiscard]] std::string explain_failure() const {
    const unsigned vls = task_.max_vls;
    if (!task_.vl_changes) {
      return fmt::format(
          "itb-vl: shortest paths between {} switches on one lane each need more than {} VLs, and "
          "lanes that change on the way are not to be written here",
          task_.graph.switches(),
          vls);
    }
    if (vls_needed_ > vls) {
      return fmt::format(
          "itb-vl: shortest paths between {} switches change lanes up to {} times, which takes {} "
          "VLs; there are {}, too few for whole paths on one lane each, too",
          task_.graph.switches(),
          vls_needed_ - 1,
          vls_needed_,
          vls);
    }
    return fmt::format(
        "itb-vl: {} SLs do not suffice for shortest paths between {} switches with {} VLs, nor do "
        "{} VLs for whole paths on one lane each",
        task_.max_sls,
        task_.graph.switches(),
        vls,
        vls);
  }

  void grow_trees(bool keep) {
    const std::size_t switches = task_.graph.switches();
    TreeBalance balance{task_.graph, task_.demand, task_.costs};
    trees_ = keep ? task_.previous->trees[0] : SwitchTrees{switches};
    wishes_ = keep ? &task_.previous->sls : nullptr;
    plan_.imbalance = balance_trees({}, trees_, balance);
    load_ = balance.measure();
    pairs_ = list_pairs(task_.graph, trees_, cuts_known() ? &rule_ : nullptr);
  }

  // Edges that are set already stay as they are where loads are even enough.
  Imbalance balance_trees(std::span<const SwitchTrees> others,
                          SwitchTrees& trees,
                          TreeBalance& balance) {
    const std::size_t switches = task_.graph.switches();
    const auto find = [&](SwitchIdx destination, NextHops& hops) {
      allowed_.find(kind_[destination], destination, hops);
      keep_fresh(others, destination, hops);
    };
    std::vector<char> movable(switches * switches, 1);
    std::vector<char> used(task_.graph.edge_count(), 0);
    for (SwitchIdx to{0}; to.value() < switches; to = next(to)) {
      for (SwitchIdx at{0}; at.value() < switches; at = next(at)) {
        const std::uint32_t edge = trees.edge(to, at);
        movable[to.value() * switches + at.value()] = edge == kNoEdge;
        if (edge != kNoEdge) used[edge] = 1;
      }
    }
    balance.fill(find, trees);
    balance.improve(find, trees, &movable);
    // A link is the only shortest path between its ends: one that no tree took has come up, and
    // gets its share from all of them.
    const bool any_known = std::ranges::find(used, 1) != used.end();
    if (any_known && std::ranges::find(used, 0) != used.end()) {
      balance.improve(find, trees);
    } else if (any_known && others.empty() && is_any_moved(movable)) {
      const Imbalance reached = rebalance_switch_trees(task_.graph,
                                                       task_.demand,
                                                       task_.costs,
                                                       balance,
                                                       movable,
                                                       task_.previous->imbalance,
                                                       trees);
      balance.fill(find, trees);
      return reached;
    }
    return any_known && task_.previous != nullptr
               ? carry_imbalance(task_.previous->imbalance, balance.loads())
               : measure_imbalance(balance.loads());
  }

  // Pairs of switches that carry traffic and whose path is not what it was.
  [[nodiscard]] bool is_any_moved(const std::vector<char>& movable) const {
    const std::size_t switches = task_.graph.switches();
    for (SwitchIdx to{0}; to.value() < switches; to = next(to)) {
      if (task_.demand.receives[to] == 0) continue;
      for (SwitchIdx at{0}; at.value() < switches; at = next(at)) {
        if (at != to && movable[to.value() * switches + at.value()] &&
            trees_.edge(to, at) != kNoEdge)
          return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::unique_ptr<SlPlacer> make_tables(unsigned vls) const {
    std::unique_ptr<TurnRule> rule;
    if (cuts_known()) {
      rule = std::make_unique<UpDownRule>(rule_);
    } else {
      rule = std::make_unique<CycleRule>(task_.graph, vls);
    }
    return std::make_unique<SlTables>(
        task_.graph, std::move(rule), vls, task_.max_sls, previous_vls());
  }

  [[nodiscard]] std::span<const std::uint8_t> previous_vls() const {
    if (wishes_ == nullptr) return {};
    return task_.previous->vls;
  }

  // As many VLs as the wishes have: fewer would take some of them.
  [[nodiscard]] unsigned count_wished() const {
    unsigned count = 0;
    for (const std::uint8_t vl : previous_vls())
      if (vl != SlPlacer::kNoVl) count = std::max(count, vl + 1u);
    return count;
  }

  // More VLs than the cuts need make fewer paths disagree, as one may change up early.
  bool try_changes() {
    vls_needed_ = cuts_known() && !pairs_.empty() ? pairs_.front().difficulty + 1 : 1;
    failed_.clear();
    const unsigned fewest = std::max(vls_needed_, std::min(count_wished(), most_changing()));
    for (unsigned vls = fewest; vls <= most_changing(); ++vls) {
      if (place_all(make_tables(vls), true)) return true;
    }
    return false;
  }

  bool try_layers() {
    if (!place_all(std::make_unique<SlLayers>(task_.graph, std::min(task_.max_vls, kSls - 1)),
                   true))
      return false;
    plan_.notes.push_back(std::string("each path on one lane from end to end") +
                          (task_.vl_changes ? ", for want of SLs" : ""));
    return true;
  }

  bool try_detours() {
    std::size_t given_up = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
      for (const Pair& pair : pairs_) {
        if (cuts_known() && pair.difficulty >= most_changing()) give_up(harder_end(pair), given_up);
      }
      for (const Pair& pair : failed_) give_up(harder_end(pair), given_up);
      if (2 * given_up > kind_.size()) return false;
      grow_trees(false);
      const bool few_cuts =
          !cuts_known() || pairs_.empty() || pairs_.front().difficulty < most_changing();
      if (place_all(make_tables(most_changing()), false) && few_cuts) {
        plan_.notes.push_back(fmt::format("up*/down* to {} of {} switches, for want of {}",
                                          given_up,
                                          kind_.size(),
                                          vls_needed_ > most_changing() ? "lanes" : "SLs"));
        return true;
      }
    }
    return false;
  }

  void give_up(SwitchIdx destination, std::size_t& count) {
    if (kind_[destination] == AllowedNextHops::Kind::Legal) return;
    kind_[destination] = AllowedNextHops::Kind::Legal;
    ++count;
  }

  // The end whose tree the path with more cuts belongs to.
  [[nodiscard]] SwitchIdx harder_end(const Pair& pair) const {
    EdgePath path;
    const auto measure = [&](SwitchIdx from, SwitchIdx to) {
      if (kind_[to] == AllowedNextHops::Kind::Legal ||
          !find_path(task_.graph, trees_, from, to, path))
        return 0u;
      return count_cuts(rule_, path) + 1;
    };
    return measure(pair.a, pair.b) >= measure(pair.b, pair.a) ? pair.b : pair.a;
  }

  bool place_all(std::unique_ptr<SlPlacer> placer, bool stop) {
    PairSls sls{task_.graph.switches()};
    failed_ = allocate_sls(task_.graph,
                           trees_,
                           pairs_,
                           wishes_ == nullptr ? nullptr : &wishes_->front(),
                           stop,
                           *placer,
                           sls);
    if (!failed_.empty()) return false;
    plan_.placer = std::move(placer);
    plan_.sls.assign(1, std::move(sls));
    return true;
  }

  Result<ItbVlPlan> finish() {
    plan_.trees.assign(1, trees_);
    for (unsigned offset = 1; offset < task_.offsets; ++offset) add_offset(offset);
    count_used();
    plan_.notes.insert(
        plan_.notes.begin(),
        {fmt::format("{} VLs, {} SLs", plan_.vls, plan_.sl_count), print_balance(load_)});
    return std::move(plan_);
  }

  void add_offset(unsigned offset) {
    const bool keep = wishes_ != nullptr && wishes_->size() > offset;
    SwitchTrees trees = keep ? task_.previous->trees[offset] : SwitchTrees{task_.graph.switches()};
    TreeBalance balance{task_.graph, task_.demand, task_.costs};
    balance_trees(plan_.trees, trees, balance);
    const std::vector<Pair> pairs = list_pairs(task_.graph, trees, cuts_known() ? &rule_ : nullptr);
    PairSls sls{task_.graph.switches()};
    const SlPlacer::Checkpoint before = plan_.placer->checkpoint();
    const PairSls* const wishes = keep ? &(*wishes_)[offset] : nullptr;
    if (!allocate_sls(task_.graph, trees, pairs, wishes, true, *plan_.placer, sls).empty()) {
      plan_.placer->roll_back(before);
      trees = plan_.trees.front();
      sls = plan_.sls.front();
      const std::string note =
          "LIDs of some offsets take the paths of the first one, for want of SLs";
      if (std::ranges::count(plan_.notes, note) == 0) plan_.notes.push_back(note);
    }
    plan_.trees.push_back(std::move(trees));
    plan_.sls.push_back(std::move(sls));
  }

  void count_used() {
    EdgePath path;
    for (std::size_t o = 0; o < plan_.trees.size(); ++o) {
      for (const Pair& pair : pairs_) {
        const std::uint8_t sl = plan_.sls[o].sl(pair.a, pair.b);
        plan_.sl_count = std::max(plan_.sl_count, sl + 1u);
        for (const auto& [from, to] : {std::pair{pair.a, pair.b}, std::pair{pair.b, pair.a}}) {
          if (!find_path(task_.graph, plan_.trees[o], from, to, path)) continue;
          if (plan_.placer->layered()) plan_.vls = std::max(plan_.vls, sl + 1u);
          for (std::size_t i = 1; i < path.size(); ++i)
            plan_.vls = std::max(plan_.vls, plan_.placer->vl(path[i - 1], path[i], sl) + 1u);
        }
      }
    }
  }

  const ItbVlTask& task_;
  const UpDownRule rule_;
  AllowedNextHops allowed_;
  IndexVector<SwitchIdx, AllowedNextHops::Kind> kind_;  // by destination

  // Of the trees at hand, for LID offset 0.
  SwitchTrees trees_;
  const std::vector<PairSls>* wishes_ = nullptr;
  BalanceReport load_;
  std::vector<Pair> pairs_;
  std::vector<Pair> failed_;
  unsigned vls_needed_ = 1;

  ItbVlPlan plan_;
};

}  // namespace

Result<ItbVlPlan> plan_vls(const ItbVlTask& task) { return Planner{task}.run(); }

}  // namespace smd
