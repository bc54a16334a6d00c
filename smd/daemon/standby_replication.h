// What is kept, copied to standbys while we are master, and taken from the master while
// we stand by (docs/several-managers.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/manager/subnet_manager.h"
#include "smd/replica/client.h"
#include "smd/replica/server.h"
#include "smd/state/state_store.h"

namespace smd {

class StandbyReplication {
 public:
  /// From a change to its way out: what changes so shortly before the master dies is not copied.
  static constexpr Duration kDelay = std::chrono::milliseconds(200);

  /// A handover waits no longer than this for the copy.
  static constexpr Duration kHandoverWait = std::chrono::seconds(5);

  /// So long a standby may be without a copy before somebody has to know: it may just have started.
  static constexpr Duration kMostWithoutCopy = std::chrono::minutes(1);

  /// `dialer` and `store` outlive this.
  StandbyReplication(Runtime& runtime,
                     replica::Dialer& dialer,
                     std::vector<std::string> peers,
                     replica::WallClock wall,
                     StateStore& store);
  StandbyReplication(const StandbyReplication&) = delete;

  /// A reader whose certificate was good.
  void accept(std::unique_ptr<replica::Stream> stream);

  /// Our role is another, or there is no manager: null. It outlives its role.
  void note_role(SubnetManager* manager, std::uint64_t subnet_prefix);

  /// Ours, as print_shared_options() gives them: what a standby is sent, or compares.
  void set_options(std::string text);

  /// Those of our master's that differ from ours, while we stand by.
  [[nodiscard]] std::vector<std::string> differing_options() const;

  /// Of the store.
  void note_change(const StateKind& kind);

  /// We are to hand over to `standby`, which does not have everything, or does not read yet. Not
  /// for longer than kHandoverWait at a time.
  [[nodiscard]] bool is_behind(Guid standby);

  /// A standby, we or another, has been without a copy for long, and why; empty: none has.
  [[nodiscard]] const std::string& alarm() const { return alarm_; }

  [[nodiscard]] const replica::Server& server() const { return server_; }

  [[nodiscard]] const replica::Client& client() const { return client_; }

 private:
  void publish_soon();
  void publish();
  void watch_handover();
  void watch_copies();
  [[nodiscard]] std::string find_lack() const;
  void take_turns(std::vector<TurnRef> turns);
  [[nodiscard]] bool take(const replica::Part& part, std::int64_t wall_ms);
  [[nodiscard]] bool take_changes(const replica::Part& changes, std::int64_t wall_ms);

  Runtime& runtime_;
  replica::WallClock wall_;
  StateStore& store_;
  SubnetManager* manager_ = nullptr;
  replica::Server server_;
  replica::Client client_;
  std::string options_;
  std::optional<std::string> masters_options_;
  bool owed_ = false;
  Timer timer_;
  std::optional<TimePoint> handover_since_;  // a handover waits for the copy
  Guid handover_to_;                         // likewise
  Timer handover_timer_;

  SmState role_ = SmState::NotActive;
  bool has_taken_ = false;        // from the one who rules now
  bool compares_orders_ = true;   // with its first copy: we may have ruled before it, in this life
                                  // or the one before
  std::vector<TurnRef> blocked_;  // what this manager may have left, which nobody else knows of
  std::optional<TimePoint> lacking_since_;
  std::string alarm_;
  Timer copies_timer_;
};

}  // namespace smd
