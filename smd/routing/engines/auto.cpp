// Asks other engines, measures their routes, and takes those that are worth most (decision 44).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/layered/almost_minimal.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/load_bound.h"
#include "smd/routing/verify/patterns.h"
#include "smd/routing/verify/route_measures.h"

namespace smd {
namespace {

/// A step is some 10 ns of one core, so that so many make a millisecond. Counted and not timed: a
/// fabric has the same routes on every machine.
constexpr std::uint64_t kStepsPerMs = 100'000;

/// Candidates whose worth differs by less are as good: the earlier one is taken.
constexpr double kAsGood = 0.02;

/// Routes in force are left for others that are worth so many times as much.
constexpr double kWorthAChange = 1.1;

constexpr double kNear = 0.93;  // of the best, at both measures: before all that are not
constexpr double kShiftsWeight = 0.05;
constexpr double kHopsWeight = 0.05;
constexpr double kLanesWeight = 0.02;

/// Of dfsssp, for each pair of a switch and a LID, where it leads paths to further LIDs apart.
constexpr unsigned kAlmostMinimalSteps = 110;

/// Channels and switches that are looked at to find what any routes must carry.
constexpr std::uint64_t kBoundSteps = 3'000'000;

constexpr unsigned kPermutations = 50;

constexpr std::string_view kNoShape = "no ";  // how engines begin that do not know a shape

constexpr std::string_view kNeedsVls =
    "left out: routes, or those after a loss, need more than one VL, and sm.auto_vls is 1";
constexpr std::string_view kNotFree =
    "left out: changes may have to discard packets, and sm.auto_changes is free";
constexpr std::string_view kMoreVls =
    "auto: off trees routes on several VLs carry more; sm.auto_vls allows them, where hosts send "
    "on "
    "the SL of their path record";
constexpr std::string_view kOnTrees =
    "left out: on whole trees updn is as good, and its changes cost less";
constexpr std::string_view kBlocksTurns =
    "left out: changes may have to block turns, and sm.auto_vls is 1";

struct CandidateEngine {
  std::string_view name;
  std::string_view because;
  unsigned steps;  // for each pair of a switch and a LID
  bool knows_shape = false;

  /// Why routes on one VL are not taken where a change has to be as safe as under updn; else empty.
  std::string_view unsafe = {};

  /// With several VLs changes hardly ever have to block or discard anything.
  bool free_with_vls = false;
};

/// In the order in which they are preferred where they are as good: grids and groups by their
/// closed forms, trees by the engine whose changes cost least, then what needs one VL.
constexpr CandidateEngine kAsked[] = {
    {"dor", "which knows this shape", 4, true, kNeedsVls},
    {"hamming", "which knows this shape", 4, true, kNeedsVls, true},
    {"dragonfly", "which knows this shape", 4, true, kNeedsVls},
    {"updn", "as it suits every fabric", 2},
    {kDepthFirstCandidate, "as it suits every fabric", 3},
    {"ftree", "which knows this shape", 1, true, kBlocksTurns},
    {"nue", "as it suits every fabric", 21, false, kBlocksTurns, true},
    {"dfsssp", "as its trees are balanced", 32, false, kNeedsVls},
    {"itb-vl", "as its trees are balanced", 15, false, kNeedsVls},
};

struct FabricSize {
  std::uint64_t switches = 0, lids = 0, hosts = 0, leaves = 0;

  [[nodiscard]] std::uint64_t pairs() const { return switches * lids; }

  /// Of measure_routes(): trees, permutations, shifts.
  [[nodiscard]] std::uint64_t steps_of_measures() const {
    return 2 * switches * hosts + 10 * kPermutations * hosts + 5 * leaves * hosts;
  }
};

FabricSize size_of(const Fabric& fabric, const LidMap& lids) {
  FabricSize out{.switches = fabric.switch_count()};
  for (const PortIdx owner : lids.owner) out.lids += owner != kNone<PortIdx> ? 1 : 0;
  IndexVector<SwitchIdx, char> leaf(fabric.switch_count(), 0);
  for (const PortIdx host : find_hosts(fabric, lids)) {
    ++out.hosts;
    leaf[fabric.switch_at(fabric.peer[host])] = 1;
  }
  out.leaves = static_cast<std::uint64_t>(std::ranges::count(leaf, 1));
  return out;
}

bool has_rings(const Fabric& fabric) {
  const SwitchGraph graph = SwitchGraph{fabric}.without_parallels();
  return graph.edge_count() / 2 + find_islands(graph).size() > graph.switches();
}

// Routes over a fabric most of which is new are not worth staying with.
bool is_mostly_known(const Fabric& fabric, const Fabric& before) {
  std::size_t known = 0;
  for (const NodeIdx node : fabric.switch_node)
    known += before.find_node(fabric.node_guid[node]).has_value() ? 1 : 0;
  return 2 * known >= fabric.switch_count();
}

bool wants_free_changes(const EngineOptions& options) {
  return options.auto_vls == 1 || options.auto_changes == AutoChanges::Free;
}

/// VLs that the routes may use.
struct VlLimit {
  VlLimit(const Fabric& fabric, const RoutingRequest& request)
      : there(request.max_vls == 0 ? count_common_vls(fabric) : request.max_vls),
        allowed(count_auto_vls({}, there, request.options)),
        of_nue(count_auto_vls("nue", there, request.options)) {}

  unsigned there, allowed, of_nue;
};

/// Of switches that serve a LID the share whose entry is as it was found.
double measure_likeness(const ForwardingTables& made,
                        const ForwardingTables& found,
                        const LidMap& lids) {
  if (found.switches() != made.switches()) return 0;
  const unsigned top = std::min(made.top(), found.top()).value();
  std::uint64_t served = 0, alike = 0;
  for (unsigned value = 1; value <= made.top().value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (lids.owner_of(lid) == kNone<PortIdx>) continue;
    for (std::uint32_t sw = 0; sw < made.switches(); ++sw) {
      const PortNum port = made.route(SwitchIdx{sw}, lid);
      if (port == kNoRoute) continue;
      ++served;
      alike += value <= top && found.route(SwitchIdx{sw}, lid) == port ? 1 : 0;
    }
  }
  return served == 0 ? 0 : static_cast<double>(alike) / static_cast<double>(served);
}

/// What is compared, against the best of all.
struct BestMeasures {
  double uniform = 0, permutations = 0, shifts = 0;
  double hops = 0;  // fewest

  void add(const EngineCandidate& each) {
    if (!each.refused.empty()) return;
    uniform = std::max(uniform, each.uniform);
    permutations = std::max(permutations, each.permutations);
    shifts = std::max(shifts, each.shifts);
    hops = hops == 0 ? each.mean_hops : std::min(hops, each.mean_hops);
  }

  [[nodiscard]] double worth(const EngineCandidate& each, TrafficGoal goal) const {
    const auto share = [](double own, double best) { return best > 0 ? own / best : 1; };
    const double uniform_share = share(each.uniform, uniform);
    const double permutations_share = share(each.permutations, permutations);
    double worth = goal == TrafficGoal::Uniform ? uniform_share
                   : goal == TrafficGoal::Permutations
                       ? permutations_share
                       : std::min(uniform_share, permutations_share);
    worth += kShiftsWeight * share(each.shifts, shifts);
    if (hops > 0) worth -= kHopsWeight * (each.mean_hops / hops - 1);
    return each.vls > 1 ? worth - kLanesWeight : worth;
  }
};

void measure(const Fabric& fabric,
             const LidMap& lids,
             const RoutingTables& tables,
             EngineCandidate& out) {
  const RouteMeasures found =
      measure_routes(fabric, lids, tables.lft, {.permutations = kPermutations});
  out.measured = true;
  out.fullest = found.load.fullest;
  out.uniform = found.uniform;
  out.permutations = found.permutations;
  out.shifts = found.shifts;
  out.worst_shift = found.worst_shift;
  out.mean_hops = found.mean_hops;
  out.vls = tables.vls;
}

void weigh(std::vector<EngineCandidate>& all, TrafficGoal goal) {
  BestMeasures best;
  for (const EngineCandidate& each : all) best.add(each);
  for (EngineCandidate& each : all) each.worth = each.refused.empty() ? best.worth(each, goal) : 0;
}

class Auto final : public Engine {
 public:
  std::string_view name() const override { return "auto"; }

  std::string_view contract() const override {
    return "Any fabric, by another engine: dor, hamming, dragonfly, updn, ftree, nue, dfsssp and "
           "itb-vl compute their routes as far as the budget allows, and those are taken that are "
           "worth most to the traffic that is asked for; with their own VLs, SLs and deadlock "
           "argument. Where sm.auto_changes is free, updn is asked and, off whole trees and with "
           "several "
           "VLs, "
           "hamming and nue: changes of others may have to discard packets. Where sm.auto_vls is 1 "
           "updn alone, with either kind of directions. Notes say what each had. Stays with the "
           "engine that "
           "made the routes in force as long as that one does not refuse, unless "
           "most switches are new.";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    const VlLimit vls{fabric, request};
    RoutingRequest limited = request;
    if (vls.allowed < vls.there) limited.max_vls = vls.allowed;
    std::string refusals;
    if (auto kept = stay(fabric, lids, limited, vls, refusals)) return std::move(*kept);
    return Choice{fabric, lids, limited, vls}.run(refusals);
  }

  /// By the engine that made the routes in force; nothing, and why, where there is none or it
  /// refuses.
  static std::optional<RoutingTables> stay(const Fabric& fabric,
                                           const LidMap& lids,
                                           RoutingRequest request,
                                           const VlLimit& vls,
                                           std::string& refusals) {
    if (request.in_force == nullptr || !is_mostly_known(fabric, *request.in_force->fabric))
      return std::nullopt;
    const RoutingTables& before = *request.in_force->routing;
    const Engine* const engine = find_engine(before.engine);
    if (engine == nullptr || before.engine == "auto") return std::nullopt;
    // Lanes that it has already it keeps.
    if (before.engine == "nue" && vls.of_nue < vls.allowed)
      request.max_vls = std::min(vls.allowed, std::max(vls.of_nue, before.vls));
    auto tables = engine->compute(fabric, lids, request);
    if (const std::string why = why_not(tables, request); !why.empty()) {
      refusals = fmt::format("; {}: {}", before.engine, why);
      return std::nullopt;
    }
    tables->chosen_by = "auto";
    tables->candidates = before.candidates;
    tables->notes.insert(tables->notes.begin(),
                         fmt::format("auto: {}, which made the routes in force", before.engine));
    return std::move(*tables);
  }

  /// Empty: the tables can be taken.
  static std::string why_not(const Result<RoutingTables>& tables, const RoutingRequest& request) {
    if (!tables) return tables.error().context;
    if (!request.vl_changes && !tables->sl_to_vl.empty())
      return "its routes change lanes on the way";
    if (request.max_vls != 0 && tables->vls > request.max_vls)
      return fmt::format("its routes use {} VLs", tables->vls);
    return "";
  }

  class Choice {
   public:
    Choice(const Fabric& fabric,
           const LidMap& lids,
           const RoutingRequest& request,
           const VlLimit& vls)
        : fabric_(fabric),
          lids_(lids),
          request_(request),
          vls_(vls),
          size_(size_of(fabric, lids)),
          left_(request.options.auto_budget_ms * kStepsPerMs) {}

    Result<RoutingTables> run(std::string refusals) {
      const bool rings = has_rings(fabric_);
      if (must_be_safe()) {
        const auto tree = recognise_fat_tree(fabric_);
        if (!tree) why_no_tree_ = tree.error().context;
        is_whole_tree_ = tree && tree->missing() == 0 && tree->level_links == 0;
      }
      for (const CandidateEngine& each : kAsked) {
        const bool for_rings = each.name != "updn" && !each.knows_shape;
        if (each.name == kDepthFirstCandidate) {
          if (rings && wants_depth_first()) ask(each);
        } else if (!for_rings || (rings && (vls_.there > 1 || each.name == "nue"))) {
          ask(each);
        }
      }
      if (tables_.empty()) return fail(Errc::Unsupported, "auto: every engine refuses" + refusals);
      const std::size_t chosen = choose();
      RoutingTables out = std::move(tables_[chosen].second);
      const std::size_t at = tables_[chosen].first;
      candidates_[at].taken = true;
      out.chosen_by = "auto";
      std::vector<std::string> notes{describe_choice(at, refusals)};
      std::string other_shapes;
      std::map<std::string_view, std::string> left_out;  // by reason
      const auto list = [](std::string& names, const EngineCandidate& each) {
        names += (names.empty() ? "" : ", ") + each.engine;
      };
      for (const EngineCandidate& each : candidates_) {
        if (find_asked(each).knows_shape && each.refused.starts_with(kNoShape)) {
          list(other_shapes, each);
        } else if (each.refused == kNeedsVls || each.refused == kBlocksTurns ||
                   each.refused == kNotFree || each.refused == kOnTrees) {
          list(left_out[each.refused], each);
        } else {
          notes.push_back(describe(each, like_found(each)));
        }
      }
      for (const auto& [why, names] : left_out)
        notes.push_back(fmt::format("auto: {}: {}", names, why));
      if (vls_.allowed == 1 && vls_.there > 1 && must_be_safe() && !why_no_tree_.empty() && rings)
        notes.emplace_back(kMoreVls);
      if (!other_shapes.empty()) {
        notes.push_back(
            fmt::format("auto: no shape of {}; candidates in the JSON say why", other_shapes));
      }
      out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
      out.candidates = std::move(candidates_);
      return out;
    }

   private:
    /// Where nothing but directions is safe there is a second choice of them; in trees a bad one.
    [[nodiscard]] bool wants_depth_first() const {
      return must_be_safe() && !has_roots() &&
             request_.options.orientation_search == OrientationSearch::BreadthFirst &&
             !why_no_tree_.empty();
    }

    /// Some of sm.roots are here: those that are not change no directions.
    [[nodiscard]] bool has_roots() const {
      return std::ranges::any_of(request_.options.roots, [this](Guid root) {
        const auto node = fabric_.find_node(root);
        return node && fabric_.is_switch(*node);
      });
    }

    [[nodiscard]] bool must_be_safe() const { return wants_free_changes(request_.options); }

    /// Why the engine is not asked, or its routes are not taken; else empty. On whole trees updn is
    /// as good, and its changes cost less.
    [[nodiscard]] std::string_view why_unsafe(const CandidateEngine& each) const {
      if (!must_be_safe() || each.unsafe.empty()) return {};
      if (request_.options.auto_vls == 1) return each.unsafe;
      if (!each.free_with_vls || vls_.of_nue == 1) return kNotFree;
      return is_whole_tree_ ? kOnTrees : std::string_view{};
    }

    /// The first that does not refuse is asked whatever it costs.
    void ask(const CandidateEngine& each) {
      EngineCandidate candidate{.engine = std::string(each.name)};
      const std::string_view unsafe = why_unsafe(each);
      const std::uint64_t steps = steps_of(each) * size_.pairs() + size_.steps_of_measures();
      if (must_be_safe() && each.name == "ftree" && !why_no_tree_.empty()) {
        candidate.refused = why_no_tree_;
      } else if (!unsafe.empty() && (!each.knows_shape || each.name == "ftree")) {
        candidate.refused = unsafe;
      } else if (!tables_.empty() && steps > left_) {
        candidate.refused = "not asked: it would exceed the budget";
      } else {
        const bool depth_first = each.name == kDepthFirstCandidate;
        RoutingRequest request = request_;
        if (depth_first) request.options.orientation_search = OrientationSearch::DepthFirst;
        if (each.name == "nue" && must_be_safe()) request.max_vls = vls_.of_nue;
        auto tables =
            find_engine(depth_first ? "updn" : each.name)->compute(fabric_, lids_, request);
        candidate.refused = why_not(tables, request_);
        const bool knows_it = !candidate.refused.starts_with(kNoShape);
        if (!unsafe.empty() && knows_it) candidate.refused = unsafe;
        // A closed form that a loss left without a way on one VL.
        if (must_be_safe() && candidate.refused.empty() && each.knows_shape && tables->vls > 1)
          candidate.refused = kNotFree;
        const bool computed = candidate.refused.empty() || !candidate.refused.starts_with(kNoShape);
        if (computed) left_ -= std::min(left_, steps);
        if (candidate.refused.empty()) {
          candidate.vls = tables->vls;
          tables_.emplace_back(candidates_.size(), std::move(*tables));
        }
      }
      candidates_.push_back(std::move(candidate));
    }

    [[nodiscard]] unsigned steps_of(const CandidateEngine& each) const {
      return each.name == "dfsssp" && wants_almost_minimal(lids_, request_) ? kAlmostMinimalSteps
                                                                            : each.steps;
    }

    /// Among `tables_`. Where there is no choice nothing is measured.
    std::size_t choose() {
      if (tables_.size() == 1) return 0;
      if (const auto found = find_likest()) return *found;
      const double bound = find_load_bound(fabric_, lids_, kBoundSteps).fullest;
      for (const auto& [at, tables] : tables_) {
        measure(fabric_, lids_, tables, candidates_[at]);
        candidates_[at].against_bound = bound > 0 ? candidates_[at].fullest / bound : 1;
      }
      weigh(candidates_, request_.options.auto_for);
      const std::vector<char> is_near = find_near();
      double best = 0;
      for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (is_near[i]) best = std::max(best, worth_of(i));
      }
      std::size_t chosen = 0;
      while (!is_near[chosen] || worth_of(chosen) < best - kAsGood) ++chosen;
      return chosen;
    }

    [[nodiscard]] double worth_of(std::size_t i) const {
      return candidates_[tables_[i].first].worth;
    }

    /// Of `tables_` those that are most like the entries that were found; nothing, where none are.
    [[nodiscard]] std::optional<std::size_t> find_likest() {
      if (request_.found == nullptr) return std::nullopt;
      for (const auto& [at, tables] : tables_)
        like_found_.push_back(measure_likeness(tables.lft, *request_.found, lids_));
      const auto most = std::ranges::max_element(like_found_);
      if (*most > 0) return static_cast<std::size_t>(most - like_found_.begin());
      like_found_.clear();
      return std::nullopt;
    }

    /// Of `tables_` those that are near the best at both measures; all, where none is.
    [[nodiscard]] std::vector<char> find_near() const {
      BestMeasures best;
      for (const auto& [at, tables] : tables_) best.add(candidates_[at]);
      std::vector<char> near;
      for (const auto& [at, tables] : tables_) {
        near.push_back(candidates_[at].uniform >= kNear * best.uniform &&
                       candidates_[at].permutations >= kNear * best.permutations);
      }
      const bool one_measure = request_.options.auto_for != TrafficGoal::Both;
      if (one_measure || std::ranges::count(near, 1) == 0) near.assign(near.size(), 1);
      return near;
    }

    [[nodiscard]] std::string describe_choice(std::size_t at, const std::string& refusals) const {
      const EngineCandidate& taken = candidates_[at];
      const auto is_worth_more = [&](const EngineCandidate& each) {
        return each.worth > taken.worth;
      };
      const bool most = std::ranges::none_of(candidates_, is_worth_more);
      return fmt::format("auto: {}, {}{}",
                         taken.engine,
                         !like_found_.empty() ? "whose routes are most like those in force"
                         : !taken.measured    ? find_asked(taken).because
                         : most               ? "worth most here"
                                              : "as good as any here",
                         refusals);
    }

    static const CandidateEngine& find_asked(const EngineCandidate& each) {
      return *std::ranges::find(kAsked, std::string_view(each.engine), &CandidateEngine::name);
    }

    /// Of the entries of a candidate the share that is as it was found, where that was asked.
    [[nodiscard]] std::optional<double> like_found(const EngineCandidate& each) const {
      for (std::size_t i = 0; i < like_found_.size(); ++i) {
        if (&candidates_[tables_[i].first] == &each) return like_found_[i];
      }
      return std::nullopt;
    }

    /// Where channels differ in speed the fullest one need not have most paths.
    [[nodiscard]] std::string print_fullest(const EngineCandidate& each) const {
      const ChannelSpeeds speeds{fabric_, find_channels(fabric_)};
      if (!speeds.mixed()) return fmt::format("{:.0f} paths on the fullest channel", each.fullest);
      return fmt::format("{:.2f} paths per Gb/s on the channel that is fullest for its speed",
                         1000 * each.fullest / static_cast<double>(speeds.slowest()));
    }

    [[nodiscard]] std::string describe(const EngineCandidate& each,
                                       std::optional<double> like_found) const {
      if (!each.refused.empty()) return fmt::format("auto: {}: {}", each.engine, each.refused);
      if (like_found) {
        return fmt::format("auto: {}: {:.1f} % of its entries are in force; not weighed",
                           each.engine,
                           100 * *like_found);
      }
      if (!each.measured) return fmt::format("auto: {}: there is no other to compare", each.engine);
      return fmt::format(
          "auto: {}: worth {:.3f}; uniform {:.1f} %, permutations {:.1f} %, shifts {:.1f} % "
          "({:.1f} in the worst), {} ({:.2f} times the least at most), {:.2f} hops, {} VL{}",
          each.engine,
          each.worth,
          100 * each.uniform,
          100 * each.permutations,
          100 * each.shifts,
          100 * each.worst_shift,
          print_fullest(each),
          each.against_bound,
          each.mean_hops,
          each.vls,
          each.vls == 1 ? "" : "s");
    }

    const Fabric& fabric_;
    const LidMap& lids_;
    const RoutingRequest& request_;
    VlLimit vls_;
    FabricSize size_;
    std::uint64_t left_;
    std::vector<EngineCandidate> candidates_;
    std::vector<std::pair<std::size_t, RoutingTables>> tables_;  // and whose of `candidates_`
    std::string why_no_tree_;         // empty: it is one, or nobody has to know
    bool is_whole_tree_ = false;      // no cable is missing
    std::vector<double> like_found_;  // by `tables_`; empty: it does not matter
  };
};

}  // namespace

unsigned count_auto_vls(std::string_view engine, unsigned there, const EngineOptions& options) {
  const unsigned allowed = std::min(there, std::max(1u, options.auto_vls));
  const bool beside_groups = engine == "nue" && wants_free_changes(options) && there > 1;
  return beside_groups ? std::min(allowed, there - 1) : allowed;
}

bool are_worth_a_change(const Fabric& fabric,
                        const LidMap& lids,
                        const RoutingTables& in_force,
                        const RoutingTables& others,
                        TrafficGoal goal) {
  std::vector<EngineCandidate> both(2);
  measure(fabric, lids, in_force, both[0]);
  measure(fabric, lids, others, both[1]);
  weigh(both, goal);
  return both[1].worth >= kWorthAChange * both[0].worth;
}

const Engine& auto_engine() {
  static const Auto engine;
  return engine;
}

}  // namespace smd
