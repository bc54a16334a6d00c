#include "smd/config/settings.h"

#include <algorithm>
#include <bit>

#include "smd/policy/partition_file.h"

namespace smd {
namespace {

/// 256 … 4096 bytes to the specification's code 1 … 5.
Mtu mtu_code(unsigned bytes) { return static_cast<Mtu>(std::bit_width(bytes) - 8); }

/// 1, 2, 4, 8, 15 VLs to the specification's code 1 … 5.
std::uint8_t vl_code(unsigned vls) {
  return static_cast<std::uint8_t>(vls == 15 ? 5 : std::bit_width(vls));
}

std::uint8_t u8(unsigned value) { return static_cast<std::uint8_t>(value); }

std::optional<std::vector<VlArbEntry>> arbitration(
    const std::optional<std::vector<VlWeight>>& weights) {
  if (!weights) return std::nullopt;
  std::vector<VlArbEntry> out;
  for (const VlWeight& each : *weights) out.push_back({.vl = each.vl, .weight = each.weight});
  return out;
}

std::vector<std::string> engines_of(ReconfigurationMode::Routes routes) {
  using enum ReconfigurationMode::Routes;
  if (routes == Fera) return {"fera"};
  if (routes == Pira) return {"pira"};
  if (routes == PiraThenFera) return {"pira", "fera"};
  return {};
}

QosTables tables(const QosTableConfig& config) {
  return {.sl_to_vl = config.sl2vl,
          .high = arbitration(config.vl_arb_high),
          .low = arbitration(config.vl_arb_low)};
}

}  // namespace

Strategy make_strategy(const ReconfigurationMode& mode, Duration drain_time) {
  Strategy out;
  out.full_sweeps = mode.discovery == ReconfigurationMode::Discovery::Full;
  out.engines = engines_of(mode.routes);
  out.planner = {.first = mode.safety, .whole_tables = mode.whole_tables};
  out.writing.drain_time = drain_time;
  if (mode.literal) {
    out.requests = RequestSet::Thesis;
    out.light_sweeps = out.full_sweeps;
    out.lids_while_sweeping = true;
    out.reread_is_change = true;
    out.roots_at_manager = true;
    out.rebalances = false;
    out.writing = kThesisWriting;
    out.leaves_out_refusing = false;
  }
  out.writing.lid_routed_activation = mode.lid_routed_activation;
  return out;
}

Settings make_settings(const Config& config) {
  Settings out;
  out.smp = {.window_min = config.smp.window_min,
             .window_start = config.smp.window_start,
             .window_max = config.smp.window_max,
             .retries = config.smp.retries,
             .timeout = std::chrono::milliseconds(config.smp.timeout_ms),
             .max_per_second = config.smp.max_per_second};
  if (config.smp.directed_only != DirectedOnly::Auto)
    out.directed_only = config.smp.directed_only == DirectedOnly::Yes;
  out.ports.mtu_max = mtu_code(config.port.mtu_max);
  out.ports.max_operational_vls = vl_code(config.port.max_operational_vls);
  out.ports.subnet_timeout = u8(config.port.subnet_timeout);
  out.ports.packet_life_time = u8(config.port.packet_life_time);
  out.ports.hoq_life = u8(config.port.hoq_life);
  out.ports.leaf_hoq_life = u8(config.port.leaf_hoq_life);
  out.ports.vl_stall_count = u8(config.port.vl_stall_count);
  out.ports.leaf_vl_stall_count = u8(config.port.leaf_vl_stall_count);
  out.ports.local_phy_errors = u8(config.port.local_phy_errors);
  out.ports.overrun_errors = u8(config.port.overrun_errors);
  out.m_keys = config.sm.m_keys;
  if (out.m_keys.empty() && config.sm.m_key != MKey{})
    out.m_keys.push_back({.seed = {}, .key = config.sm.m_key});
  out.ports.m_key = out.m_keys.empty() ? MKey{} : name_of(out.m_keys.front());
  out.ports.tries_m_keys = out.m_keys.size() > 1;
  out.ports.m_key_protect = u8(config.sm.m_key_protect);
  out.ports.m_key_lease_s = static_cast<std::uint16_t>(config.sm.m_key_lease_s);
  out.ports.subnet_prefix = config.sm.subnet_prefix;
  static_cast<QosTables&>(out.qos) = tables(config.qos);
  const QosTableConfig* kinds[] = {
      &config.qos.ca, &config.qos.rtr, &config.qos.sw0, &config.qos.swe};  // as PortKind counts
  for (std::size_t kind = 0; kind < kPortKinds; ++kind) {
    out.qos.kinds[kind] = tables(*kinds[kind]);
    const auto limit =
        kinds[kind]->vl_high_limit ? kinds[kind]->vl_high_limit : config.qos.vl_high_limit;
    if (limit) out.ports.vl_high_limit[kind] = u8(*limit);
  }
  out.qos_rules = config.qos.rules;
  if (config.partitions.rules) {
    out.partitions = PartitionPolicy{.rules = *config.partitions.rules,
                                     .enforcement = config.partitions.enforcement,
                                     .allow_both = config.partitions.allow_both};
  }
  out.lids = {.lmc = u8(config.sm.lmc),
              .lmc_enhanced_port0 = u8(config.sm.lmc_enhanced_port0),
              .min = config.sm.lid_min,
              .max = config.sm.lid_max};
  out.engine = config.sm.engine.front();
  out.next_engines.assign(config.sm.engine.begin() + 1, config.sm.engine.end());
  std::vector<Guid> roots = config.sm.roots;  // a set: files may name them in any order
  std::ranges::sort(roots);
  const auto again = std::ranges::unique(roots);
  roots.erase(again.begin(), again.end());
  out.engine_options = {.roots = std::move(roots),
                        .orientation_search = config.sm.orientation,
                        .root_choice = config.sm.root_choice,
                        .lane_cut = config.sm.lane_cut,
                        .gateways = config.sm.gateways,
                        .non_minimal = config.sm.non_minimal,
                        .path_sets = !config.sm.path_sets.empty(),
                        .auto_for = config.sm.auto_for,
                        .auto_budget_ms = config.sm.auto_budget_ms,
                        .auto_vls = config.sm.auto_vls,
                        .auto_changes = config.sm.auto_changes};
  SiteNodes site{
      .weights = config.sm.weights, .no_data = config.sm.no_data, .names = config.sm.node_names};
  if (site != SiteNodes{}) out.site_nodes = std::make_shared<const SiteNodes>(std::move(site));
  out.multicast_trees = config.sm.multicast_trees;
  out.leftovers = config.sm.leftovers;
  out.multicast_proof = config.sm.multicast_proof;
  out.strategy =
      make_strategy(parse_reconfiguration_mode(config.sm.mode).value_or(ReconfigurationMode{}),
                    std::chrono::microseconds(config.sm.drain_us));
  out.strategy.writing.optimized_sl_to_vl = config.qos.optimized_sl2vl;
  out.strategy.planner.unproved = config.sm.unproved;
  out.strategy.planner.max_steps = config.sm.plan_budget_ms * kPlanStepsPerMs;
  out.port_state_tables = config.sweep.port_state_tables == PortStateTables::Always ||
                          (config.sweep.port_state_tables == PortStateTables::Simulated &&
                           config.transport.kind == TransportKind::Sim);
  out.sweep_interval = std::chrono::seconds(config.sweep.interval_s);
  out.sweep_factor = config.sweep.factor;
  out.debounce = std::chrono::milliseconds(config.sweep.debounce_ms);
  out.debounce_max = std::chrono::milliseconds(config.sweep.debounce_max_ms);
  out.rebalance_delay = std::chrono::seconds(config.sweep.relief_s);
  out.groups = config.partitions.rules.value_or(default_partitions()).groups;
  out.election = {
      .priority = u8(config.sm.priority),
      .master_priority = u8(config.sm.master_priority),
      .sm_key = config.sm.sm_key,
      .m_key = out.ports.m_key,
      .poll_interval = std::chrono::milliseconds(config.sm.poll_interval_ms),
      .poll_retries = config.sm.poll_retries,
      .allowed = {config.sm.allowed_managers.begin(), config.sm.allowed_managers.end()}};
  out.sa_key = config.sm.sa_key;
  for (const std::string& line : config.sa.prefix_routes) {
    if (const auto route = parse_prefix_route(line)) out.prefix_routes.push_back(*route);
  }
  out.max_rate = u8(config.sa.max_rate);
  out.path_choice = config.sa.path_choice;
  out.path_margin = config.sa.path_margin;
  out.path_watch_mads_per_s = config.sa.path_watch_mads_per_s;
  out.congestion = config.congestion;
  return out;
}

}  // namespace smd
