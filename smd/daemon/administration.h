// The subnet administration as a whole: the service on QP1, what clients leave with it, and what it
// answers from.
#pragma once

#include <functional>
#include <memory>

#include "smd/manager/subnet_manager.h"
#include "smd/report/session_view.h"
#include "smd/sa/alias_manager.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/inform_manager.h"
#include "smd/sa/port_tables.h"
#include "smd/sa/server.h"
#include "smd/sa/service_manager.h"
#include "smd/sa/subnet_view.h"
#include "smd/state/client_records.h"

namespace smd {

/// Null until a cycle has routes that were verified, and while another manager is master. `held`
/// outlives the view. `before`: with which it shares what is the same; may be null.
[[nodiscard]] std::shared_ptr<const sa::SubnetView> make_view(
    const SubnetManager& manager,
    const sa::AliasTable::Map& aliases = {},
    const sa::HeldTables* held = nullptr,
    const sa::SubnetView* before = nullptr,
    sa::PathOrder* path_order = nullptr);

class Administration {
 public:
  struct Hooks {
    std::function<void()> on_change;   // what clients left is not what it was
    std::function<void()> on_aliases;  // further GUIDs: a new view is due, and ports are to be set

    /// A port had it: nobody else gets it while that is away. Null: none did.
    std::function<bool(Guid)> is_known = nullptr;
  };

  /// Takes the handlers of `transport`.
  Administration(Runtime& runtime, Transport& transport, Hooks hooks);
  Administration(const Administration&) = delete;

  /// Before restore(), and again whenever they change; what is beyond stays.
  void set_limits(const SaConfig& limits);

  /// What is in force from now on: answers come from it, and who came and went is reported.
  void adopt(std::shared_ptr<const sa::SubnetView> view);

  void tell(const sa::SaEvent& event) { inform_.tell(event); }

  /// What changed of it since the last call, as print_changes() has it; false: anything may have.
  [[nodiscard]] bool take_changes(const Moment& now, std::string& out);

  /// What clients left, to be kept; and what a former life kept, before the first view.
  [[nodiscard]] ClientRecords collect() const;
  void restore(const ClientRecords& kept);

  /// For reports.
  [[nodiscard]] SaView view() { return {server_, inform_, services_}; }

  [[nodiscard]] sa::Server& server() { return server_; }

  [[nodiscard]] const sa::Server& server() const { return server_; }

  [[nodiscard]] sa::InformManager& inform() { return inform_; }

  [[nodiscard]] const sa::InformManager& inform() const { return inform_; }

  [[nodiscard]] const sa::AliasTable::Map& aliases() const { return aliases_.table().all(); }

  [[nodiscard]] sa::ServiceManager& services() { return services_; }

  [[nodiscard]] const sa::ServiceManager& services() const { return services_; }

 private:
  Hooks hooks_;
  sa::Server server_;
  sa::InformManager inform_;
  sa::ServiceManager services_;
  sa::AliasManager aliases_;
};

/// As Administration::take_changes(), of multicast groups.
[[nodiscard]] bool take_changes(GroupTable& groups, std::string& out);

/// Those of multicast groups, which the manager keeps.
[[nodiscard]] GroupLimits group_limits(const SaConfig& limits);

/// Where multicast groups are kept. The manager outlives who takes them.
[[nodiscard]] sa::GroupManager::Parts group_parts(SubnetManager& manager);

}  // namespace smd
