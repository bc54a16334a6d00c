// What is kept, copied to standbys while we are master, and taken from the master while
// we stand by (docs/several-managers.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smd/ha/election.h"
#include "smd/policy/lid_assignment.h"
#include "smd/program/agent_memory.h"
#include "smd/replica/client.h"
#include "smd/replica/server.h"
#include "smd/state/persistent_state.h"
#include "smd/state/record_store.h"

namespace smd {

class StandbyReplication {
 public:
  /// From a change to its way out: what changes so shortly before the master dies is not copied.
  static constexpr Duration kDelay = std::chrono::milliseconds(200);

  /// A handover waits no longer than this for the copy.
  static constexpr Duration kHandoverWait = std::chrono::seconds(5);

  struct Hooks {
    /// What a manager keeps besides what clients left.
    std::function<const PersistentState&()> own;
    RecordSource records;

    /// What the master keeps, one kind at a time; only while we stand by.
    std::function<void(LidBook)> take_lids;
    std::function<void(std::vector<TurnRef>)> take_turns;
    std::function<void()> take_rows_mark;
    std::function<void(const ClientRecords&)> take_records;

    /// What changed of them, by a clock that is `ahead_ms` before ours; false: it cannot be read.
    std::function<bool(std::string_view changes, std::int64_t ahead_ms)> take_record_changes;

    /// A handover that waited for standby_is_behind() need not wait any more.
    std::function<void()> settle;
  };

  /// `dialer` outlives this.
  StandbyReplication(Runtime& runtime,
                     replica::Dialer& dialer,
                     std::vector<std::string> peers,
                     replica::WallClock wall,
                     Hooks hooks);
  StandbyReplication(const StandbyReplication&) = delete;

  /// A reader whose certificate was good.
  void accept(std::unique_ptr<replica::Stream> stream);

  /// Our role is another, or there is no manager: null. It outlives its role.
  void note_role(const Election* election, std::uint64_t subnet_prefix);

  /// Something that is kept is not what it was.
  void note_change();

  /// We are to hand over, and whoever reads from us does not have everything, or nobody reads yet
  /// who is expected to. Not for longer than kHandoverWait at a time.
  [[nodiscard]] bool standby_is_behind();

  [[nodiscard]] const replica::Server& server() const { return server_; }

  [[nodiscard]] const replica::Client& client() const { return client_; }

 private:
  void publish();
  [[nodiscard]] bool take(const replica::Part& part, std::int64_t wall_ms);
  [[nodiscard]] bool take_changes(const replica::Part& changes, std::int64_t wall_ms);

  Runtime& runtime_;
  replica::WallClock wall_;
  Hooks hooks_;
  const Election* election_ = nullptr;
  replica::Server server_;
  replica::Client client_;
  bool owed_ = false;
  Timer timer_;
  std::optional<TimePoint> handover_since_;  // a handover waits
  Timer handover_timer_;
};

}  // namespace smd
