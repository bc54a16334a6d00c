#include "sim-backend/experiments/change/managed_change.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "sim-backend/experiments/change/compute_model.h"
#include "sim-backend/experiments/change/reconfiguration.h"
#include "sim-backend/subnet/simulated_subnet.h"

namespace smd::sim {
namespace {

/// Traps run out, directions and LIDs settle, every PortStateChange is seen and cleared.
constexpr Duration kCalm = std::chrono::seconds(15);

/// No sweep of the published sizes takes as long.
constexpr Duration kBetweenSweeps = std::chrono::milliseconds(20);

constexpr Duration kPatience = std::chrono::minutes(10);

/// A hundred times a sweep, which takes 160 us per switch.
Duration sweep_interval(const FabricSpec& fabric) {
  const auto switches = std::ranges::count(fabric.nodes, NodeType::Switch, &NodeSpec::type);
  return std::chrono::milliseconds(16) * switches;
}

/// Data before the change.
constexpr Duration kBefore = std::chrono::milliseconds(5);

struct Mark {
  smd::Phase phase;
  TimePoint at;
  std::uint64_t sent = 0;
};

class ManagedSubnet {
 public:
  explicit ManagedSubnet(const ManagedChange& change)
      : interval_(sweep_interval(spec_of(change.fabric))),
        subnet_(spec_of(change.fabric),
                {.timing = change.preset.timing(),
                 .agents = agents(change),
                 .settings = settings(change),
                 .on_phase = [this](smd::Phase phase) { note(phase); }}),
        after_(change.after) {
    subnet_.tap.on_arrival = [this](const MadPacket& packet) {
      if (!noticed_ && tells_of_change(packet)) noticed_ = runtime_.now();
      return true;
    };
  }

  Result<AssimilationCost> measure(const ManagedChange& change) {
    if (change.comes) fabric_.set_node(change.node, false);
    manager_.start();
    runtime_.run_until(runtime_.now() + kCalm);
    if (manager_.last_cycle() == nullptr || !manager_.last_cycle()->up())
      return fail(Errc::Io, "the subnet does not come up");
    for (std::uint64_t sent = 0; sent != manager_.smp_stats().sent;) {
      sent = manager_.smp_stats().sent;
      runtime_.run_until(runtime_.now() + kBetweenSweeps);
    }
    if (change.phase > 0) await_phase(change.phase);
    subnet_.reports.clear();
    noticed_.reset();
    sent_before_ = manager_.smp_stats().sent;
    if (change.load > 0) {
      data_.emplace(runtime_, fabric_, change.load);
      run_until(change, runtime_.now() + kBefore, [] { return false; });
      changed_ = runtime_.now();
      data_->change(change.node, change.comes);
    } else {
      changed_ = runtime_.now();
      fabric_.set_node(change.node, change.comes);
    }
    run_until(change, changed_ + kPatience, [this] { return !subnet_.reports.empty(); });
    if (subnet_.reports.empty()) return fail(Errc::Timeout, "the change is not taken in");
    const smd::CycleReport cycle = subnet_.reports.front();
    if (!cycle.up()) {
      return fail(Errc::Io,
                  cycle.error ? cycle.error->context
                              : fmt::format("{} faults, {} ports that are not Active",
                                            cycle.fault_count,
                                            cycle.ports_down_after));
    }
    auto result = cost(change.how, cycle);
    if (!result || !data_) return result;
    run_until(change, runtime_.now() + change.after, [] { return false; });
    if (const auto counted = data_->finish(); !counted) {
      return tl::unexpected<Error>(counted.error());
    }
    const Period& data = data_->until_split();
    result->packets = static_cast<double>(data.generated);
    result->causes = data.discarded;
    for (const std::uint64_t count : data.discarded) result->discarded += double(count);
    result->unexplained = data_->unexplained();
    if (change.sample > Duration{0}) result->timeline = data_->intervals();
    return result;
  }

 private:
  /// Until `done` or `limit`, sample by sample where there is data.
  template <class Done>
  void run_until(const ManagedChange& change, TimePoint limit, const Done& done) {
    const bool sampled = data_.has_value() && change.sample > Duration{0};
    while (!done() && runtime_.now() < limit) {
      const TimePoint next = sampled ? std::min(limit, runtime_.now() + change.sample) : limit;
      if (!runtime_.run_while_not(done, next)) runtime_.run_until(next);
      if (sampled) data_->cut();
    }
  }

  static AgentOptions agents(const ManagedChange& change) {
    AgentOptions out = distribution_subnet(change.preset).agents;
    out.traps = change.traps;
    if (change.load > 0) out.vl_cap = 2;  // two data VLs
    return out;
  }

  smd::Settings settings(const ManagedChange& change) const {
    smd::Settings out;
    out.smp = change.preset.smp();
    out.strategy = smd::make_strategy(change.how);
    out.strategy.writing.one_set_activation = agents(change).one_step_activation;
    out.statistics = false;
    if (change.how.literal) out.debounce = Duration{0};  // the thesis knows of none
    out.sweep_interval = interval_;
    // Those points belong to the published processor.
    if (change.preset.name == kPresets[0].name) {
      out.computing_time = [all = change.charge_all](const smd::ComputedRoutes& computed) {
        const ComputeModel& model = computed.engine == "pira" ? kThesisPira : kThesisFera;
        return model.time(computed.nodes, all ? 1 : computed.share);
      };
    }
    return out;
  }

  void note(smd::Phase phase) {
    if (phase == smd::Phase::Routing && data_ && !marks_.empty() &&
        marks_.back().phase == smd::Phase::Programming && !provisional_) {
      provisional_ = Timer(runtime_, runtime_.now() + after_, [this] { data_->split(); });
    }
    if (phase == smd::Phase::Discovering) marks_.clear();
    marks_.push_back({phase, runtime_.now(), manager_.smp_stats().sent});
  }

  void await_phase(double phase) {
    const std::uint64_t sent = manager_.smp_stats().sent;
    runtime_.run_while_not([&] { return manager_.smp_stats().sent != sent; },
                           runtime_.now() + kPatience);
    runtime_.run_until(runtime_.now() +
                       Duration(static_cast<std::int64_t>(phase * double(interval_.count()))));
  }

  /// The mark of the first `phase` after `from`; the last mark when there is none.
  [[nodiscard]] std::size_t find(smd::Phase phase, std::size_t from) const {
    while (from + 1 < marks_.size() && marks_[from].phase != phase) ++from;
    return from;
  }

  [[nodiscard]] Result<AssimilationCost> cost(const ReconfigurationMode& how,
                                              const smd::CycleReport& cycle) const {
    if (!noticed_) return fail(Errc::Invalid, "no answer told of the change");
    // A full discovery begins when its sweep is believed; a partial one of the thesis with it.
    const TimePoint detected =
        how.discovery == ReconfigurationMode::Discovery::Full ? cycle.began : *noticed_;
    const std::size_t found = find(smd::Phase::Routing, 0);
    const std::size_t routed = find(smd::Phase::Programming, found);
    const bool has_provisional = how.routes == ReconfigurationMode::Routes::PiraThenFera;
    if (has_provisional && !cycle.provisional)
      return fail(Errc::Invalid, "no provisional routes were in");
    const TimePoint in = has_provisional ? cycle.began + *cycle.provisional : cycle.ended;
    const std::uint64_t sent =
        (has_provisional ? marks_[find(smd::Phase::Routing, routed)] : marks_.back()).sent;
    return AssimilationCost{
        .discovery = seconds(marks_[found].at - detected),
        .computing = seconds(marks_[routed].at - marks_[found].at),
        .distribution = seconds(in - marks_[routed].at),
        .until_final = seconds(cycle.ended - detected),
        .detected = seconds(detected - changed_),
        .discovery_smps = static_cast<double>(marks_[found].sent - sent_before_),
        .distribution_smps = static_cast<double>(sent - marks_[found].sent),
        .all_smps = static_cast<double>(marks_.back().sent - sent_before_)};
  }

  Duration interval_;
  std::vector<Mark> marks_;  // of the latest cycle
  std::optional<TimePoint> noticed_;
  TimePoint changed_;
  std::uint64_t sent_before_ = 0;
  SimulatedSubnet subnet_;
  SimRuntime& runtime_ = subnet_.runtime;
  SimFabric& fabric_ = subnet_.fabric;
  smd::SubnetManager& manager_ = subnet_.manager;
  std::optional<ChangeTraffic> data_;
  Duration after_;
  std::optional<Timer> provisional_;  // such routes are in: what is under way may still arrive
};

}  // namespace

Result<AssimilationCost> measure_change(const ManagedChange& change) {
  return ManagedSubnet(change).measure(change);
}

}  // namespace smd::sim
