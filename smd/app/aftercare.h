// What can wait until the subnet works, one after the other: leftovers in P_Key tables, ports that
// said that their capabilities changed, the names of the nodes, links that run at FDR10.
//
// Asks once; what a later snapshot still has is carried over, and only what came up since is asked
// again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/discovery/description_fetch.h"
#include "smd/discovery/fdr10_fetch.h"
#include "smd/fabric/delta.h"
#include "smd/policy/key_memory.h"
#include "smd/program/table_audit.h"

namespace smd::app {

class Aftercare {
 public:
  /// Both outlive this. `keys` learns what is read.
  Aftercare(SmpClient& client, KeyMemory& keys) : client_(client), keys_(keys) {}

  Aftercare(const Aftercare&) = delete;

  /// What is known of the nodes, put into a new snapshot.
  [[nodiscard]] std::shared_ptr<const Fabric> with_known(const Fabric& fabric) const;

  /// Ports that were in Initialize: what is known of them is asked again.
  void note_came_up(const Fabric& fabric, const std::vector<PortIdx>& ports);

  /// The node says that its description or capabilities changed.
  void note_changed(Guid node);

  /// True when a node said so and was not asked yet.
  [[nodiscard]] bool owes_reread() const { return !changed_.empty(); }

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
  void learn(std::shared_ptr<const Fabric> fabric);
  [[nodiscard]] std::vector<PortIdx> ports_to_ask(const std::set<PortRef>& wanted) const;

  SmpClient& client_;
  KeyMemory& keys_;
  std::shared_ptr<const ActiveSubnet> now_;  // while running
  MKey m_key_;
  Learned learned_;
  std::function<void()> done_;
  bool running_ = false;

  bool everybody_audited_ = false;
  bool everybody_timed_ = false;  // asked for FDR10
  std::set<PortRef> unaudited_;   // came up since
  std::set<PortRef> untimed_;     // likewise
  std::set<Guid> changed_;        // said so and are to be asked again
  std::set<Guid> renamed_;        // likewise, as far as their names are not here yet
  std::set<PortRef> fdr10_known_;
  std::map<Guid, std::string> descriptions_;

  std::optional<TableAudit> pkeys_;
  std::optional<SmpPump> reread_;
  std::optional<DescriptionFetch> describer_;
  std::optional<Fdr10Fetch> fdr10_;
};

}  // namespace smd::app
