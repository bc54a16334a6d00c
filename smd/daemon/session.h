// What lives as long as one opened device: the manager of the subnet behind it, the administration,
// and what the two owe each other.
#pragma once

#include <functional>

#include "smd/cc/cc_manager.h"
#include "smd/daemon/administration.h"
#include "smd/daemon/client_ports.h"
#include "smd/manager/subnet_manager.h"
#include "smd/report/session_view.h"
#include "smd/sa/group_manager.h"
#include "smd/state/client_records.h"
#include "smd/state/record_store.h"
#include "smd/transport/transport.h"

namespace smd {

class Session {
 public:
  struct Hooks {
    SubnetManager::Observer observer;

    std::function<void()> on_records;  // what clients left is not what it was

    /// Milliseconds since 1970. Without it the runtime's own time counts.
    std::function<std::int64_t()> wall_ms{};
  };

  /// `left`: by clients in a former life. All references outlive this.
  Session(Runtime& runtime,
          Transport& transport,
          Settings settings,
          const SaConfig& limits,
          PersistentState kept,
          const ClientRecords& left,
          Hooks hooks);
  Session(const Session&) = delete;

  void start() { manager_.start(); }

  /// Of what ports can make us keep; what is beyond stays.
  void set_limits(const SaConfig& limits);

  /// What clients left with us, or, while we stand by, with the master.
  [[nodiscard]] ClientRecords collect() const;

  /// Where the log of its changes ends, and what changed since it ended elsewhere (RecordLog).
  [[nodiscard]] std::uint64_t record_position();
  [[nodiscard]] std::optional<std::string> record_changes(std::uint64_t position);

  /// In place of what we have: as the master keeps it whom we may succeed. Requires: standby.
  void take_records(const ClientRecords& records);

  /// What the master says changed of it since, by a clock that is `ahead_ms` before ours; false
  /// when it cannot be read.
  [[nodiscard]] bool take_record_changes(std::string_view changes, std::int64_t ahead_ms);

  [[nodiscard]] SubnetManager& manager() { return manager_; }

  [[nodiscard]] const SubnetManager& manager() const { return manager_; }

  [[nodiscard]] Administration& administration() { return administration_; }

  [[nodiscard]] const Administration& administration() const { return administration_; }

  [[nodiscard]] CcManager& congestion() { return congestion_; }

  [[nodiscard]] const CcManager& congestion() const { return congestion_; }

  [[nodiscard]] const SessionCounters& counters() const { return counters_; }

  /// For reports.
  [[nodiscard]] SessionView view() {
    return {manager_, counters_, administration_.view(), congestion_};
  }

 private:
  [[nodiscard]] SubnetManager::Observer observe(SubnetManager::Observer observer);
  void connect();
  void on_cycle(const CycleReport& cycle);
  void on_active(const Publisher<ActiveSubnet>::Change& change);
  void adopt_view();
  void restore(const ClientRecords& records);
  void restore_copy();
  void note_changes();
  [[nodiscard]] Moment now() const;
  [[nodiscard]] Moment runtime_moment() const;

  Runtime& runtime_;
  std::function<void()> on_records_;
  std::function<std::int64_t()> wall_ms_;
  RecordLog log_;
  std::vector<Guid> in_service_;     // as the log has it
  std::optional<RecordLines> copy_;  // of what the master keeps, where that was changed since; its
                                     // times are the runtime's
  SessionCounters counters_;
  std::uint64_t changes_seen_ = 0;
  ClassSplit split_;
  sa::HeldTables held_;  // before the administration, whose view reads it
  Administration administration_;
  CcManager congestion_;
  SubnetManager manager_;
  AliasWriter aliases_;
  ClientReregistration clients_;
  sa::GroupManager groups_;
  TableReader tables_;
  sa::TableReadManager table_reads_;
};

}  // namespace smd
