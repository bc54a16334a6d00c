// Groups, their trees and entries; whether trees and unicast routes are free of credit loops.
#include "smd/manager/multicast_manager.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/multicast/check_tree.h"
#include "smd/multicast/group.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/vl_flow.h"

namespace smd {

namespace {

void add_unicast_lanes(const ActiveSubnet& in_force, VlFlow& flow, ChannelGraph& graph) {
  Walk walk(in_force.fabric(), in_force.routing->lft);
  for (unsigned value = 1; value <= in_force.lids->top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const PortIdx owner = in_force.lids->owner_of(lid);
    if (owner == kNone<PortIdx>) continue;
    walk.follow(lid, owner);
    flow.follow(lid, walk);
  }
  flow.add_to(graph);
}

/// Eight blocks: what the loop does at a time stays short, however many groups a change touches.
constexpr std::size_t kMlidsPerRound = 8 * kMftBlockSize;

/// It takes a worker that routes may need, so not while much is changing.
constexpr Duration kDeadlockCheckDelay = std::chrono::seconds(5);

/// Of a crowd of hosts that join one after the other, so many go into one round.
constexpr Duration kBetweenRounds = std::chrono::milliseconds(2);

std::optional<std::uint8_t> sl_of(const std::optional<MulticastVl>& vl) {
  return vl ? std::optional(vl->sl) : std::nullopt;
}

constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLastRetry = std::chrono::seconds(60);

}  // namespace

MulticastVerdict check_multicast_deadlock(const ActiveSubnet& in_force,
                                          const std::vector<TreesOfSl>& trees) {
  const RoutingTables& routing = in_force.routing;
  const auto verdict = [&](const ChannelGraph& graph) {
    const std::vector<ChannelStep> cycle = graph.find_cycle();
    return MulticastVerdict{
        .acyclic = cycle.empty(),
        .cycle = cycle.empty() ? std::string() : print_cycle(in_force.fabric(), cycle)};
  };
  if (in_force.multicast_vl) {
    ChannelGraph graph(in_force.fabric(), 1);
    for (const TreesOfSl& tree : trees) add_tree_turns(in_force.fabric(), tree.masks, 0, graph);
    return verdict(graph);
  }
  if (!routing.sl_to_vl.empty()) return {};
  const unsigned vls = std::max(1u, routing.vls);
  VlFlow flow(in_force.fabric(), routing, nullptr, false);
  ChannelGraph graph(in_force.fabric(), vls == 1 ? 1 : std::max(vls, flow.vls()));
  if (vls == 1) {
    add_table_turns(in_force.fabric(), in_force.lids, routing.lft, graph);
  } else {
    add_unicast_lanes(in_force, flow, graph);
  }
  for (const TreesOfSl& tree : trees)
    add_tree_turns(in_force.fabric(), tree.masks, tree.sl % vls, graph);
  return verdict(graph);
}

void MulticastManager::stop() {
  restored_ = to_restore();
  for (Timer* timer :
       {&round_timer_, &retry_, &deadlock_timer_, &writer_ended_, &reregistration_ended_})
    timer->reset();
  writer_.reset();
  reregistration_.reset();
  round_scheduled_ = deadlock_check_due_ = false;
  stats_.acyclic = true;
  stats_.vl.reset();
  stats_.vl_refused.clear();
  backoff_ = Duration{0};
  masks_.clear();
  pending_.clear();
  failed_.clear();
  stranded_.clear();
  forest_ = {};
  ranks_ = {};
  realm_.reset();
  now_.reset();
}

void MulticastManager::adopt(std::shared_ptr<const ActiveSubnet> now, const Settings& settings) {
  const bool first = now_ == nullptr;
  if (!first && now->has_routes_of(*now_)) {
    now_ = std::move(now);
    return;
  }
  const auto vl_before = std::exchange(stats_.vl, now->multicast_vl);
  now_ = std::move(now);
  m_key_ = settings.ports.m_key;
  const std::optional<SnapshotLimits> realm_before = std::move(realm_);
  realm_.emplace(SnapshotLimits::Parts{.fabric = now_->sweep.fabric,
                                       .lids = now_->lids.share(),
                                       .partitions = partition_facts(),
                                       .subnet_prefix = settings.ports.subnet_prefix,
                                       .life_time = settings.ports.subnet_timeout,
                                       .multicast_sl = sl_of(now_->multicast_vl)},
                 realm_before ? &*realm_before : nullptr);
  if (first) groups_.restore(*realm_, std::exchange(restored_, {}));
  for (const PreconfiguredGroup& wish : groups_.keep(*realm_, settings.groups))
    log::warn("multicast.no_mlid", "group={} partition={}", print_gid(wish.mgid), wish.partition);
  // Whose P_Key was taken away can neither send to the group nor receive what is sent to it.
  groups_.drop([this](Guid port, const Group& group) {
    return realm_->port_of(port) == kNone<PortIdx> ||
           !realm_->in_partition(port, group.traits.p_key);
  });
  ranks_ = choose_ranks(now_->fabric(), now_->lids, now_->routing, ranks_.kept);
  forest_.adopt(now_->sweep.fabric, ranks_.rank);
  choose_shape(settings.multicast_trees);
  for (const auto& [mlid, masks] : masks_) pending_.insert(mlid);
  schedule_deadlock_check();
  note_change();
  if (!first && sl_of(vl_before) != sl_of(now_->multicast_vl)) ask_members_to_reregister();
}

/// Groups have another SL, which a member asks for when it registers again.
void MulticastManager::ask_members_to_reregister() {
  const Fabric& fabric = now_->fabric();
  std::set<Guid> members;
  for (const auto& [mgid, group] : groups_.groups()) {
    for (const auto& [port, member] : group.members) members.insert(port);
  }
  std::vector<PortIdx> ports = find_ports_that_name(fabric, now_->lids->base[fabric.sm_port]);
  std::erase_if(ports, [&](PortIdx port) { return !members.contains(fabric.port_guid[port]); });
  if (ports.empty()) return;
  log::info("multicast.reregister", "ports={}", ports.size());
  meter_.leave_out(ports.size());
  reregistration_.emplace(client_, m_key_);
  reregistration_->start(now_->sweep, std::move(ports), [this, held = now_] {
    reregistration_ended_ = leave(runtime_, reregistration_, [] {});
  });
}

/// Where it cannot be had: up and down.
void MulticastManager::choose_shape(TreeShape wanted) {
  by_labels_ = wanted != TreeShape::UpDown && paths_.adopt(now_->sweep.fabric, wanted);
  std::string why = wanted == TreeShape::UpDown ? std::string() : paths_.refusal();
  if (!why.empty() && why != stats_.shape_refused)
    log::warn("multicast.shape", "why=\"{}\"; trees lead up and down", why);
  stats_.shape_refused = std::move(why);
}

PartitionFacts MulticastManager::partition_facts() const {
  if (!now_->partitions) return PartitionFacts::only_default();
  return {.in_partition =
              [this](Guid port, PKey p_key) {
                const PortIdx at = realm_->port_of(port);
                return at != kNone<PortIdx> &&
                       std::ranges::any_of(now_->partitions->map[at].keys,
                                           [&](PKey key) { return same_partition(key, p_key); });
              },
          .share_partition =
              [this](Guid a, Guid b) {
                const PortIdx one = realm_->port_of(a);
                const PortIdx other = realm_->port_of(b);
                return one != kNone<PortIdx> && other != kNone<PortIdx> &&
                       share_partition(now_->partitions->map, one, other);
              }};
}

void MulticastManager::note_change() {
  const std::vector<GroupChange> changes = groups_.take_changes();
  for (const GroupChange& each : changes) {
    log::debug(
        each.created ? "multicast.created" : "multicast.deleted", "group={}", print_gid(each.mgid));
  }
  if (on_change_) on_change_(changes);
  schedule_round();
}

void MulticastManager::schedule_round() {
  if (std::exchange(round_scheduled_, true)) return;
  round_timer_ = Timer(runtime_, std::max(runtime_.now(), next_round_), [this] {
    round_scheduled_ = false;
    begin_round();
  });
}

std::vector<TreeMember> MulticastManager::members_of(Lid mlid) const {
  std::vector<TreeMember> members;
  for (const MlidMember& member : groups_.members_of(mlid)) {
    const PortIdx port = realm_->port_of(member.port);
    if (port != kNone<PortIdx>) members.push_back({port, member.receives});
  }
  std::ranges::sort(members, {}, &TreeMember::port);
  return members;
}

/// The masks that shall be held; nothing where they are not as they should be.
std::optional<std::vector<SwitchMask>> MulticastManager::grow(Lid mlid) {
  std::vector<TreeMember> members = members_of(mlid);
  stranded_.erase(mlid);
  if (members.empty()) {
    forest_.erase(mlid);
    paths_.erase(mlid);
    return std::vector<SwitchMask>{};
  }
  const Tree& tree = by_labels_ ? paths_.update(mlid, members) : forest_.update(mlid, members);
  if (!tree.stranded.empty()) {
    stranded_[mlid] = tree.stranded.size();
    std::erase_if(members, [&](const TreeMember& member) {
      return std::ranges::binary_search(tree.stranded, member.port);
    });
  }
  std::vector<SwitchMask> masks = compute_masks(now_->fabric(), tree, members);
  std::string fault = find_tree_fault(now_->fabric(), masks, members);
  const auto& rank = by_labels_ ? paths_.labels() : ranks_.rank;
  if (fault.empty() && turns_up(now_->fabric(), masks, rank)) fault = "packets turn up again";
  if (!fault.empty()) {
    log::error("multicast.tree", "mlid=0x{:04x} what=\"{}\"; not written", mlid.value(), fault);
    return std::nullopt;
  }
  return masks;
}

void MulticastManager::begin_round() {
  if (writer_ || !now_) return;
  for (const Lid mlid : groups_.take_touched()) pending_.insert(mlid);
  if (pending_.empty()) return;
  pending_.merge(failed_);
  failed_.clear();
  MftGoals goals;
  while (!pending_.empty() && goals.size() < kMlidsPerRound) {
    const Lid mlid = *pending_.begin();
    pending_.erase(pending_.begin());
    auto masks = grow(mlid);
    if (!masks) continue;
    if (masks->empty()) {
      masks_.erase(mlid);
    } else {
      masks_[mlid] = *masks;
    }
    goals.emplace(mlid, std::move(*masks));
  }
  stats_.stranded = 0;
  for (const auto& [mlid, count] : stranded_) stats_.stranded += count;
  ++stats_.rounds;
  if (by_labels_ || !ranks_.of_unicast) schedule_deadlock_check();
  writer_ = std::make_unique<MftWriter>(client_, memory_, m_key_);
  writer_->start({now_, &now_->sweep}, std::move(goals), [this](MftReport report) {
    writer_ended_ =
        leave(runtime_, writer_, [this, report = std::move(report)] { on_written(report); });
  });
}

void MulticastManager::on_written(const MftReport& report) {
  next_round_ = runtime_.now() + kBetweenRounds;
  meter_.leave_out(report.smps);
  stats_.blocks_read += report.blocks_read;
  stats_.blocks_written += report.blocks_written;
  stats_.faults += report.faults.size();
  failed_.insert(report.unmet.begin(), report.unmet.end());
  stats_.unmet = failed_.size();
  if (failed_.empty()) {
    backoff_ = Duration{0};
    retry_.reset();
  } else {
    backoff_ = std::clamp(2 * backoff_, kFirstRetry, kLastRetry);
    const ProgramFault fault = report.faults.empty() ? ProgramFault{} : report.faults.front();
    log::warn("multicast.unconfirmed",
              "mlids={} node={} what=\"{}\" retry_in={}s",
              failed_.size(),
              fault.node,
              fault.what,
              std::chrono::duration_cast<std::chrono::seconds>(backoff_).count());
    retry_ = Timer(runtime_, runtime_.now() + backoff_, [this] {
      pending_.merge(failed_);
      failed_.clear();
      schedule_round();
    });
  }
  schedule_round();
}

/// Trees along the directions of unicast routes close no loop with them, whoever joins: one check
/// after each cycle will do.
void MulticastManager::schedule_deadlock_check() {
  if (std::exchange(deadlock_check_due_, true)) return;
  deadlock_timer_ = Timer(runtime_, runtime_.now() + kDeadlockCheckDelay, [this] {
    deadlock_check_due_ = false;
    check_deadlock();
  });
}

void MulticastManager::check_deadlock() {
  if (masks_.empty()) return;
  std::vector<TreesOfSl> trees;
  for (const auto& [mlid, masks] : masks_) {
    std::set<std::uint8_t> sls;
    for (const Gid& mgid : groups_.groups_of(mlid)) sls.insert(groups_.find(mgid)->traits.sl);
    for (const std::uint8_t sl : sls) trees.push_back({sl, masks});
  }
  work_.offload(
      runtime_,
      [now = now_, trees = std::move(trees)] { return check_multicast_deadlock(*now, trees); },
      [this](const MulticastVerdict& verdict) { on_verdict(verdict); });
}

/// What is not proved to be safe on shared VLs gets one to itself, where there is one.
void MulticastManager::on_verdict(const MulticastVerdict& verdict) {
  const bool news = stats_.acyclic != verdict.acyclic;
  stats_.acyclic = verdict.acyclic;
  stats_.vl_refused.clear();
  if (verdict.acyclic == true || !now_) return;
  if (news && verdict.acyclic == false) ++stats_.credit_loops;
  if (!now_->multicast_vl && request_vl_) {
    const auto vl = request_vl_();
    if (vl) {
      log::info(
          "multicast.apart", "sl={} vl={} cycle=\"{}\"", vl->sl, vl->vl.value(), verdict.cycle);
      return;
    }
    stats_.vl_refused = vl.error();
  }
  if (news && verdict.acyclic == false)
    log::warn(
        "multicast.credit_loop", "cycle=\"{}\" no_lane=\"{}\"", verdict.cycle, stats_.vl_refused);
}

}  // namespace smd
