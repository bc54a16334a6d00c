#include "sim-backend/experiments/change/managed_change.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "sim-backend/experiments/change/compute_model.h"
#include "sim-backend/experiments/change/reconfiguration.h"
#include "smd/base/check.h"
#include "smd/manager/subnet_manager.h"

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

FabricSpec spec_of(const std::string& fabric) {
  auto spec = load_fabric(fabric);
  SMD_CHECK(spec.has_value(), "a fabric that no generator knows");
  return std::move(*spec);
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
      : fabric_(runtime_, spec_of(change.fabric), change.preset.timing(), 1, agents(change)),
        port_(fabric_, fabric_.spec().sm_node, fabric_.spec().sm_port),
        ear_(port_),
        interval_(sweep_interval(fabric_.spec())),
        manager_(runtime_, ear_, settings(change), {}, observer()),
        after_(change.after) {
    ear_.on_arrival = [this](const MadPacket& packet) { listen(packet); };
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
    cycle_.reset();
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
    run_until(change, changed_ + kPatience, [this] { return cycle_.has_value(); });
    if (!cycle_) return fail(Errc::Timeout, "the change is not taken in");
    if (!cycle_->up()) {
      return fail(Errc::Io,
                  cycle_->error ? cycle_->error->context
                                : fmt::format("{} faults, {} ports that are not Active",
                                              cycle_->fault_count,
                                              cycle_->ports_down_after));
    }
    auto result = cost(change.how);
    if (!result || !data_) return result;
    run_until(change, runtime_.now() + change.after, [] { return false; });
    if (const auto counted = data_->finish(); !counted) {
      return tl::unexpected<Error>(counted.error());
    }
    const Stretch& data = data_->until_split();
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
    out.mode = change.how;
    out.statistics = false;
    if (change.how.literal) out.debounce = Duration{0};  // the thesis knows of none
    out.one_set_activation = agents(change).one_step_activation;
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

  smd::SubnetManager::Observer observer() {
    smd::SubnetManager::Observer out;
    out.on_phase = [this](smd::Phase phase) {
      if (phase == smd::Phase::Routing && data_ && !marks_.empty() &&
          marks_.back().phase == smd::Phase::Programming && !provisional_) {
        provisional_ = Timer(runtime_, runtime_.now() + after_, [this] { data_->split(); });
      }
      if (phase == smd::Phase::Discovering) marks_.clear();
      marks_.push_back({phase, runtime_.now(), manager_.smp_stats().sent});
    };
    out.on_cycle = [this](const smd::CycleReport& cycle) {
      if (!cycle_) cycle_ = cycle;
    };
    return out;
  }

  void await_phase(double phase) {
    const std::uint64_t sent = manager_.smp_stats().sent;
    runtime_.run_while_not([&] { return manager_.smp_stats().sent != sent; },
                           runtime_.now() + kPatience);
    runtime_.run_until(runtime_.now() +
                       Duration(static_cast<std::int64_t>(phase * double(interval_.count()))));
  }

  void listen(const MadPacket& packet) {
    const auto smp = decode_smp(packet.mad);
    if (noticed_ || !smp || smp->method != Method::GetResp) return;
    if (smp->attribute_id != static_cast<std::uint16_t>(AttributeId::SwitchInfo)) return;
    const auto info = decode_switch_info(smp->data);
    if (info && info->port_state_change) noticed_ = runtime_.now();
  }

  /// The mark of the first `phase` after `from`; the last mark when there is none.
  [[nodiscard]] std::size_t find(smd::Phase phase, std::size_t from) const {
    while (from + 1 < marks_.size() && marks_[from].phase != phase) ++from;
    return from;
  }

  [[nodiscard]] Result<AssimilationCost> cost(const ReconfigurationMode& how) const {
    if (!noticed_) return fail(Errc::Invalid, "no answer told of the change");
    // A full discovery begins when its sweep is believed; a literal partial one with the sweep.
    const TimePoint detected =
        how.discovery == ReconfigurationMode::Discovery::Full ? cycle_->began : *noticed_;
    const std::size_t found = find(smd::Phase::Routing, 0);
    const std::size_t routed = find(smd::Phase::Programming, found);
    const bool has_provisional = how.routes == ReconfigurationMode::Routes::PiraThenFera;
    if (has_provisional && !cycle_->provisional)
      return fail(Errc::Invalid, "no provisional routes were in");
    const TimePoint in = has_provisional ? cycle_->began + *cycle_->provisional : cycle_->ended;
    const std::uint64_t sent =
        (has_provisional ? marks_[find(smd::Phase::Routing, routed)] : marks_.back()).sent;
    return AssimilationCost{
        .discovery = seconds(marks_[found].at - detected),
        .computing = seconds(marks_[routed].at - marks_[found].at),
        .distribution = seconds(in - marks_[routed].at),
        .until_final = seconds(cycle_->ended - detected),
        .detected = seconds(detected - changed_),
        .discovery_smps = static_cast<double>(marks_[found].sent - sent_before_),
        .distribution_smps = static_cast<double>(sent - marks_[found].sent),
        .all_smps = static_cast<double>(marks_.back().sent - sent_before_)};
  }

  SimRuntime runtime_;
  SimFabric fabric_;
  SimTransport port_;
  Tap ear_;
  Duration interval_;
  std::vector<Mark> marks_;  // of the latest cycle
  std::optional<smd::CycleReport> cycle_;
  std::optional<TimePoint> noticed_;
  TimePoint changed_;
  std::uint64_t sent_before_ = 0;
  smd::SubnetManager manager_;
  std::optional<ChangeTraffic> data_;
  Duration after_;
  std::optional<Timer> provisional_;  // such routes are in: what is under way may still arrive
};

}  // namespace

Result<AssimilationCost> measure_change(const ManagedChange& change) {
  return ManagedSubnet(change).measure(change);
}

}  // namespace smd::sim
