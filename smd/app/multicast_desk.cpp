#include "smd/app/multicast_desk.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/multicast/check_tree.h"
#include "smd/multicast/mgid.h"

namespace smd::app {
namespace {

/// Eight blocks: what the loop does at a time stays short, however many groups a change touches.
constexpr std::size_t kMlidsPerRound = 8 * kMftBlockSize;

/// It takes a worker that routes may need, so not while much is changing.
constexpr Duration kUntilJudgement = std::chrono::seconds(5);

/// Of a crowd of hosts that join one after the other, so many go into one round.
constexpr Duration kBetweenRounds = std::chrono::milliseconds(2);

constexpr std::uint16_t kPartitionBits = 0x7fff;  // bit 15 is full membership

std::optional<std::uint8_t> sl_of(const std::optional<MulticastLane>& lane) {
  return lane ? std::optional(lane->sl) : std::nullopt;
}

constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLastRetry = std::chrono::seconds(60);

}  // namespace

void MulticastDesk::retire() {
  left_ = to_keep();
  for (Timer* timer : {&wake_, &retry_, &judge_, &leave_, &told_}) timer->reset();
  writer_.reset();
  reregistration_.reset();
  woken_ = judge_owed_ = false;
  stats_.acyclic = true;
  stats_.lane.reset();
  stats_.lane_refused.clear();
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

void MulticastDesk::adopt(std::shared_ptr<const ActiveSubnet> now, const Settings& settings) {
  const bool first = now_ == nullptr;
  if (!first && now->has_routes_of(*now_)) {
    now_ = std::move(now);
    return;
  }
  const auto lane_before = std::exchange(stats_.lane, now->multicast_lane);
  now_ = std::move(now);
  m_key_ = settings.ports.m_key;
  realm_.emplace(SubnetRealm::Parts{.fabric = now_->sweep.fabric,
                                    .lids = now_->lids.share(),
                                    .partitions = partition_facts(),
                                    .subnet_prefix = settings.ports.subnet_prefix,
                                    .life_time = settings.ports.subnet_timeout,
                                    .multicast_sl = sl_of(now_->multicast_lane)});
  if (first) groups_.restore(*realm_, std::exchange(left_, {}));
  for (const GroupWish& wish : groups_.keep(*realm_, settings.groups))
    log::warn("multicast.no_mlid", "group={} partition={}", print_gid(wish.mgid), wish.partition);
  groups_.drop([this](Guid port) { return realm_->port_of(port) == kNone<PortIdx>; });
  ranks_ = choose_ranks(now_->fabric(), now_->lids, now_->routing, ranks_.kept);
  forest_.adopt(now_->sweep.fabric, ranks_.rank);
  choose_shape(settings.multicast_trees);
  for (const auto& [mlid, masks] : masks_) pending_.insert(mlid);
  owe_judgement();
  note_change();
  if (!first && sl_of(lane_before) != sl_of(now_->multicast_lane)) tell_members();
}

/// Groups have another SL, which a member asks for when it registers again.
void MulticastDesk::tell_members() {
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
    told_ = Timer(runtime_, runtime_.now(), [this] { reregistration_.reset(); });
  });
}

/// Where it cannot be had: up and down.
void MulticastDesk::choose_shape(TreeShape wanted) {
  by_labels_ = wanted != TreeShape::UpDown && paths_.adopt(now_->sweep.fabric, wanted);
  std::string why = wanted == TreeShape::UpDown ? std::string() : paths_.refusal();
  if (!why.empty() && why != stats_.shape_refused)
    log::warn("multicast.shape", "why=\"{}\"; trees lead up and down", why);
  stats_.shape_refused = std::move(why);
}

PartitionFacts MulticastDesk::partition_facts() const {
  if (!now_->partitions) return PartitionFacts::only_default();
  return {.in_partition =
              [this](Guid port, PKey p_key) {
                const PortIdx at = realm_->port_of(port);
                return at != kNone<PortIdx> &&
                       std::ranges::any_of(now_->partitions->map[at].keys, [&](PKey key) {
                         return ((key.value() ^ p_key.value()) & kPartitionBits) == 0;
                       });
              },
          .share_partition =
              [this](Guid a, Guid b) {
                const PortIdx one = realm_->port_of(a);
                const PortIdx other = realm_->port_of(b);
                return one != kNone<PortIdx> && other != kNone<PortIdx> &&
                       share_partition(now_->partitions->map, one, other);
              }};
}

void MulticastDesk::note_change() {
  const std::vector<GroupChange> changes = groups_.take_changes();
  for (const GroupChange& each : changes) {
    log::debug(
        each.created ? "multicast.created" : "multicast.deleted", "group={}", print_gid(each.mgid));
  }
  if (tell_) tell_(changes);
  wake();
}

void MulticastDesk::wake() {
  if (std::exchange(woken_, true)) return;
  wake_ = Timer(runtime_, std::max(runtime_.now(), next_round_), [this] {
    woken_ = false;
    begin_round();
  });
}

std::vector<TreeMember> MulticastDesk::members_of(Lid mlid) const {
  std::vector<TreeMember> members;
  for (const MlidMember& member : groups_.members_of(mlid)) {
    const PortIdx port = realm_->port_of(member.port);
    if (port != kNone<PortIdx>) members.push_back({port, member.receives});
  }
  std::ranges::sort(members, {}, &TreeMember::port);
  return members;
}

/// The masks that shall be held; nothing where they are not as they should be.
std::optional<std::vector<SwitchMask>> MulticastDesk::grow(Lid mlid) {
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

void MulticastDesk::begin_round() {
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
  if (by_labels_ || !ranks_.of_unicast) owe_judgement();
  writer_ = std::make_unique<MftWriter>(client_, memory_, m_key_);
  writer_->start({now_, &now_->sweep}, std::move(goals), [this](MftReport report) {
    leave_ = Timer(runtime_, runtime_.now(), [this, report = std::move(report)] {
      writer_.reset();
      on_written(report);
    });
  });
}

void MulticastDesk::on_written(const MftReport& report) {
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
      wake();
    });
  }
  wake();
}

/// Trees along the directions of unicast routes close no loop with them, whoever joins: one look
/// after each cycle will do.
void MulticastDesk::owe_judgement() {
  if (std::exchange(judge_owed_, true)) return;
  judge_ = Timer(runtime_, runtime_.now() + kUntilJudgement, [this] {
    judge_owed_ = false;
    judge();
  });
}

void MulticastDesk::judge() {
  if (masks_.empty()) return;
  std::vector<TreesOfSl> trees;
  for (const auto& [mlid, masks] : masks_) {
    std::set<std::uint8_t> sls;
    for (const Gid& mgid : groups_.groups_of(mlid)) sls.insert(groups_.find(mgid)->traits.sl);
    for (const std::uint8_t sl : sls) trees.push_back({sl, masks});
  }
  work_.offload(
      runtime_,
      [now = now_, trees = std::move(trees)] { return judge_multicast(*now, trees); },
      [this](const MulticastVerdict& verdict) { on_verdict(verdict); });
}

/// What is not proved to be safe on shared lanes gets one to itself, where there is one.
void MulticastDesk::on_verdict(const MulticastVerdict& verdict) {
  const bool news = stats_.acyclic != verdict.acyclic;
  stats_.acyclic = verdict.acyclic;
  stats_.lane_refused.clear();
  if (verdict.acyclic == true || !now_) return;
  if (news && verdict.acyclic == false) ++stats_.credit_loops;
  if (!now_->multicast_lane && set_apart_) {
    const auto lane = set_apart_();
    if (lane) {
      log::info(
          "multicast.apart", "sl={} vl={} cycle=\"{}\"", lane->sl, lane->vl.value(), verdict.cycle);
      return;
    }
    stats_.lane_refused = lane.error();
  }
  if (news && verdict.acyclic == false)
    log::warn(
        "multicast.credit_loop", "cycle=\"{}\" no_lane=\"{}\"", verdict.cycle, stats_.lane_refused);
}

}  // namespace smd::app
