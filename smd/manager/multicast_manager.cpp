#include "smd/manager/multicast_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/multicast/check_tree.h"
#include "smd/multicast/group.h"

namespace smd {

namespace {

/// Eight blocks: what the loop does at a time stays short, however many groups a change touches.
constexpr std::size_t kMlidsPerRound = 8 * kMftBlockSize;

/// It takes a worker that routes may need, so not while much is changing.
constexpr Duration kDeadlockCheckDelay = std::chrono::seconds(5);

/// Of a crowd of hosts that join one after the other, so many go into one round.
constexpr Duration kBetweenRounds = std::chrono::milliseconds(2);

std::optional<std::uint8_t> sl_of(const std::optional<MulticastVl>& vl) {
  return vl ? std::optional(vl->sl) : std::nullopt;
}

/// Trees that need a lane of their own are held back until a cycle has brought it, or for so long.
constexpr Duration kWaitForVl = std::chrono::seconds(10);

/// Routes wait no longer for trees to make way: hosts may be without a path meanwhile.
constexpr Duration kMostPatience = std::chrono::milliseconds(200);

/// Switches that both have stand in the same directions, so trees of one are trees of the other.
bool has_directions_of(const ActiveSubnet& next, const ActiveSubnet& now) {
  const auto& rank = next.routing->orientation.rank;
  const auto& before = now.routing->orientation.rank;
  if (rank.size() != next.fabric().switch_count() || before.size() != now.fabric().switch_count())
    return false;
  for (const SwitchIdx sw : next.fabric().switch_node.indices()) {
    const auto node =
        now.fabric().find_node(next.fabric().node_guid[next.fabric().switch_node[sw]]);
    const SwitchIdx then = node ? now.fabric().switch_of[*node] : kNone<SwitchIdx>;
    if (then != kNone<SwitchIdx> && before[then] != rank[sw]) return false;
  }
  return true;
}

constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLastRetry = std::chrono::seconds(60);

}  // namespace

std::vector<std::string> print_alarms(const MulticastStats& stats) {
  std::vector<std::string> out;
  if (!stats.vl_refused.empty())
    out.push_back("multicast and unicast packets may block each other: " + stats.vl_refused);
  if (!stats.discarded.empty())
    out.push_back("switches discard multicast packets: " + stats.discarded);
  if (!stats.mtu_too_large.empty())
    out.push_back("large multicast packets may be lost: " + stats.mtu_too_large);
  if (stats.unmet == 0) return out;
  out.push_back(fmt::format("{} MLIDs: entries not confirmed; {}", stats.unmet, stats.unmet_why));
  if (stats.held_up > 0) {
    out.back() += fmt::format(
        "; {} of them stay as they were, or what it holds could send packets round", stats.held_up);
  }
  return out;
}

void MulticastManager::stop() {
  restored_ = to_restore();
  for (Timer* timer :
       {&round_timer_, &retry_, &deadlock_timer_, &writer_ended_, &reregistration_ended_})
    timer->reset();
  writer_.reset();
  reregistration_.reset();
  round_scheduled_ = deadlock_check_due_ = false;
  end_proof();
  vl_requested_.reset();
  way_.reset();
  patience_.reset();
  stats_.acyclic = true;
  stats_.vl.reset();
  stats_.vl_refused.clear();
  stats_.discarded.clear();
  stats_.unmet = 0;
  stats_.held_up = 0;
  stats_.unmet_why.clear();
  backoff_ = Duration{0};
  retry_due_.reset();
  next_mlid_ = Lid{0};
  masks_.clear();
  summary_.reset();
  pending_.clear();
  failed_.clear();
  held_up_.clear();
  without_tree_.clear();
  stranded_.clear();
  trees_.clear();
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
  drain_time_ = settings.strategy.writing.drain_time;
  const std::optional<SnapshotLimits> realm_before = std::move(realm_);
  realm_.emplace(
      SnapshotLimits::Parts{.fabric = now_->sweep.fabric,
                            .lids = now_->lids.share(),
                            .partitions = partition_facts(),
                            .subnet_prefix = settings.ports.subnet_prefix,
                            .life_time = settings.ports.subnet_timeout,
                            .multicast_sl = sl_of(now_->multicast_vl),
                            .mtu_max = static_cast<std::uint8_t>(settings.ports.mtu_max)},
      realm_before ? &*realm_before : nullptr);
  if (first) groups_.restore(*realm_, std::exchange(restored_, {}));
  // Rules that do not fit are not in force, and neither are their groups.
  const std::vector<PreconfiguredGroup>& wishes =
      now_->partitions ? now_->partitions->rules.groups : settings.groups;
  for (const PreconfiguredGroup& wish : groups_.keep(*realm_, wishes))
    log::warn("multicast.no_mlid", "group={} partition={}", print_gid(wish.mgid), wish.partition);
  compare_mtu(wishes);
  // Whose P_Key was taken away can neither send to the group nor receive what is sent to it.
  groups_.drop([this](Guid port, const Group& group) {
    return realm_->port_of(port) == kNone<PortIdx> ||
           !realm_->in_partition(port, group.traits.p_key);
  });
  if (now_->multicast_vl) vl_requested_.reset();
  memory_.ask_again();
  adopt_trees(settings);
  lay_anew();
  schedule_deadlock_check();
  note_change();
  const std::set<std::uint16_t> changed = groups_.take_changed_partitions();
  const bool all = !first && sl_of(vl_before) != sl_of(now_->multicast_vl);
  if (!all && changed.empty()) return;
  ask_members_to_reregister([&](const Group& group) {
    return all || changed.contains(partition_of(group.traits.p_key));
  });
}

/// Members join all the same, as under other managers: most of their packets are small, and most
/// paths may be wide enough.
void MulticastManager::compare_mtu(const std::vector<PreconfiguredGroup>& wishes) {
  MtuFindings found = find_mtu_conflicts(wishes, realm_->mtu_max(), realm_->mtu_of_switches());
  if (!found.lessened.empty() && found.lessened != stats_.mtu_lessened)
    log::warn("multicast.mtu_max", "{}", found.lessened);
  if (!found.too_large.empty() && found.too_large != stats_.mtu_too_large)
    log::warn("multicast.mtu", "{}", found.too_large);
  stats_.mtu_lessened = std::move(found.lessened);
  stats_.mtu_too_large = std::move(found.too_large);
}

/// Groups have another SL, or are not like they were: a member learns of it when it registers
/// again.
void MulticastManager::ask_members_to_reregister(
    const std::function<bool(const Group&)>& is_changed) {
  const Fabric& fabric = now_->fabric();
  std::set<Guid> members;
  if (reregistration_) members = std::move(reregistering_);  // who was not told yet
  for (const auto& [mgid, group] : groups_.groups()) {
    if (!is_changed(group)) continue;
    for (const auto& member : group.members) members.insert(port_of(member));
  }
  std::vector<PortIdx> ports = find_ports_that_name(fabric, now_->lids->base[fabric.sm_port]);
  std::erase_if(ports, [&](PortIdx port) { return !members.contains(fabric.port_guid[port]); });
  if (ports.empty()) return;
  log::info("multicast.reregister", "ports={}", ports.size());
  meter_.leave_out(ports.size());
  reregistering_ = std::move(members);
  reregistration_.emplace(client_, m_key_);
  reregistration_->start(now_->sweep, std::move(ports), [this, held = now_] {
    reregistration_ended_ = leave(runtime_, reregistration_, [] {});
  });
}

/// Masks are by switches of the snapshot before, and mean nothing on this one.
void MulticastManager::lay_anew() {
  for (const auto& [mlid, masks] : masks_) pending_.insert(mlid);
  masks_.clear();
  for (std::set<Lid>* left : {&failed_, &without_tree_}) {
    pending_.merge(*left);
    left->clear();
  }
  summary_.reset();
  backoff_ = Duration{0};
  retry_.reset();
  retry_due_.reset();
}

void MulticastManager::adopt_trees(const Settings& settings) {
  trees_.adopt(now_->sweep.fabric, now_->lids, now_->routing, settings.multicast_trees);
  copies_ = settings.multicast_proof;
  const std::string& why = trees_.shape_refused();
  if (!why.empty() && why != stats_.shape_refused)
    log::warn("multicast.shape", "why=\"{}\"; trees lead up and down", why);
  stats_.shape_refused = why;
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
    if (port != kNone<PortIdx>) members.push_back({port, member.receives, member.sends});
  }
  std::ranges::sort(members, {}, &TreeMember::port);
  return members;
}

const TreeReport& MulticastManager::summary() const {
  constexpr std::size_t kMeasured = 16;
  if (summary_) return *summary_;
  TreeReport& out = summary_.emplace();
  out.trees = masks_.size();
  out.cables = measure_cables(now_->fabric(), masks_);
  std::vector<std::pair<std::size_t, Lid>> by_size;
  for (const auto& [mlid, masks] : masks_) by_size.emplace_back(members_of(mlid).size(), mlid);
  std::ranges::stable_sort(by_size, std::ranges::greater{}, [](const auto& e) { return e.first; });
  if (by_size.size() > kMeasured) by_size.resize(kMeasured);
  for (const auto& [members, mlid] : by_size) {
    const PortIdx sender = trees_.sender_of(mlid);
    std::vector<TreeMember> all = members_of(mlid);
    for (TreeMember& each : all) each.sends = sender == kNone<PortIdx> || each.port == sender;
    out.largest.push_back(
        {mlid, members, sender, measure_tree(now_->fabric(), masks_.at(mlid), all)});
  }
  return out;
}

/// The masks that shall be held; nothing where they are not as they should be.
std::optional<std::vector<SwitchMask>> MulticastManager::grow(Lid mlid) {
  GroupTrees::Outcome laid = trees_.lay(mlid, members_of(mlid));
  stranded_.erase(mlid);
  if (laid.stranded != 0) stranded_[mlid] = laid.stranded;
  if (!laid.fault.empty()) {
    log::error(
        "multicast.tree", "mlid=0x{:04x} what=\"{}\"; not written", mlid.value(), laid.fault);
    return std::nullopt;
  }
  return std::move(laid.masks);
}

void MulticastManager::begin_round() {
  if (writer_ || proving_ || way_ || !now_) return;
  for (const Lid mlid : groups_.take_touched()) pending_.insert(mlid);
  if (pending_.empty()) return;
  MftGoals goals;
  while (!pending_.empty() && goals.size() < kMlidsPerRound) {
    auto next_one = pending_.lower_bound(next_mlid_);
    if (next_one == pending_.end()) next_one = pending_.begin();
    const Lid mlid = *next_one;
    pending_.erase(next_one);
    next_mlid_ = next(mlid);
    failed_.erase(mlid);
    held_up_.erase(mlid);
    without_tree_.erase(mlid);
    auto masks = grow(mlid);
    if (!masks) {
      without_tree_.insert(mlid);
      continue;
    }
    if (masks->empty()) {
      masks_.erase(mlid);
    } else {
      masks_[mlid] = *masks;
    }
    goals.emplace(mlid, std::move(*masks));
  }
  if (pending_.empty()) next_mlid_ = Lid{0};
  summary_.reset();
  stats_.stranded = 0;
  for (const auto& [mlid, count] : stranded_) stats_.stranded += count;
  ++stats_.rounds;
  is_proved_by_ranks() ? write(std::move(goals), false) : prove(std::move(goals));
}

void MulticastManager::write(MftGoals goals, bool in_two_steps) {
  writer_ = std::make_unique<MftWriter>(client_, memory_, m_key_);
  writer_->set_drain_time(runtime_, drain_time_);
  MftRules rules{.rank = trees_.ranks(), .in_two_steps = in_two_steps};
  const auto done = [this, of = now_](MftReport report) {
    writer_ended_ = leave(runtime_, writer_, [this, of, report = std::move(report)] {
      on_written(report, now_->has_routes_of(*of));
    });
  };
  writer_->start({now_, &now_->sweep}, std::move(goals), std::move(rules), done);
}

/// No mixture of entries turns a packet up again, so nothing closes a circle with routes of the
/// same directions, nor on a lane where there are no others.
bool MulticastManager::is_proved_by_ranks() const {
  return copies_ == CopyModel::Asynchronous &&
         (trees_.follows_unicast() || now_->multicast_vl.has_value());
}

/// Entries of MLIDs that no group has any more are taken to be of SL 0.
std::vector<TreesOfSl> MulticastManager::with_sls(const MftGoals& trees) const {
  std::vector<TreesOfSl> out;
  for (const auto& [mlid, masks] : trees) {
    std::set<std::uint8_t> sls;
    for (const Gid& mgid : groups_.groups_of(mlid)) sls.insert(groups_.find(mgid)->traits.sl);
    if (sls.empty()) sls.insert(0);
    for (const std::uint8_t sl : sls) out.push_back({sl, masks});
  }
  return out;
}

/// Before anything is written: what switches may hold and what they shall hold, of all MLIDs, with
/// the unicast routes; where that closes a circle, what they shall hold alone.
void MulticastManager::prove(MftGoals goals) {
  MftGoals wanted(masks_.begin(), masks_.end());
  MftGoals mixed = collect_possible(now_->fabric(), memory_);
  if (wanted.empty() && mixed.empty()) return write(std::move(goals), false);
  proving_ = true;
  // What waits for a later round, or cannot be laid, stays in switches as it is.
  for (const auto& [mlid, masks] : mixed) {
    if (!goals.contains(mlid) && !masks_.contains(mlid)) wanted[mlid] = masks;
  }
  for (const auto& [mlid, masks] : wanted) mixed[mlid] = unite_masks(mixed[mlid], masks);

  struct Proof {
    MulticastVerdict verdict;
    bool in_two_steps = false;
  };

  work_.offload(
      runtime_,
      [now = now_, copies = copies_, mixed = with_sls(mixed), wanted = with_sls(wanted)] {
        Proof proof{check_multicast_deadlock(*now, mixed, copies)};
        if (proof.verdict.acyclic == true) return proof;
        return Proof{check_multicast_deadlock(*now, wanted, copies), true};
      },
      [this, now = now_, number = proof_, goals = std::move(goals)](const Proof& proof) mutable {
        if (number != proof_) return;  // of a term before
        end_proof();
        if (now != now_ || way_) {  // of a subnet that was: again
          hold_back(goals);
          schedule_round();
          return try_way();
        }
        on_verdict(proof.verdict);
        const bool waits =
            vl_requested_ && runtime_.now() - *vl_requested_ < kWaitForVl && !now_->multicast_vl;
        if (proof.verdict.acyclic != true && waits) {
          hold_back(goals);
          return retry_later(kWaitForVl);
        }
        write(std::move(goals), proof.in_two_steps);
      });
}

/// What is still being computed counts no more.
void MulticastManager::end_proof() {
  proving_ = false;
  ++proof_;
}

/// For a later round.
void MulticastManager::hold_back(const MftGoals& goals) {
  for (const auto& [mlid, masks] : goals) pending_.insert(mlid);
}

/// Those who join meanwhile do not put it off.
void MulticastManager::retry_later(Duration when) {
  const TimePoint due = runtime_.now() + when;
  if (retry_due_ && *retry_due_ <= due) return;
  retry_due_ = due;
  retry_ = Timer(runtime_, due, [this] {
    retry_due_.reset();
    memory_.ask_again();
    pending_.merge(failed_);
    failed_.clear();
    schedule_round();
  });
}

/// The first plan of a term is proved for unicast packets alone: entries of former trees are read
/// when groups are laid, and carry data before that.
void MulticastManager::note_unread_trees(const Fabric& fabric) const {
  std::size_t unread = 0;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    if (fabric.switch_info[sw].multicast_fdb_cap == 0 ||
        !memory_.find(fabric.node_guid[node], {0, 0}).unread)
      continue;
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || fabric.switch_at(peer) == kNone<SwitchIdx> ||
          !is_link_active(fabric, port))
        continue;
      ++unread;
      break;
    }
  }
  if (unread > 0)
    log::info("multicast.unread", "switches={}; the plan is proved without trees there", unread);
}

void MulticastManager::make_way(std::shared_ptr<const ActiveSubnet> next,
                                std::function<void()> then) {
  if (!now_) note_unread_trees(next->fabric());
  if (!now_ || next->has_routes_of(*now_)) return then();
  // The usual change: nobody waits for a round that is under way.
  if (is_proved_by_ranks() && trees_.follows_unicast() && has_directions_of(*next, *now_))
    return then();
  patience_ = Timer(runtime_, runtime_.now() + kMostPatience, [this] {
    if (!way_ || !way_->then) return;
    log::warn("multicast.in_the_way",
              "waited_ms={}; routes go first, trees are proved afterwards",
              std::chrono::duration_cast<std::chrono::milliseconds>(kMostPatience).count());
    leave_way();
  });
  if (way_) {  // the plan of before came to nothing, and trees are away
    way_->next = std::move(next);
    way_->then = std::move(then);
    way_->begun = false;
  } else {
    way_.emplace(RouteChange{.next = std::move(next), .then = std::move(then)});
  }
  try_way();
}

void MulticastManager::try_way() {
  if (!way_ || !way_->then || way_->begun || writer_ || proving_) return;
  way_->begun = true;
  const ActiveSubnet& next = *way_->next;
  MftGoals held = collect_possible(next.fabric(), memory_);
  const bool apart = now_->multicast_vl && now_->multicast_vl == next.multicast_vl;
  if (held.empty() || (apart && copies_ == CopyModel::Asynchronous)) return leave_way();
  const auto& rank = next.routing->orientation.rank;
  if (copies_ == CopyModel::Asynchronous && trees_.follows_unicast() &&
      rank.size() == next.fabric().switch_count()) {
    std::vector<Lid> across;
    for (const auto& [mlid, masks] : held) {
      if (turns_up(next.fabric(), masks, rank)) across.push_back(mlid);
    }
    return withdraw(across);
  }
  std::vector<Lid> all;
  for (const auto& [mlid, masks] : held) all.push_back(mlid);
  work_.offload(
      runtime_,
      [next = way_->next, copies = copies_, trees = with_sls(held)] {
        return check_multicast_deadlock(*next, trees, copies).acyclic != false;
      },
      [this, of = way_->next, all = std::move(all)](bool fits) {
        const bool asked = way_ && way_->next == of && way_->begun && way_->then && !writer_;
        if (asked) withdraw(fits ? std::vector<Lid>{} : all);
      });
}

void MulticastManager::withdraw(const std::vector<Lid>& mlids) {
  if (mlids.empty()) return leave_way();
  log::info("multicast.withdrawn", "mlids={}", mlids.size());
  memory_.ask_again();
  MftGoals goals;
  for (const Lid mlid : mlids) goals[mlid];
  way_->withdrawn.insert(way_->withdrawn.end(), mlids.begin(), mlids.end());
  writer_ = std::make_unique<MftWriter>(client_, memory_, m_key_);
  writer_->start({way_->next, &way_->next->sweep}, std::move(goals), {}, [this](MftReport report) {
    writer_ended_ = leave(runtime_, writer_, [this, report = std::move(report)] {
      meter_.leave_out(report.smps);
      stats_.blocks_read += report.blocks_read;
      stats_.blocks_written += report.blocks_written;
      if (!way_) return schedule_round();  // routes did not wait for it
      way_->begun ? leave_way() : try_way();
    });
  });
}

void MulticastManager::leave_way() {
  patience_.reset();
  if (const auto then = std::exchange(way_->then, nullptr)) then();
}

void MulticastManager::end_way() {
  if (!way_) return;
  for (const Lid mlid : way_->withdrawn) pending_.insert(mlid);
  way_.reset();
  schedule_round();
}

/// What a switch was sent on paths of a snapshot before may have been lost with one of them: it is
/// asked again at once, on those of now.
void MulticastManager::on_written(const MftReport& report, bool of_this_snapshot) {
  if (way_) try_way();
  next_round_ =
      runtime_.now() + (report.took_away ? std::max(kBetweenRounds, drain_time_) : kBetweenRounds);
  meter_.leave_out(report.smps);
  stats_.blocks_read += report.blocks_read;
  stats_.blocks_written += report.blocks_written;
  stats_.faults += report.faults.size();
  if (!of_this_snapshot) memory_.ask_again();
  (of_this_snapshot ? failed_ : pending_).insert(report.unmet.begin(), report.unmet.end());
  held_up_.insert(report.held_up.begin(), report.held_up.end());
  stats_.unmet = failed_.size();
  stats_.held_up = held_up_.size();
  if (failed_.empty()) {
    stats_.unmet_why.clear();
    backoff_ = Duration{0};
    retry_.reset();
    retry_due_.reset();
  } else if (of_this_snapshot && !report.unmet.empty()) {
    on_unmet(report);
  }
  schedule_round();
}

void MulticastManager::on_unmet(const MftReport& report) {
  const ProgramFault fault = report.faults.empty() ? ProgramFault{} : report.faults.front();
  if (!report.faults.empty()) stats_.unmet_why = fmt::format("{}: {}", fault.node, fault.what);
  if (retry_due_) return;  // of an earlier round, with all that failed until then
  backoff_ = std::clamp(2 * backoff_, kFirstRetry, kLastRetry);
  log::warn("multicast.unconfirmed",
            "mlids={} held_up={} node={} what=\"{}\" retry_in={}s",
            failed_.size(),
            held_up_.size(),
            fault.node,
            fault.what,
            std::chrono::duration_cast<std::chrono::seconds>(backoff_).count());
  retry_later(backoff_);
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
  // Not before all trees of the snapshot are laid.
  if (!pending_.empty()) return schedule_deadlock_check();
  if (masks_.empty()) return;
  work_.offload(
      runtime_,
      [now = now_, copies = copies_, trees = with_sls(MftGoals(masks_.begin(), masks_.end()))] {
        return check_multicast_deadlock(*now, trees, copies);
      },
      [this, now = now_](const MulticastVerdict& verdict) {
        if (!now_) return;
        // Of a subnet that was, it says nothing of the one that is.
        if (!now->has_routes_of(*now_)) return schedule_deadlock_check();
        on_verdict(verdict);
      });
}

/// What is not proved to be safe on shared VLs gets one to itself, where there is one.
void MulticastManager::on_verdict(const MulticastVerdict& verdict) {
  const bool news = stats_.acyclic != verdict.acyclic;
  stats_.acyclic = verdict.acyclic;
  stats_.vl_refused.clear();
  const std::string before = std::exchange(stats_.discarded, {});
  if (verdict.acyclic == true || !now_) return;
  if (news && verdict.acyclic == false) ++stats_.credit_loops;
  if (verdict.of_trees) {
    stats_.vl_refused =
        "copies in lock-step wait for each other where two switches of a tree fork, on any lane";
  } else if (!now_->multicast_vl && request_vl_) {
    const auto vl = request_vl_();
    if (vl) {
      if (!vl_requested_) vl_requested_ = runtime_.now();
      log::info(
          "multicast.apart", "sl={} vl={} cycle=\"{}\"", vl->sl, vl->vl.value(), verdict.cycle);
      return;
    }
    stats_.vl_refused = vl.error();
    vl_requested_.reset();
    stats_.discarded = verdict.discarded;
  }
  if (!stats_.discarded.empty() && before.empty())
    log::warn(
        "multicast.discarded", "row=\"{}\" no_lane=\"{}\"", stats_.discarded, stats_.vl_refused);
  if (news && verdict.acyclic == false)
    log::warn(
        "multicast.credit_loop", "cycle=\"{}\" no_lane=\"{}\"", verdict.cycle, stats_.vl_refused);
}

}  // namespace smd
