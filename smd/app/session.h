// What lives as long as one opened device: the manager of the subnet behind it, the administration,
// and what the two owe each other.
#pragma once

#include <functional>

#include "smd/app/administration.h"
#include "smd/app/alias_writer.h"
#include "smd/app/client_call.h"
#include "smd/app/congestion_desk.h"
#include "smd/app/kept_records.h"
#include "smd/app/subnet_manager.h"
#include "smd/app/tally.h"
#include "smd/sa/group_keeper.h"
#include "smd/transport/class_split.h"

namespace smd::app {

class Session {
 public:
  struct Hooks {
    SubnetManager::Observer observer;

    std::function<void()> on_records;  // what clients left is not what it was
  };

  /// `left`: by clients in a former life. All references outlive this.
  Session(Runtime& runtime,
          Transport& transport,
          Settings settings,
          const SaConfig& limits,
          Kept kept,
          const KeptRecords& left,
          Hooks hooks);
  Session(const Session&) = delete;

  void start() { manager_.start(); }

  /// Of what ports can make us keep; what is beyond stays.
  void set_limits(const SaConfig& limits);

  /// What clients left with us.
  [[nodiscard]] KeptRecords collect() const;

  /// In place of what we have: as the master keeps it whom we may succeed. Requires: standby.
  void take_records(const KeptRecords& records);

  [[nodiscard]] SubnetManager& manager() { return manager_; }

  [[nodiscard]] const SubnetManager& manager() const { return manager_; }

  [[nodiscard]] Administration& administration() { return administration_; }

  [[nodiscard]] const Administration& administration() const { return administration_; }

  [[nodiscard]] CongestionDesk& congestion() { return congestion_; }

  [[nodiscard]] const CongestionDesk& congestion() const { return congestion_; }

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void connect();
  void on_cycle(const CycleReport& cycle);
  void on_active(const Publisher<ActiveSubnet>::Change& change);
  void adopt_view();

  std::function<void()> on_records_;
  Tally tally_;
  std::uint64_t changes_seen_ = 0;
  ClassSplit split_;
  Administration administration_;
  CongestionDesk congestion_;
  SubnetManager manager_;
  AliasWriter aliases_;
  ClientCall clients_;
  sa::GroupKeeper groups_;
};

}  // namespace smd::app
