#include "smd/daemon/standby_replication.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smd/base/log.h"
#include "smd/config/config.h"
#include "smd/state/record_store.h"

namespace smd {

namespace {

/// That go whole, whenever they changed. A standby has its own CC_Keys.
constexpr std::array kCopied{&StateKind::kLids,
                             &StateKind::kTurns,
                             &StateKind::kSlToVlMark,
                             &StateKind::kPartitionOrders,
                             &StateKind::kMKeyLinks,
                             &StateKind::kDirections,
                             &StateKind::kLattice};

/// The part that has the master's options.
constexpr const char* kOptions = "options";

/// Between checks of a reader that is behind.
constexpr Duration kHandoverCheckInterval = std::chrono::milliseconds(20);

/// Between two looks who has a copy.
constexpr Duration kCopyCheckInterval = std::chrono::seconds(5);

/// One line, where there is a fault; true where there is none.
bool is_readable(const Faults& faults) {
  if (faults.empty()) return true;
  log::warn("replica.unreadable", "why=\"{}\"", print_fault(faults.front()));
  return false;
}

}  // namespace

StandbyReplication::StandbyReplication(Runtime& runtime,
                                       replica::Dialer& dialer,
                                       std::vector<std::string> peers,
                                       replica::WallClock wall,
                                       StateStore& store)
    : runtime_(runtime),
      wall_(std::move(wall)),
      store_(store),
      server_(runtime, wall_),
      client_(
          runtime,
          dialer,
          std::move(peers),
          wall_,
          {.is_master =
               [this](const replica::Hello& hello) {
                 if (manager_ == nullptr || hello.state != SmState::Master) return false;
                 const Election& election = manager_->election();
                 return election.state() == SmState::Standby &&
                        hello.manager == election.counterpart();
               },
           .on_part = [this](const replica::Part& part,
                             std::int64_t wall_ms) { return take(part, wall_ms); },
           .on_changes = [this](const replica::Part& changes,
                                std::int64_t wall_ms) { return take_changes(changes, wall_ms); }}) {
  RecordStore& records = store_.records();
  server_.follow(std::string(StateKind::kClientRecords.name),
                 {.whole =
                      [this, &records] {
                        return print_records(records.collect(), {runtime_.now(), wall_()});
                      },
                  .position = [&records] { return records.position(); },
                  .since = [&records](std::uint64_t at) { return records.since(at); }});
}

void StandbyReplication::accept(std::unique_ptr<replica::Stream> stream) {
  server_.accept(std::move(stream));
  publish_soon();
}

void StandbyReplication::note_role(SubnetManager* manager, std::uint64_t subnet_prefix) {
  manager_ = manager;
  handover_since_.reset();
  handover_timer_.reset();
  masters_options_.reset();
  replica::Hello hello{.subnet_prefix = subnet_prefix};
  if (manager != nullptr) {
    hello.manager = manager->election().info().guid;
    hello.state = manager->election().state();
  }
  if (hello.state != role_) {
    compares_orders_ = role_ == SmState::Master || compares_orders_;
    if (!has_taken_ || role_ == SmState::Master) blocked_ = store_.get().turns;
    role_ = hello.state;
    has_taken_ = false;
    lacking_since_.reset();
    alarm_.clear();
    watch_copies();
  }
  server_.present(hello);
  client_.present(hello);
  client_.enable(hello.state == SmState::Standby);
  if (hello.state == SmState::Master) publish_soon();
}

void StandbyReplication::set_options(std::string text) {
  options_ = std::move(text);
  publish_soon();
}

std::vector<std::string> StandbyReplication::differing_options() const {
  if (!masters_options_) return {};
  return diff_shared_options(options_, *masters_options_);
}

void StandbyReplication::note_change(const StateKind& kind) {
  if (kind != StateKind::kCcKeys) publish_soon();
}

void StandbyReplication::publish_soon() {
  if (std::exchange(owed_, true)) return;
  timer_ = Timer(runtime_, runtime_.now() + kDelay, [this] {
    owed_ = false;
    publish();
  });
}

bool StandbyReplication::is_behind(Guid standby) {
  server_.note_change();  // also of what was changed without note_change()
  if (client_.peers().empty() || (!owed_ && server_.is_current(standby))) {
    handover_since_.reset();
    return false;
  }
  if (std::exchange(handover_to_, standby) != standby) handover_since_.reset();
  if (!handover_since_) handover_since_ = runtime_.now();
  watch_handover();
  return runtime_.now() - *handover_since_ < kHandoverWait;
}

/// Once it has begun, or nobody is left to hand over to, the next one has a wait of its own.
void StandbyReplication::watch_handover() {
  handover_timer_ = Timer(runtime_, runtime_.now() + kHandoverCheckInterval, [this] {
    manager_->settle_handover();
    if (manager_->election().handover_waits()) {
      watch_handover();
    } else {
      handover_since_.reset();
    }
  });
}

/// Why a standby that should have a copy has none; empty: all have.
std::string StandbyReplication::find_lack() const {
  const std::vector<replica::PeerView> peers = client_.peers();
  if (manager_ == nullptr || peers.empty()) return "";
  const Election& election = manager_->election();
  if (role_ == SmState::Master) {
    std::size_t readers = 0;
    std::vector<Guid> without;
    for (const auto& [guid, known] : election.others()) {
      if (!known.info || known.excluded || state_of(*known.info) != SmState::Standby) continue;
      if (server_.has_copy(guid)) {
        ++readers;
      } else {
        without.push_back(guid);
      }
    }
    // Others may stand by that are no smd.
    if (without.empty() || readers >= peers.size()) return "";
    return fmt::format(
        "{} stands by and has no copy of what this manager keeps: its smctl status "
        "says why",
        fmt::join(without, ", "));
  }
  if (role_ != SmState::Standby) return "";
  std::string why;
  for (const replica::PeerView& each : peers) {
    const bool rules = each.connected && each.hello && each.hello->state == SmState::Master &&
                       each.hello->manager == election.counterpart();
    if (rules && has_taken_) return "";
    why += fmt::format("{}{}: {}",
                       why.empty() ? "" : "; ",
                       each.peer,
                       rules                  ? "it has sent nothing yet"
                       : each.connected       ? "it is not the master"
                       : each.trouble.empty() ? "no connection"
                                              : each.trouble);
  }
  return "no copy of what the master keeps; " + why;
}

void StandbyReplication::watch_copies() {
  const std::string lack = find_lack();
  if (lack.empty()) {
    lacking_since_.reset();
    alarm_.clear();
  } else if (!lacking_since_) {
    lacking_since_ = runtime_.now();
  } else if (runtime_.now() - *lacking_since_ >= kMostWithoutCopy) {
    if (alarm_.empty()) log::warn("replica.missing", "why=\"{}\"", lack);
    alarm_ = lack;
  }
  copies_timer_ = Timer(runtime_, runtime_.now() + kCopyCheckInterval, [this] { watch_copies(); });
}

void StandbyReplication::publish() {
  const bool is_master = manager_ != nullptr && manager_->election().state() == SmState::Master;
  if (!is_master || server_.peers().empty()) return;
  std::map<std::string, std::string> parts;
  for (const StateKind* kind : kCopied) parts.emplace(kind->name, kind->print(store_.get()));
  parts.emplace(kOptions, options_);
  server_.publish(parts);
  server_.note_change();
}

bool StandbyReplication::take_changes(const replica::Part& changes, std::int64_t wall_ms) {
  if (changes.name != StateKind::kClientRecords.name) return false;
  constexpr std::int64_t kFar = std::int64_t{1} << 60;  // no clock is so wrong
  const std::int64_t ahead_ms = std::clamp(wall_ms, -kFar, kFar) - wall_();
  if (store_.records().apply(changes.text, ahead_ms)) return true;
  log::warn("replica.unreadable", "why=\"changes of {} that are none\"", changes.name);
  return false;
}

bool StandbyReplication::take(const replica::Part& part, std::int64_t wall_ms) {
  const std::string where = "replica (" + part.name + ")";
  if (part.name == StateKind::kClientRecords.name) {
    // By the sender's clock: leases last as long here as there.
    const auto records = parse_records(part.text, where, {runtime_.now(), wall_ms});
    if (!is_readable(records ? Faults{} : records.error())) return false;
    store_.records().replace(*records);
    return true;
  }
  if (part.name == kOptions) {
    masters_options_ = part.text;
    for (const std::string& name : differing_options()) log::warn("replica.option", "key={}", name);
    return true;
  }
  const auto kind = std::ranges::find(kCopied, part.name, &StateKind::name);
  if (kind == kCopied.end()) return false;
  PersistentState next;
  if (!is_readable((*kind)->parse(part.text, where, next))) return false;
  has_taken_ = true;
  if (**kind == StateKind::kTurns) {
    take_turns(std::move(next.turns));
    return true;
  }
  if (**kind == StateKind::kPartitionOrders && std::exchange(compares_orders_, false)) {
    for (const std::string& each : find_missing(store_.get().partitions, next.partitions))
      log::warn("partition.order_lost", "what=\"{}\"", each);
  }
  return is_readable(store_.put_text(**kind, part.text, where));
}

/// What this manager may have left blocked when it ruled, too: the next may not know.
void StandbyReplication::take_turns(std::vector<TurnRef> turns) {
  turns.insert(turns.end(), blocked_.begin(), blocked_.end());
  std::ranges::sort(turns);
  const auto again = std::ranges::unique(turns);
  turns.erase(again.begin(), again.end());
  store_.put_turns(turns);
}

}  // namespace smd
