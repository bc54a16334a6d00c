// What lives as long as one opened device: the manager of the subnet behind it, the administration,
// and what the two owe each other.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "smd/cc/cc_manager.h"
#include "smd/cc/path_watch.h"
#include "smd/daemon/administration.h"
#include "smd/daemon/client_ports.h"
#include "smd/fabric/delta.h"
#include "smd/ha/write_gate.h"
#include "smd/manager/subnet_manager.h"
#include "smd/report/session_view.h"
#include "smd/sa/group_manager.h"
#include "smd/state/record_store.h"
#include "smd/state/state_store.h"
#include "smd/transport/transport.h"

namespace smd {

class Session final : private RecordTables {
 public:
  struct Hooks {
    SubnetManager::Observer observer{};

    /// Milliseconds since 1970. Without it the runtime's own time counts.
    std::function<std::int64_t()> wall_ms{};
  };

  /// What clients left with `store` goes into its tables, and stays in `store` when it ends. All
  /// references outlive this.
  Session(Runtime& runtime,
          Transport& transport,
          Settings settings,
          const SaConfig& limits,
          StateStore& store,
          Hooks hooks);
  ~Session() override;
  Session(const Session&) = delete;

  void start() { manager_.start(); }

  /// Of what ports can make us keep; what is beyond stays.
  void set_limits(const SaConfig& limits);

  [[nodiscard]] SubnetManager& manager() { return manager_; }

  [[nodiscard]] const SubnetManager& manager() const { return manager_; }

  [[nodiscard]] Administration& administration() { return administration_; }

  [[nodiscard]] const Administration& administration() const { return administration_; }

  [[nodiscard]] CcManager& congestion() { return congestion_; }

  [[nodiscard]] const CcManager& congestion() const { return congestion_; }

  [[nodiscard]] const PathWatch& watch() const { return watch_; }

  [[nodiscard]] const SessionCounters& counters() const { return counters_; }

  /// For reports.
  [[nodiscard]] SessionView view() {
    return {manager_, counters_, administration_.view(), congestion_, watch_};
  }

 private:
  [[nodiscard]] SubnetManager::Observer observe(SubnetManager::Observer observer);
  void connect();
  void on_cycle(const CycleReport& cycle);
  void on_came_up(const SubnetManager::PortsUp& up);
  [[nodiscard]] std::vector<PortIdx> take_came_up(const Fabric& fabric);
  void on_active(const Publisher<ActiveSubnet>::Change& change);
  void end_memberships(const std::map<Guid, Guid>& given_back);
  void adopt_view();
  void adopt_view_soon();
  void choose_paths();
  [[nodiscard]] Moment now() const override;
  [[nodiscard]] ClientRecords collect() const override;
  [[nodiscard]] bool take_changes(std::string& out) override;
  void restore(const ClientRecords& records) override;

  Runtime& runtime_;
  RecordStore& records_;
  std::function<std::int64_t()> wall_ms_;
  std::vector<Guid> in_service_;  // as take_changes() last said
  SessionCounters counters_;
  std::uint64_t changes_seen_ = 0;
  ClassSplit split_;
  sa::HeldTables held_;  // before the administration, whose view reads it, as the next
  sa::PathOrder path_order_;
  Administration administration_;
  WriteGate congestion_gate_;  // asks the manager, which comes after: nothing is sent before
  CcManager congestion_;
  bool congestion_waits_ = false;  // for the report of the cycle whose routes are in force
  std::set<PortRef> came_up_;      // since congestion control was told
  SubnetManager manager_;
  PathWatch watch_;
  AliasWriter aliases_;
  bool view_due_ = false;  // for further GUIDs
  Timer view_timer_;
  ClientReregistration clients_;
  sa::GroupManager groups_;
  TableReader tables_;
  sa::TableReadManager table_reads_;
};

}  // namespace smd
