#include "smd/daemon/standby_replication.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/state/persistent_state.h"

namespace smd {

namespace {

constexpr const char* kLids = "lids";
constexpr const char* kTurns = "turns";
constexpr const char* kRows = "rows";
constexpr const char* kRecords = "records";

/// Between checks of a reader that is behind.
constexpr Duration kHandoverCheckInterval = std::chrono::milliseconds(20);

/// Hands over what was parsed; false, and one line, where it was not.
template <class Value, class Take>
bool hand_over(Parsed<Value> parsed, Take&& take) {
  if (!parsed) {
    log::warn("replica.unreadable", "why=\"{}\"", print_fault(parsed.error().front()));
    return false;
  }
  take(std::move(*parsed));
  return true;
}

}  // namespace

StandbyReplication::StandbyReplication(Runtime& runtime,
                                       replica::Dialer& dialer,
                                       std::vector<std::string> peers,
                                       replica::WallClock wall,
                                       Hooks hooks)
    : runtime_(runtime),
      wall_(std::move(wall)),
      hooks_(std::move(hooks)),
      server_(runtime, wall_),
      client_(
          runtime,
          dialer,
          std::move(peers),
          wall_,
          {.is_master =
               [this](const replica::Hello& hello) {
                 return election_ != nullptr && election_->state() == SmState::Standby &&
                        hello.state == SmState::Master && hello.manager == election_->counterpart();
               },
           .on_part = [this](const replica::Part& part,
                             std::int64_t wall_ms) { return take(part, wall_ms); },
           .on_changes = [this](const replica::Part& changes,
                                std::int64_t wall_ms) { return take_changes(changes, wall_ms); }}) {
  server_.follow(
      kRecords,
      {.whole =
           [this] {
             return print_records(hooks_.records.collect(), {runtime_.now(), wall_()});
           },
       .position = [this] { return hooks_.records.position(); },
       .since = [this](std::uint64_t position) { return hooks_.records.since(position); }});
}

void StandbyReplication::accept(std::unique_ptr<replica::Stream> stream) {
  server_.accept(std::move(stream));
  note_change();
}

void StandbyReplication::note_role(const Election* election, std::uint64_t subnet_prefix) {
  election_ = election;
  handover_since_.reset();
  handover_timer_.reset();
  replica::Hello hello{.subnet_prefix = subnet_prefix};
  if (election != nullptr) {
    hello.manager = election->info().guid;
    hello.state = election->state();
  }
  server_.present(hello);
  client_.present(hello);
  client_.enable(hello.state == SmState::Standby);
  if (hello.state == SmState::Master) note_change();
}

void StandbyReplication::note_change() {
  if (std::exchange(owed_, true)) return;
  timer_ = Timer(runtime_, runtime_.now() + kDelay, [this] {
    owed_ = false;
    publish();
  });
}

bool StandbyReplication::standby_is_behind() {
  server_.note_change();  // also of what was changed without note_change()
  if (client_.peers().empty() || (!owed_ && server_.is_current())) return false;
  if (!handover_since_) handover_since_ = runtime_.now();
  if (runtime_.now() - *handover_since_ >= kHandoverWait) return false;
  handover_timer_ =
      Timer(runtime_, runtime_.now() + kHandoverCheckInterval, [this] { hooks_.settle(); });
  return true;
}

void StandbyReplication::publish() {
  const bool is_master = election_ != nullptr && election_->state() == SmState::Master;
  if (!is_master || server_.peers().empty()) return;
  const PersistentState& own = hooks_.own();
  server_.publish({{kLids, print_lid_book(own.book)},
                   {kTurns, print_turns(own.turns)},
                   {kRows, print_rows_mark(own.rows)}});
  server_.note_change();
}

bool StandbyReplication::take_changes(const replica::Part& changes, std::int64_t wall_ms) {
  if (changes.name != kRecords) return false;
  constexpr std::int64_t kFar = std::int64_t{1} << 60;  // no clock is so wrong
  const std::int64_t ahead_ms = std::clamp(wall_ms, -kFar, kFar) - wall_();
  if (hooks_.take_record_changes(changes.text, ahead_ms)) return true;
  log::warn("replica.unreadable", "why=\"changes of {} that are none\"", changes.name);
  return false;
}

bool StandbyReplication::take(const replica::Part& part, std::int64_t wall_ms) {
  const std::string where = "replica (" + part.name + ")";
  if (part.name == kLids) return hand_over(parse_lid_book(part.text, where), hooks_.take_lids);
  if (part.name == kTurns) return hand_over(parse_turns(part.text, where), hooks_.take_turns);
  if (part.name == kRecords) {
    // By the sender's clock: leases last as long here as there.
    return hand_over(parse_records(part.text, where, {runtime_.now(), wall_ms}),
                     hooks_.take_records);
  }
  if (part.name != kRows) return false;
  if (!part.text.empty()) hooks_.take_rows_mark();
  return true;
}

}  // namespace smd
