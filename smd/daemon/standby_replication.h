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

  /// We are to hand over, and whoever reads from us does not have everything, or nobody reads yet
  /// who is expected to. Not for longer than kHandoverWait at a time.
  [[nodiscard]] bool standby_is_behind();

  [[nodiscard]] const replica::Server& server() const { return server_; }

  [[nodiscard]] const replica::Client& client() const { return client_; }

 private:
  void publish_soon();
  void publish();
  void watch_handover();
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
  Timer handover_timer_;
};

}  // namespace smd
