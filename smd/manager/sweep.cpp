// One sweep: from a trigger to the fabric as it is.
#include "smd/manager/sweep.h"

#include <algorithm>
#include <utility>

#include "smd/manager/cycle_log.h"
#include "smd/smp/smp_client.h"

namespace smd {

namespace {

/// A full window of answers waits in VL15 queues of about 150 us each: an answer is not late before
/// that.
constexpr Duration kTimeoutFloor = std::chrono::milliseconds(50);

/// Propagation and switching of one SMP over one link, from the field: 100 ns of cable, 130 ns of
/// switch.
constexpr Duration kLinkDelayPerSmp{230};

/// Full sweeps again at new silence within one cycle.
constexpr unsigned kMostRepeats = 3;

/// What was read again is as it was, and as it should be: every linked port that has its LIDs is
/// Active. Requires: nodes and cables are the same.
bool same_registers(const Fabric& a, const Fabric& b, const LidMap& lids) {
  if (a.port_count() != b.port_count() || a.switch_count() != b.switch_count()) return false;
  const auto plain = [](PortInfo info) {
    info.client_reregister = false;  // shows in the answer to a Set alone
    info.m_key_violations = info.p_key_violations = info.q_key_violations = 0;
    return info;
  };
  for (const PortIdx port : a.port_info.indices()) {
    if (plain(a.port_info[port]) != plain(b.port_info[port])) return false;
    if (is_to_be_active(b, lids, port) && b.port_info[port].state() < PortState::Active)
      return false;
  }
  for (const SwitchIdx sw : a.switch_info.indices()) {
    SwitchInfo here = a.switch_info[sw];
    here.port_state_change = b.switch_info[sw].port_state_change;
    if (here != b.switch_info[sw]) return false;
  }
  return true;
}

}  // namespace

SweepTrigger SweepTrigger::of_light_sweep(const std::string& reason,
                                          const LightSweepReport& found,
                                          const Fabric& in_force) {
  SweepTrigger why;
  for (const auto* list : {&found.changed, &found.silent}) {
    for (const NodeIdx node : *list) why.switches.push_back(in_force.node_guid[node]);
  }
  for (const PortIdx port : found.speaking)
    why.ports.push_back({in_force.node_guid[in_force.node_of[port]], in_force.number_of(port)});
  if (!why.switches.empty()) {
    why.reason = fmt::format("{}: {} {}",
                             reason,
                             why.switches.front(),
                             found.changed.empty() ? "is silent" : "reports a change");
  } else if (!why.ports.empty()) {
    why.reason = fmt::format("{}: somebody answers at {} port {}",
                             reason,
                             why.ports.front().node,
                             why.ports.front().port);
  }
  return why;
}

std::vector<ManagerAddress> find_other_managers(const SweepReport& found) {
  const Fabric& fabric = *found.fabric;
  std::vector<ManagerAddress> managers;
  for (const PortIdx port : fabric.peer.indices()) {
    const std::uint32_t can = fabric.port_info[port].capability_mask;
    if (!fabric.is_end_port(port) || port == fabric.sm_port || (can & port_cap::kIsSm) == 0 ||
        (can & port_cap::kIsSmDisabled) != 0)
      continue;
    managers.push_back({.guid = fabric.port_guid[port],
                        .route = SmpRoute::directed(path_to(found, port)),
                        .lid = fabric.port_info[port].lid});
  }
  return managers;
}

FabricCounts count(const Fabric& fabric) {
  FabricCounts counts{.switches = fabric.switch_count(), .links = fabric.link_count()};
  counts.cas = fabric.node_count() - fabric.switch_count();
  counts.no_data = count_no_data(fabric);
  return counts;
}

Duration answer_timeout(const SweepReport& found, Duration limit) {
  SubnetExtent extent{.link_delay = kLinkDelayPerSmp};
  std::uint8_t resp_time_code = 0;
  for (const HopPath& path : *found.path)
    extent.max_distance = std::max(extent.max_distance, static_cast<unsigned>(path.size()));
  for (const PortInfo& info : found.fabric->port_info)
    resp_time_code = std::max(resp_time_code, info.resp_time_value);
  extent.max_resp_time = subnet_timeout(resp_time_code);
  const Duration specified = response_timeout(compute_subnet_timeout_code(extent), resp_time_code);
  return std::min(std::max(specified, kTimeoutFloor), std::max(limit, kTimeoutFloor));
}

std::string print_silence(std::size_t ports) {
  return fmt::format("{} ports lead to silence", ports);
}

Sweep::Sweep(Runtime& runtime,
             SmpClient& client,
             const Settings& settings,
             ManagerState& state,
             bool read_only)
    : runtime_(runtime),
      client_(client),
      settings_(settings),
      state_(state),
      read_only_(read_only) {}

void Sweep::start(SweepTrigger why, Done done) {
  done_ = std::move(done);
  rebalance_ = why.rebalance;
  opens_ = why.opens;
  rules_ = why.rules;
  if ((rebalance_ || opens_) && state_.stale.empty()) return discover_partially({}, {});
  if (settings_.strategy.full_sweeps) return discover_fully("");
  if (!state_.stale.empty()) return discover_fully(state_.stale);
  if (!why.full.empty()) return discover_fully(std::move(why.full));
  discover_partially(std::move(why.switches), std::move(why.ports));
}

void Sweep::discover_fully(std::string why) {
  result_.partial = false;
  result_.delta.reset();
  result_.full_why = std::move(why);
  state_.stale = "the cycle before did not end";
  // Nothing is numbered anew for what our own deactivation of ports caused: numbers change with the
  // order of answers, tables with the numbers, and the tables would be written, with ports
  // deactivated, without end.
  if (settings_.strategy.lids_while_sweeping && runtime_.now() >= state_.self_inflicted_traps_until)
    state_.book.clear();
  DiscoveryOptions options = discovery_options(settings_.lids.min.value());
  options.read_only = read_only_;
  discovery_.emplace(client_, std::move(options), Epoch{state_.next_epoch++});
  discovery_->start([this](Result<SweepReport> found) {
    deferred_ = leave(runtime_, discovery_, [this, found = std::move(found)]() mutable {
      on_found(std::move(found));
    });
  });
}

void Sweep::discover_partially(std::vector<Guid> switches, std::vector<PortRef> ports) {
  const ActiveSubnet& now = *state_.in_force;
  result_.partial = true;
  state_.stale = "the cycle before did not end";
  partial_.emplace(
      client_, discovery_options(now.lids->top.value() + 1u), Epoch{state_.next_epoch++});
  partial_->start({.sweep = &now.sweep,
                   .lids = &*now.lids,
                   .lft = &now.routing->lft,
                   .came_up = &state_.came_up,
                   .left_raised = &state_.left_raised},
                  std::move(switches),
                  std::move(ports),
                  [this](Result<PartialReport> found) {
                    deferred_ =
                        leave(runtime_, partial_, [this, found = std::move(found)]() mutable {
                          on_partially_found(std::move(found));
                        });
                  });
}

DiscoveryOptions Sweep::discovery_options(unsigned next_lid) {
  DiscoveryOptions options{.requests = settings_.strategy.requests, .m_key = settings_.ports.m_key};
  options.port_state_tables = settings_.port_state_tables;
  if (settings_.strategy.lids_while_sweeping) {
    next_lid_ = next_lid;
    options.set_end_port = [this](Guid guid, const PortInfo& now) { return with_lid(guid, now); };
  }
  return options;
}

/// The LID that the port had, or the next that is free; the manager's own is the first of all.
PortInfo Sweep::with_lid(Guid guid, PortInfo port) {
  const auto known = state_.book.find(guid);
  port.lid = known != state_.book.end() ? known->second.base
                                        : Lid{static_cast<std::uint16_t>(next_lid_++)};
  port.lmc = 0;
  port.master_sm_lid = settings_.lids.min;
  state_.book[guid] = {.base = port.lid};
  if (port.lid == settings_.lids.min) client_.set_local_lid(port.lid);
  return set_body(port, PortState::NoChange);
}

void Sweep::on_partially_found(Result<PartialReport> found) {
  if (!found) return on_found(tl::unexpected<Error>(found.error()));
  if (!found->full_needed.empty()) return discover_fully(std::move(found->full_needed));
  const bool leaves_out = std::ranges::any_of(state_.in_force->sweep.silent, &SilentPort::left_out);
  if (leaves_out && found->sweep.fabric->switch_count() < state_.in_force->fabric().switch_count())
    return discover_fully("switches may be reached through what was left out");
  std::erase_if(state_.came_up, [&](const PortRef& port) {
    return std::ranges::binary_search(found->reread, port.node);
  });
  state_.program.doubtful.insert(found->doubtful.begin(), found->doubtful.end());
  const bool nothing_new =
      found->delta.empty() && found->look_again.empty() && found->doubtful.empty() &&
      (found->reread.empty() ||
       (!settings_.strategy.reread_is_change &&
        found->sweep.silent == state_.in_force->sweep.silent &&
        same_registers(*found->sweep.fabric, state_.in_force->fabric(), state_.in_force->lids)));
  if (nothing_new && (rebalance_ || opens_)) {
    result_.rebalance = rebalance_;
    result_.opens = opens_;
    return on_found(std::move(found->sweep));
  }
  if (nothing_new && rules_) return on_found(std::move(found->sweep));
  if (nothing_new) {
    state_.stale.clear();
    state_.left_raised.clear();
    result_.quiet = true;
    return end();
  }
  result_.delta = std::move(found->delta);
  result_.resweep = std::move(found->look_again);
  for (const Guid restarted : result_.delta->restarted) {
    state_.program.forget(restarted);
    state_.program.multicast.forget(restarted);
  }
  on_found(std::move(found->sweep));
}

/// What was left out is known, and a discovery that passes it by says nothing of it.
std::vector<SilentPort> without_left_out(std::vector<SilentPort> silent) {
  std::erase_if(silent, [](const SilentPort& each) { return each.left_out; });
  return silent;
}

/// A switch that was lost on the way, but lives, still forwards by its old entries. None is behind
/// new silence while all are there, but for those that were lost before: behind a port that led to
/// one.
bool Sweep::may_hide_a_switch(const std::vector<SilentPort>& silent) const {
  if (!state_.with_lost) return false;
  std::vector<SilentPort> fresh = silent;
  std::erase_if(
      fresh, [&](const SilentPort& each) { return std::ranges::count(state_.silence, each) != 0; });
  if (fresh.empty()) return false;
  const auto is_lost = [&](const Fabric& before, NodeIdx node) {
    return before.is_switch(node) && !result_.sweep.fabric->find_node(before.node_guid[node]);
  };
  const Fabric& earlier = state_.with_lost->fabric();
  const Fabric& before = state_.in_force ? state_.in_force->fabric() : earlier;
  if (std::ranges::any_of(before.switch_node, [&](NodeIdx node) { return is_lost(before, node); }))
    return true;
  return std::ranges::any_of(fresh, [&](const SilentPort& each) {
    const auto node = earlier.find_node(each.node);
    if (!node || each.port.value() > earlier.num_ports(*node)) return false;
    const PortIdx peer = earlier.peer[earlier.port_of(*node, each.port)];
    return peer != kNone<PortIdx> && is_lost(earlier, earlier.node_of[peer]);
  });
}

/// While anything carries data, silence that may be a switch's is believed only once it stays.
void Sweep::on_found(Result<SweepReport> found) {
  if (!found) {
    result_.error = found.error();
    return end();
  }
  if (!result_.partial) state_.came_up.clear();  // it asked everybody
  state_.left_raised.clear();
  result_.sweep = std::move(*found);
  std::vector<SilentPort> silent = without_left_out(result_.sweep.silent);
  result_.new_silence = may_hide_a_switch(silent);
  if (result_.new_silence && repeats_++ < kMostRepeats) {
    const std::size_t ports = silent.size();
    state_.silence = std::move(silent);
    return discover_fully(print_silence(ports));
  }
  end();
}

void Sweep::end() { std::exchange(done_, nullptr)(std::move(result_)); }

}  // namespace smd
