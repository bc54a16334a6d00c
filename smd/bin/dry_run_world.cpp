#include "smd/bin/dry_run_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/base/progress.h"
#include "smd/report/dump.h"
#include "smd/subnet/cycle_report.h"

namespace smd::bin {
namespace {

/// Virtual time after which something that does not settle is reported as such.
constexpr Duration kPatience = std::chrono::minutes(30);

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

Parsed<Failure> parse_failure(const sim::FabricSpec& spec, const std::string& text) {
  if (const auto node = sim::find_node(spec, text); node != sim::kNoNode)
    return Failure{text, node, std::nullopt};
  const auto colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool number = !digits.empty() && digits.size() <= 3 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  const std::string name = number ? text.substr(0, colon) : text;
  const auto node = sim::find_node(spec, name);
  if (node == sim::kNoNode) {
    return fault(
        "--fail " + text,
        0,
        fmt::format(
            "no single node is called '{}'; a node description, id or GUID of the fabric would be",
            name));
  }
  const auto port = static_cast<unsigned>(std::stoul(digits));
  const sim::NodeSpec& at = spec.nodes[node];
  if (port < 1 || port > at.num_ports()) {
    return fault("--fail " + text, 0, fmt::format("'{}' has ports 1 to {}", name, at.num_ports()));
  }
  if (at.ports[port].peer_node == sim::kNoNode) {
    return fault("--fail " + text, 0, fmt::format("port {} of '{}' has no cable", port, name));
  }
  return Failure{text, node, PortNum{static_cast<std::uint8_t>(port)}};
}

/// What SMPs can reach from the manager's port, by node.
std::vector<bool> find_cabled(const sim::SimFabric& fabric) {
  const sim::FabricSpec& spec = fabric.spec();
  std::vector<bool> out(spec.nodes.size());
  std::vector<std::uint32_t> to_do{spec.sm_node};
  out[spec.sm_node] = true;
  while (!to_do.empty()) {
    const std::uint32_t node = to_do.back();
    to_do.pop_back();
    const bool is_switch = spec.nodes[node].type == NodeType::Switch;
    if (!is_switch && node != spec.sm_node) continue;  // adapters forward nothing
    for (unsigned i = 1; i <= spec.nodes[node].num_ports(); ++i) {
      const PortNum port{static_cast<std::uint8_t>(i)};
      if (!is_switch && port != spec.sm_port) continue;
      const std::uint32_t peer = spec.nodes[node].ports[i].peer_node;
      if (peer == sim::kNoNode || out[peer] || !fabric.link_up(node, port)) continue;
      out[peer] = true;
      to_do.push_back(peer);
    }
  }
  return out;
}

std::string name_of(const sim::NodeSpec& node) {
  return node.description.empty() ? node.id : node.description;
}

bool takes_down(const sim::FabricSpec& spec, const Failure& earlier, const Failure& failure) {
  if (!failure.port) return !earlier.port && earlier.node == failure.node;
  const sim::PortSpec& cable = spec.nodes[failure.node].ports[failure.port->value()];
  if (!earlier.port) return earlier.node == failure.node || earlier.node == cable.peer_node;
  return (earlier.node == failure.node && earlier.port == failure.port) ||
         (earlier.node == cable.peer_node && earlier.port == cable.peer_port);
}

void take_down(const Failure& failure, sim::SimFabric& fabric) {
  if (failure.port) {
    fabric.set_link(failure.node, *failure.port, false);
  } else {
    fabric.set_node(failure.node, false);
  }
}

}  // namespace

Parsed<std::vector<Failure>> parse_failures(const sim::FabricSpec& spec,
                                            const std::vector<std::string>& texts) {
  std::vector<Failure> out;
  for (const std::string& text : texts) {
    auto failure = parse_failure(spec, text);
    if (!failure) return tl::unexpected(std::move(failure.error()));
    for (const Failure& earlier : out) {
      if (takes_down(spec, earlier, *failure))
        return fault(
            "--fail " + text, 0, fmt::format("is down already, by --fail {}", earlier.text));
    }
    out.push_back(std::move(*failure));
  }
  return out;
}

DryRunWorld::DryRunWorld(sim::FabricSpec spec,
                         const sim::Timing& timing,
                         const Settings& settings,
                         const DryRunOptions& options)
    : subnet_(std::move(spec),
              {.timing = timing,
               .faults = {.drop = options.drop},
               .seed = options.seed,
               .settings = settings,
               .on_phase =
                   [this](smd::Phase phase) {
                     progress::begin(print_phase(phase), "MADs");
                     mads_before_step_ = subnet_.fabric.stats().injected;
                   },
               .on_plan =
                   [this, dumps = !options.dump.empty()](const Fabric& fabric,
                                                         const TransitionPlan& plan) {
                     if (dumps) plans_ += print_transition(fabric, plan);
                   },
               .wall =
                   [] {
                     return std::chrono::duration_cast<Duration>(
                         std::chrono::steady_clock::now().time_since_epoch());
                   }}) {}

const CycleReport& DryRunWorld::bring_up() {
  subnet_.manager.start();
  settle(0);
  return *subnet_.manager.last_cycle();
}

void DryRunWorld::watch_service() { timeline_.emplace(subnet_.runtime, subnet_.fabric); }

CycleReport DryRunWorld::fail(const Failure& failure) {
  subnet_.reports.clear();
  plans_.clear();
  const std::uint64_t before = subnet_.manager.cycles();
  adapters_before_.clear();
  failed_node_ = failure.port ? sim::kNoNode : failure.node;
  const std::vector<sim::NodeSpec>& nodes = subnet_.fabric.spec().nodes;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node].type != NodeType::Ca || in_force() == nullptr || !has(node)) continue;
    const Fabric& before_it = in_force()->fabric();
    // Those are a part of their switch.
    if (!is_aggregation_node(before_it, *before_it.find_node(nodes[node].guid)))
      adapters_before_.push_back(node);
  }
  failed_at_ = subnet_.runtime.now();
  congestion_before_ = subnet_.cc_manager.stats();
  if (timeline_) timeline_->restart();
  take_down(failure, subnet_.fabric);
  settle(before);
  if (subnet_.reports.empty()) {
    CycleReport nothing{.counts = subnet_.manager.last_cycle()->counts};
    nothing.error = Error{Errc::Timeout, "the change was not noticed"};
    return nothing;
  }
  CycleReport change = sum_cycles(subnet_.reports);
  change.detection.time = change.began - failed_at_;
  return change;
}

bool DryRunWorld::is_cut_off(const Failure& failure) const {
  return !find_cabled(subnet_.fabric)[failure.node];
}

void DryRunWorld::fail_unnoticed(const Failure& failure) { take_down(failure, subnet_.fabric); }

std::optional<ServiceReport> DryRunWorld::service() const {
  if (!timeline_) return std::nullopt;
  ServiceReport out{.highest_deadlock = timeline_->highest_deadlock(),
                    .forwarding_loop = timeline_->first_loop().has_value()};
  const auto& samples = timeline_->samples();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const TimePoint end = i + 1 < samples.size() ? samples[i + 1].at : subnet_.runtime.now();
    const sim::Connectivity& pairs = samples[i].connectivity;
    out.lowest_connectivity = std::min(out.lowest_connectivity, pairs.level());
    if (pairs.connected < pairs.possible) out.below_possible += end - samples[i].at;
  }
  return out;
}

/// What it knew of the others it keeps where it sees nobody.
bool DryRunWorld::has(std::uint32_t node) const {
  if (subnet_.manager.last_cycle()->cut_off) return node == subnet_.fabric.spec().sm_node;
  return in_force() != nullptr &&
         in_force()->fabric().find_node(subnet_.fabric.spec().nodes[node].guid).has_value();
}

std::vector<std::string> DryRunWorld::not_found() const {
  std::vector<std::string> out;
  const std::vector<bool> cabled = find_cabled(subnet_.fabric);
  for (std::uint32_t node = 0; node < cabled.size(); ++node)
    if (cabled[node] && !has(node)) out.push_back(name_of(subnet_.fabric.spec().nodes[node]));
  return out;
}

std::vector<std::string> DryRunWorld::cut_off() const {
  std::vector<std::string> out;
  for (const std::uint32_t node : adapters_before_)
    if (node != failed_node_ && !has(node))
      out.push_back(name_of(subnet_.fabric.spec().nodes[node]));
  return out;
}

CongestionCost DryRunWorld::congestion_cost() const {
  return {.gets = subnet_.cc_manager.stats().gets - congestion_before_.gets,
          .sets = subnet_.cc_manager.stats().sets - congestion_before_.sets};
}

std::string DryRunWorld::print_timeline() const {
  std::string out = "virtual_ms,connected,possible,deadlock_level\n";
  if (!timeline_) return out;
  for (const sim::TimelineSample& sample : timeline_->samples()) {
    out += fmt::format("{:.6f},{},{},{:.6f}\n",
                       milliseconds(sample.at - failed_at_),
                       sample.connectivity.connected,
                       sample.connectivity.possible,
                       sample.deadlock.level());
  }
  return out;
}

/// Until a cycle after the first `cycles` has ended and nothing more is asked for.
void DryRunWorld::settle(std::uint64_t cycles) {
  subnet_.run_until(
      [&] {
        progress::set(static_cast<double>(subnet_.fabric.stats().injected - mads_before_step_));
        return subnet_.manager.cycles() > cycles && subnet_.at_rest();
      },
      kPatience);
}

}  // namespace smd::bin
