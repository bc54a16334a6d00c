// The subnet administration as a whole: the service on QP1, what clients leave with it, and what it
// answers from.
#pragma once

#include <functional>
#include <memory>

#include "smd/app/kept_records.h"
#include "smd/app/subnet_manager.h"
#include "smd/sa/alias_keeper.h"
#include "smd/sa/group_keeper.h"
#include "smd/sa/held_tables.h"
#include "smd/sa/inform_keeper.h"
#include "smd/sa/server.h"
#include "smd/sa/service_keeper.h"
#include "smd/sa/subnet_view.h"

namespace smd::app {

/// Null until a cycle has routes that were verified, and while another manager rules. `held`
/// outlives the view.
[[nodiscard]] std::shared_ptr<const sa::SubnetView> make_view(
    const SubnetManager& manager,
    const sa::AliasTable::Map& aliases = {},
    const sa::HeldTables* held = nullptr);

class Administration {
 public:
  struct Hooks {
    std::function<void()> on_change;   // what clients left is not what it was
    std::function<void()> on_aliases;  // further GUIDs: a new view is due, and ports are to be told
  };

  /// Takes the handlers of `transport`.
  Administration(Runtime& runtime, Transport& transport, Hooks hooks);
  Administration(const Administration&) = delete;

  /// Before restore(), and again whenever they change; what is beyond stays.
  void set_limits(const SaConfig& limits);

  /// What is in force from now on: answers come from it, and who came and went is told.
  void adopt(std::shared_ptr<const sa::SubnetView> view);

  void tell(const sa::SaEvent& event) { inform_.tell(event); }

  /// What changed of it since the last call, as print_changes() has it; false: anything may have.
  [[nodiscard]] bool take_changes(const Moment& now, std::string& out);

  /// What clients left, to be kept; and what a former life kept, before the first view.
  [[nodiscard]] KeptRecords collect() const;
  void restore(const KeptRecords& kept);

  [[nodiscard]] sa::Server& server() { return server_; }

  [[nodiscard]] const sa::Server& server() const { return server_; }

  [[nodiscard]] sa::InformKeeper& inform() { return inform_; }

  [[nodiscard]] const sa::InformKeeper& inform() const { return inform_; }

  [[nodiscard]] const sa::AliasTable::Map& aliases() const { return aliases_.table().all(); }

  [[nodiscard]] sa::ServiceKeeper& services() { return services_; }

  [[nodiscard]] const sa::ServiceKeeper& services() const { return services_; }

 private:
  Hooks hooks_;
  sa::Server server_;
  sa::InformKeeper inform_;
  sa::ServiceKeeper services_;
  sa::AliasKeeper aliases_;
};

/// As Administration::take_changes(), of multicast groups.
[[nodiscard]] bool take_changes(GroupTable& groups, std::string& out);

/// Those of multicast groups, which the manager keeps.
[[nodiscard]] GroupLimits group_limits(const SaConfig& limits);

/// Where multicast groups are kept. The manager outlives who takes them.
[[nodiscard]] sa::GroupKeeper::Parts group_parts(SubnetManager& manager);

}  // namespace smd::app
