// What can wait until the subnet works: leftovers in P_Key tables, ports that said that their
// capabilities changed, the names of the nodes, links that run at FDR10, what another manager left
// switched on; and M_Key leases that have to be kept up.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "smd/discovery/node_details.h"
#include "smd/fabric/delta.h"
#include "smd/policy/p_key_tables.h"
#include "smd/program/table_audit.h"
#include "smd/smp/smp_client.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

class DeferredWork {
 public:
  /// Both outlive this. `keys` learns what is read.
  DeferredWork(Runtime& runtime, SmpClient& client, KeyMemory& keys)
      : runtime_(runtime), client_(client), keys_(keys) {}

  DeferredWork(const DeferredWork&) = delete;

  /// What is known of the nodes, put into a new snapshot; and who sends data, by these rules.
  [[nodiscard]] std::shared_ptr<const Fabric> with_known(
      const Fabric& fabric, std::shared_ptr<const SiteNodes> traffic) const;

  /// Ports that were in Initialize: what is known of them is asked again.
  void note_came_up(const Fabric& fabric, const std::vector<PortIdx>& ports);

  /// A node was away, or began anew: it may have another description, of which no trap told, and
  /// ports that nobody asked yet though they are Active.
  void note_new(const Fabric& fabric, Guid node);

  /// The node says that its description or capabilities changed.
  void note_changed(Guid node);

  /// A node said that it changed, and was not asked yet.
  [[nodiscard]] bool has_changed_nodes() const { return !changed_.empty(); }

  /// From the next start() on. True where switches are to be asked that were not asked so.
  bool set_leftovers(Leftovers what);

  /// Every P_Key table is asked again.
  void audit_everybody() { everybody_audited_ = false; }

  /// Another manager may have been here: every switch is asked again, too.
  void forget() {
    asked_for_leftovers_.clear();
    audit_everybody();
  }

  /// Lines for the operator: what is still on in switches of `fabric`.
  [[nodiscard]] std::vector<std::string> print_leftovers(const Fabric& fabric) const;

  /// What was learned of the nodes is in it; routes and indices are those of the one before.
  using Learned = std::function<void(std::shared_ptr<const ActiveSubnet>)>;

  /// `learned` runs each time something was, `done` once at the end; neither after stop().
  void start(std::shared_ptr<const ActiveSubnet> now,
             MKey m_key,
             Learned learned,
             std::function<void()> done);

  void stop();

  [[nodiscard]] bool running() const { return running_; }

 private:
  void audit_pkeys();
  void reread_ports();
  void fetch_descriptions();
  void fetch_fdr10();
  void fetch_leftovers();
  void end();
  void learn(std::shared_ptr<const Fabric> fabric);
  [[nodiscard]] std::vector<PortIdx> ports_to_ask(const std::set<PortRef>& wanted) const;

  Runtime& runtime_;
  SmpClient& client_;
  KeyMemory& keys_;
  std::shared_ptr<const ActiveSubnet> now_;  // while running
  MKey m_key_;
  Learned learned_;
  std::function<void()> done_;
  bool running_ = false;
  Timer begin_;  // in a turn of the loop of its own

  bool everybody_audited_ = false;
  bool everybody_timed_ = false;  // asked for FDR10
  std::set<PortRef> unaudited_;   // came up since, or was away
  std::set<PortRef> untimed_;     // likewise
  std::set<Guid> changed_;        // said so and are to be asked again
  std::set<Guid> rereading_;      // are being asked; what they answer is not in the snapshot yet
  std::set<Guid> renamed_;        // likewise, as far as their names are not here yet
  std::set<PortRef> fdr10_known_;
  std::unordered_map<Guid, std::string> descriptions_;  // look-ups only; never iterated

  std::optional<TableAudit> pkeys_;
  std::optional<SmpPump> reread_;
  std::optional<DescriptionFetch> describer_;
  std::optional<Fdr10Fetch> fdr10_;

  Leftovers about_leftovers_ = Leftovers::Ignore;
  std::set<Guid> asked_for_leftovers_;               // and have nothing more to be done about
  std::map<Guid, std::set<std::string>> leftovers_;  // what is on, by switch
  std::optional<LeftoverFetch> leftover_fetch_;
};

// Keeps the M_Key on every port: a SMP with a wrong key starts a port's lease, one with the right
// key stops it. Switches see ours in every sweep; adapters would not, so each is asked twice per
// lease.

class MKeyLeaseRefresher {
 public:
  MKeyLeaseRefresher(Runtime& runtime, SmpClient& client) : runtime_(runtime), client_(client) {}

  MKeyLeaseRefresher(const MKeyLeaseRefresher&) = delete;

  /// From now on, for the ports of `in_force`; nothing where that is null, or there is no key or no
  /// lease.
  void set_ports(std::shared_ptr<const ActiveSubnet> in_force, MKey m_key, Duration lease);

  void stop();

 private:
  void arm();
  void ask_all();

  Runtime& runtime_;
  SmpClient& client_;
  std::shared_ptr<const ActiveSubnet> in_force_;
  MKey m_key_;
  Duration pause_{0};
  TimePoint next_;       // when the next round is due
  bool asking_ = false;  // a round is under way: the next is armed when it ends
  std::optional<SmpPump> round_;
  Timer timer_;
};

}  // namespace smd
