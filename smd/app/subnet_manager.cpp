#include "smd/app/subnet_manager.h"

#include <algorithm>
#include <utility>

#include "smd/app/cycle_log.h"
#include "smd/base/log.h"
#include "smd/fabric/describe.h"
#include "smd/policy/partitions.h"
#include "smd/smp/timing.h"

namespace smd::app {
namespace {

/// Changes kept for `smctl changes`.
constexpr std::size_t kChangesKept = 100;

/// A full window of answers waits in VL15 queues of about 150 us each: an answer is not late before
/// that.
constexpr Duration kTimeoutFloor = std::chrono::milliseconds(50);

/// The first look after trouble where periodic sweeps are off.
constexpr Duration kFirstRetry = std::chrono::seconds(10);

/// Propagation and switching of one SMP over one link, from the field: 100 ns of cable, 130 ns of
/// switch.
constexpr Duration kLinkDelayPerSmp{230};

FabricCounts count(const Fabric& fabric) {
  FabricCounts counts{.switches = fabric.switch_count(), .links = fabric.link_count()};
  counts.cas = fabric.node_count() - fabric.switch_count();
  return counts;
}

bool found_something(const CycleReport& cycle, const CycleReport& before) {
  const std::uint64_t sets = cycle.configure.smps + cycle.tables.smps + cycle.activate.smps;
  return cycle.error || sets > 0 || cycle.counts != before.counts || cycle.silent != before.silent;
}

}  // namespace

std::string_view print_phase(Phase phase) {
  switch (phase) {
    case Phase::Idle:
      return "idle";
    case Phase::Discovering:
      return "discovering";
    case Phase::Routing:
      return "routing";
    case Phase::Programming:
      return "programming";
    case Phase::Up:
      return "master";
  }
  return "unknown";
}

SubnetManager::SubnetManager(
    Runtime& runtime, Transport& transport, Settings settings, LidBook book, Observer observer)
    : runtime_(runtime),
      transport_(transport),
      settings_(std::move(settings)),
      observer_(std::move(observer)),
      client_(runtime, transport, settings_.smp),
      traps_(runtime, client_, [this](TrapDesk::Batch batch) { on_traps(std::move(batch)); }),
      book_(std::move(book)),
      meter_(runtime, client_, observer_.wall) {
  traps_.adopt(settings_);
  client_.on_lost([this](const Error& error) {
    log::error(
        "transport.lost", "device={} why=\"{}\"", transport_.local_port().device, error.context);
    observer_.on_lost(error);
  });
}

void SubnetManager::start() {
  if (const auto shown = transport_.set_is_sm(true); !shown) {
    log::warn("transport.is_sm", "why=\"{}\"", shown.error().context);
  }
  begin_cycle("start");
}

void SubnetManager::adopt(Settings settings) { next_settings_ = std::move(settings); }

void SubnetManager::request_sweep(std::string reason) {
  if (phase_ != Phase::Idle && phase_ != Phase::Up) {
    if (pending_reason_.empty()) pending_reason_ = std::move(reason);
    return;
  }
  begin_cycle(std::move(reason));
}

void SubnetManager::enter(Phase phase) {
  phase_ = phase;
  observer_.on_phase(phase);
}

void SubnetManager::begin_cycle(std::string reason) {
  if (next_settings_) {
    // Kept directions outrank roots: new roots mean new directions.
    if (next_settings_->roots != settings_.roots) orientation_ = {};
    settings_ = *std::exchange(next_settings_, std::nullopt);
    traps_.adopt(settings_);
  }
  poll_timer_.reset();
  poll_.reset();
  describer_.reset();
  fdr10_.reset();
  pkeys_.reset();
  tending_ = false;
  log::info("cycle.begin", "reason=\"{}\" epoch={}", reason, next_epoch_);
  current_ = CycleReport{.reason = std::move(reason), .began = runtime_.now()};
  current_.detection = {.smps = meter_.lap().smps};
  if (settings_.literal) {
    book_.clear();
    next_literal_lid_ = settings_.lids.min.value();
  }
  enter(Phase::Discovering);
  DiscoveryOptions options{.literal = settings_.literal, .m_key = settings_.ports.m_key};
  if (settings_.literal) {
    options.set_end_port = [this](Guid guid, const PortInfo& now) {
      return literal_lid(guid, now);
    };
  }
  discovery_.emplace(client_, std::move(options), Epoch{next_epoch_++});
  discovery_->start([this](Result<SweepReport> found) {
    // The discovery is calling from one of its own handlers: leave its frame before it is
    // destroyed.
    deferred_ = Timer(runtime_, runtime_.now(), [this, found = std::move(found)]() mutable {
      discovery_.reset();
      on_discovered(std::move(found));
    });
  });
}

std::optional<PortInfo> SubnetManager::literal_lid(Guid port_guid, const PortInfo& now) {
  const Lid lid{static_cast<std::uint16_t>(next_literal_lid_++)};
  book_[port_guid] = {.base = lid};
  if (lid == settings_.lids.min) client_.set_local_lid(lid);
  PortInfo wanted = now;
  wanted.lid = lid;
  wanted.lmc = 0;
  wanted.master_sm_lid = settings_.lids.min;
  return set_body(wanted, PortState::NoChange);
}

void SubnetManager::on_discovered(Result<SweepReport> found) {
  current_.discovery = meter_.lap();
  if (!found) {
    current_.error = found.error();
    return end_cycle();
  }
  found_ = std::move(*found);
  current_.silent = found_->silent;
  current_.duplicates = found_->duplicates;
  found_->fabric = with_descriptions(*found_->fabric, descriptions_);
  current_.counts = count(*found_->fabric);
  current_.cut_off =
      found_->fabric->node_count() == 1 && !found_->fabric->is_switch(found_->fabric->sm_node);
  learn_timeout();
  compute_routes();
}

/// The waiting limit of the specification from what the ports report; never above the configured
/// limit.
void SubnetManager::learn_timeout() {
  SubnetExtent extent{.link_delay = kLinkDelayPerSmp};
  std::uint8_t resp_time_code = 0;
  for (const HopPath& path : found_->path) {
    extent.max_distance = std::max(extent.max_distance, static_cast<unsigned>(path.size()));
  }
  for (const PortInfo& info : found_->fabric->port_info) {
    resp_time_code = std::max(resp_time_code, info.resp_time_value);
  }
  extent.max_resp_time = subnet_timeout(resp_time_code);
  const Duration limit = response_timeout(compute_subnet_timeout_code(extent), resp_time_code);
  client_.set_timeout(
      std::min(std::max(limit, kTimeoutFloor), std::max(settings_.smp.timeout, kTimeoutFloor)));
}

void SubnetManager::compute_routes() {
  enter(Phase::Routing);
  auto assigned = assign_lids(*found_->fabric, book_, settings_.lids);
  if (!assigned) {
    current_.error = assigned.error();
    return end_cycle();
  }
  for (const LidConflict& conflict : assigned->conflicts) {
    log::warn("lid.conflict",
              "lid={} kept={} moved={}",
              conflict.lid,
              print_port(*found_->fabric, conflict.kept),
              print_port(*found_->fabric, conflict.moved));
  }
  current_.lid_conflicts = std::move(assigned->conflicts);
  lids_ = std::move(assigned->map);
  current_.counts.lids = static_cast<std::uint64_t>(
      std::ranges::count_if(lids_.owner, [](PortIdx p) { return p != kNone<PortIdx>; }));
  client_.set_local_lid(lids_.base[found_->fabric->sm_port]);
  if (assigned->book != book_) {
    book_ = std::move(assigned->book);
    observer_.on_lids(book_);
  }

  std::vector<Guid> roots = settings_.roots;
  if (roots.empty() && settings_.literal) {  // the thesis orients from the manager's switch
    const Fabric& fabric = *found_->fabric;
    NodeIdx root = fabric.sm_node;
    if (!fabric.is_switch(root) && fabric.peer[fabric.sm_port] != kNone<PortIdx>) {
      root = fabric.node_of[fabric.peer[fabric.sm_port]];
    }
    roots.push_back(fabric.node_guid[root]);
  }
  route_work_.offload(
      runtime_,
      [fabric = found_->fabric,
       lids = lids_,
       roots = std::move(roots),
       previous = orientation_,
       engine = settings_.engine,
       fallback = settings_.engine_fallback] {
        RoutingRequest request{.roots = roots};
        if (!previous.by_guid.empty()) request.previous = &previous;
        return compute_routed(*fabric, lids, request, engine, fallback);
      },
      [this, epoch = found_->fabric->epoch](Routed routed) {
        if (found_ && found_->fabric->epoch == epoch) on_routed(std::move(routed));
      });
}

void SubnetManager::on_routed(Routed routed) {
  if (!routed.fallback_reason.empty()) {
    log::warn("route.fallback",
              "engine={} used={} why=\"{}\"",
              settings_.engine,
              routed.tables.engine,
              routed.fallback_reason);
  }
  current_.engine = routed.tables.engine.empty() ? settings_.engine : routed.tables.engine;
  current_.routes = std::move(routed.routes);
  current_.load = routed.load;
  if (!current_.routes.acyclic)
    current_.cycle_text = print_cycle(*found_->fabric, current_.routes.cycle);
  if (routed.error) {  // nothing is written that was not verified
    current_.error = std::move(routed.error);
    return end_cycle();
  }
  orientation_ = routed.tables.orientation;
  in_force_ = InForce{
      .sweep = std::move(*found_), .lids = std::move(lids_), .routing = std::move(routed.tables)};
  found_.reset();
  program();
}

PortPolicy SubnetManager::port_policy() const {
  PortPolicy policy = settings_.ports;
  policy.master_sm_lid = in_force_->lids.base[in_force_->fabric().sm_port];
  return policy;
}

void SubnetManager::program() {
  enter(Phase::Programming);
  current_.lft_entries_changed_pct =
      changed_entries_pct(in_force_->fabric(), in_force_->routing.lft, program_state_.tables);
  current_.routing = meter_.lap();
  programmer_.emplace(runtime_, client_, program_state_, meter_);
  programmer_->start({.report = &in_force_->sweep,
                      .lids = &in_force_->lids,
                      .lft = &in_force_->routing.lft,
                      .policy = port_policy(),
                      .qos = settings_.qos},
                     [this](ProgramReport report) {
                       deferred_ = Timer(
                           runtime_, runtime_.now(), [this, report = std::move(report)]() mutable {
                             programmer_.reset();
                             on_programmed(std::move(report));
                           });
                     });
}

void SubnetManager::on_programmed(ProgramReport report) {
  current_.configure = report.configure;
  current_.tables = report.tables;
  current_.activate = report.activate;
  current_.blocks_written = report.blocks_written;
  current_.ports_down_after = report.ports_not_active;
  current_.fault_count = report.fault_count;
  current_.faults = std::move(report.faults);
  came_up_ = std::move(report.came_up);
  in_force_->sweep.fabric = with_port_info(in_force_->fabric(), std::move(report.port_info));
  end_cycle();
}

void SubnetManager::end_cycle() {
  ++cycles_;
  meter_.lap();  // what follows belongs to the detection of the next change
  current_.ended = runtime_.now();
  log_cycle(current_);
  alarms_ = alarms_of(current_);
  if (last_) {
    current_.shrank =
        current_.counts.links < last_->counts.links ||
        current_.counts.switches + current_.counts.cas < last_->counts.switches + last_->counts.cas;
  }
  retry_.on_cycle(trouble_of(current_), runtime_.now(), patience());
  if (bring_up_ && found_something(current_, *last_)) {
    changes_.push_front(current_);
    if (changes_.size() > kChangesKept) changes_.pop_back();
  } else if (!bring_up_ && !current_.error) {
    bring_up_ = current_;
  }
  last_ = current_;
  if (!current_.error) {
    traps_.set_sm_info({.guid = transport_.local_port().port_guid,
                        .sm_key = settings_.sm_key,
                        .act_count = static_cast<std::uint32_t>(cycles_),
                        .priority = settings_.sm_priority,
                        .sm_state = static_cast<std::uint8_t>(SmState::Master)});
  }
  enter(current_.error ? Phase::Idle : Phase::Up);
  observer_.on_cycle(*last_);
  if (!pending_reason_.empty()) return begin_cycle(std::exchange(pending_reason_, {}));
  if (!current_.error) tend();
  arm_poll();
}

/// What can wait until the subnet works: leftovers in P_Key tables, then the names of the nodes.
void SubnetManager::tend() {
  tending_ = true;
  pkeys_.emplace(client_, settings_.ports.m_key);
  const Fabric& fabric = in_force_->fabric();
  std::vector<TableCheck> checks = build_default_pkey_checks(fabric);
  // Once for everybody, then only for ports that came up since.
  std::erase_if(checks, [&](const TableCheck& check) {
    return pkeys_checked_ && !std::ranges::binary_search(came_up_, check.port);
  });
  pkeys_->start(in_force_->sweep, std::move(checks), [this](AuditReport audit) {
    pkeys_checked_ = true;
    for (const ProgramFault& fault : audit.faults) {
      log::warn("pkey.audit", "node={} port={} what=\"{}\"", fault.node, fault.port, fault.what);
    }
    if (audit.repaired > 0)
      log::info("pkey.audit", "repaired={} of={}", audit.repaired, audit.looked_at);
    fetch_descriptions();
  });
}

void SubnetManager::fetch_descriptions() {
  describer_.emplace(client_, settings_.ports.m_key);
  describer_->start(in_force_->sweep, [this](std::map<Guid, std::string> found) {
    for (auto& [guid, text] : found) descriptions_[guid] = std::move(text);
    if (!found.empty())
      in_force_->sweep.fabric = with_descriptions(in_force_->fabric(), descriptions_);
    fetch_fdr10();
  });
}

void SubnetManager::fetch_fdr10() {
  const auto every_port = in_force_->fabric().peer.indices();
  fdr10_.emplace(client_, settings_.ports.m_key);
  fdr10_->start(
      in_force_->sweep, {every_port.begin(), every_port.end()}, [this](std::vector<PortIdx> found) {
        if (!found.empty())
          in_force_->sweep.fabric = with_fdr10(in_force_->fabric(), std::move(found));
        tending_ = false;
        meter_.lap();
      });
}

void SubnetManager::on_traps(TrapDesk::Batch batch) {
  for (Lid lid : batch.redescribed) {
    if (!in_force_) break;
    const PortIdx port = in_force_->lids.owner_of(lid);
    if (port != kNone<PortIdx>)
      descriptions_.erase(in_force_->fabric().node_guid[in_force_->fabric().node_of[port]]);
  }
  request_sweep(std::move(batch.reason));
}

/// The time between two looks; also the first wait after trouble, for which "never" is no answer.
Duration SubnetManager::patience() const {
  return settings_.sweep_interval == Duration{0} ? kFirstRetry : settings_.sweep_interval;
}

void SubnetManager::arm_poll() {
  if (settings_.sweep_interval != Duration{0}) {
    poll_timer_ = Timer(runtime_, runtime_.now() + settings_.sweep_interval, [this] { poll(); });
  } else if (!retry_.trouble().empty()) {
    poll_timer_ = Timer(runtime_, runtime_.now() + retry_.wait(), [this] { poll(); });
  }
}

void SubnetManager::poll() {
  if (retry_.due(runtime_.now())) return begin_cycle("retry: " + retry_.trouble());
  // Without a switch nobody reports a change, and looking at everything costs next to nothing.
  if (last_->counts.switches == 0) return begin_cycle("sweep");
  if (phase_ == Phase::Idle) return arm_poll();
  poll_.emplace(client_, settings_.ports.m_key);
  poll_->start(in_force_->fabric(), in_force_->lids, [this](PollReport report) {
    on_poll(std::move(report));
  });
}

void SubnetManager::on_poll(PollReport report) {
  if (report.quiet()) return arm_poll();
  const NodeIdx node = report.changed.empty() ? report.silent.front() : report.changed.front();
  std::string reason = fmt::format("sweep: {} {}",
                                   in_force_->fabric().node_guid[node],
                                   report.changed.empty() ? "is silent" : "reports a change");
  deferred_ = Timer(
      runtime_, runtime_.now(), [this, reason = std::move(reason)] { request_sweep(reason); });
}

}  // namespace smd::app
