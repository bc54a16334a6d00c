// The groups of the subnet and what is done for them: trees, entries in the switches, news of
// groups.
//
// Independent of cycles: a join is served at once, whatever a sweep is doing; what comes while
// entries are being written goes into the next round. A cycle that ended brings a new snapshot: who
// is gone leaves his groups, and trees are made good.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smd/config/settings.h"
#include "smd/multicast/group_table.h"
#include "smd/multicast/group_trees.h"
#include "smd/multicast/subnet_limits.h"
#include "smd/multicast/tree.h"
#include "smd/multicast/tree_quality.h"
#include "smd/program/mft_writer.h"
#include "smd/program/takeover.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

// multicast_deadlock.cpp: whether unicast routes and trees together are free of credit loops. Dear:
// off the loop.

struct TreesOfSl {
  std::uint8_t sl = 0;
  std::vector<SwitchMask> masks;
};

struct MulticastVerdict {
  std::optional<bool> acyclic;  // nothing: not proved, where routes change VLs on the way
  std::string cycle;            // one of them
  bool of_trees = false;        // they close one without any unicast packet
  std::string discarded;  // where rows of the routes discard packets of groups; empty: nowhere
};

/// Trees that have a VL of their own are checked on it alone: no unicast packet is there.
[[nodiscard]] MulticastVerdict check_multicast_deadlock(const ActiveSubnet& in_force,
                                                        const std::vector<TreesOfSl>& trees,
                                                        CopyModel copies = CopyModel::Asynchronous);

struct MulticastStats {
  std::uint64_t rounds = 0;
  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_written = 0;
  std::uint64_t faults = 0;
  std::size_t stranded = 0;   // members of MLIDs that no tree reaches
  std::size_t unmet = 0;      // MLIDs whose entries are not confirmed
  std::size_t held_up = 0;    // those that stay as they are until a switch says what it holds
  std::string unmet_why;      // the first switch of the last round that had one, and what it said
  std::string shape_refused;  // why trees are not of the shape that is set; empty: they are
  std::string mtu_too_large;  // of which group of the site links between switches carry less
  std::string mtu_lessened;  // of which group of the site the MTU is that of ports, and not its own

  std::uint64_t credit_loops = 0;   // verdicts that there is one, other than the last
  std::optional<MulticastVl> vl{};  // that groups have to themselves
  std::string vl_refused;           // why they have none, though they need one
  std::string discarded;            // a row that discards their packets then; empty: there is none

  /// Unicast and multicast packets together cannot block each other in a circle. Nothing: not
  /// proved, as routes that change VLs are in force.
  std::optional<bool> acyclic = true;
};

/// One line each; empty when all is well.
[[nodiscard]] std::vector<std::string> print_alarms(const MulticastStats& stats);

/// What trees are worth, as they are wanted.
struct TreeReport {
  struct OfTree {
    Lid mlid;
    std::size_t members = 0;
    PortIdx sender = kNone<PortIdx>;  // for whom alone it was laid
    TreeQuality quality;
  };

  std::size_t trees = 0;
  LinkShares cables;
  std::vector<OfTree> largest;  // most members first, then the lowest MLID; 16 at most
};

class MulticastManager {
 public:
  MulticastManager(Runtime& runtime, SmpClient& client, MftMemory& memory, CostMeter& meter)
      : runtime_(runtime), client_(client), memory_(memory), meter_(meter) {}

  MulticastManager(const MulticastManager&) = delete;

  /// What a former life left, or the master before us; before the first snapshot of a term as
  /// master.
  void restore(std::vector<Group> groups) {
    restored_ = std::move(groups);
    groups_.note_restored();
  }

  /// What the next life shall have; before the first snapshot what was restored.
  [[nodiscard]] std::vector<Group> to_restore() const {
    return now_ ? groups_.snapshot() : restored_;
  }

  /// Another manager is master: nothing more is written, and groups wait for the next term, or the
  /// list is replaced by restore().
  void stop();

  /// What is in force now. Where it has the routes of the one before, nothing has to be made anew.
  void adopt(std::shared_ptr<const ActiveSubnet> now, const Settings& settings);

  /// Other routes are about to be written. Trees that would close a circle with them are taken away
  /// first; then, or at once, `then` runs. They come back after end_way().
  void make_way(std::shared_ptr<const ActiveSubnet> next, std::function<void()> then);

  /// Trees were taken away since make_way(): packets that they copied may be on their way.
  [[nodiscard]] bool has_withdrawn() const { return way_ && !way_->withdrawn.empty(); }

  /// Whatever came of it.
  void end_way();

  /// Somebody joined or left: to be called after every change of groups().
  void note_change();

  [[nodiscard]] GroupTable& groups() { return groups_; }

  [[nodiscard]] const GroupTable& groups() const { return groups_; }

  [[nodiscard]] const MftMemory& tables() const { return memory_; }

  /// Null before the first snapshot.
  [[nodiscard]] const SubnetLimits* realm() const { return realm_ ? &*realm_ : nullptr; }

  /// That trees and PortIdx are of; while the manager's own cable is out it is not the one in
  /// force. Requires: a snapshot.
  [[nodiscard]] const Fabric& fabric() const { return now_->fabric(); }

  /// Null where the MLID has none.
  [[nodiscard]] const Tree* find_tree(Lid mlid) const { return trees_.find(mlid); }

  /// For whom alone the tree of the MLID was laid; kNone: for all.
  [[nodiscard]] PortIdx sender_of(Lid mlid) const { return trees_.sender_of(mlid); }

  /// As they are wanted, by MLID: those that were laid since the last snapshot.
  [[nodiscard]] const std::map<Lid, std::vector<SwitchMask>>& masks() const { return masks_; }

  /// Measured when it is asked for first after a change. Requires: a snapshot.
  [[nodiscard]] const TreeReport& summary() const;

  /// Who is in any group of the MLID, ascending by port. Requires: a snapshot.
  [[nodiscard]] std::vector<TreeMember> members_of(Lid mlid) const;

  /// Runs for every group that is created or deleted, and after any other change with none.
  void on_change(std::function<void(const std::vector<GroupChange>&)> handler) {
    on_change_ = std::move(handler);
  }

  /// Asked for a VL of their own for groups: in force with a later adopt(), or why there is none.
  using RequestVl = std::function<tl::expected<MulticastVl, std::string>()>;

  void on_credit_loop(RequestVl handler) { request_vl_ = std::move(handler); }

  /// Nothing runs, and nothing but what failed waits.
  [[nodiscard]] bool at_rest() const {
    return !writer_ && !proving_ && !way_ && !round_scheduled_ && !reregistration_;
  }

  [[nodiscard]] const MulticastStats& stats() const { return stats_; }

 private:
  void compare_mtu(const std::vector<PreconfiguredGroup>& wishes);
  void adopt_trees(const Settings& settings);
  void lay_anew();
  void schedule_round();
  [[nodiscard]] PartitionFacts partition_facts() const;
  void begin_round();
  void write(MftGoals goals, bool in_two_steps);
  void note_unread_trees(const Fabric& fabric) const;
  void try_way();
  void leave_way();
  void withdraw(const std::vector<Lid>& mlids);
  void on_written(const MftReport& report, bool of_this_snapshot);
  void on_unmet(const MftReport& report);
  [[nodiscard]] std::optional<std::vector<SwitchMask>> grow(Lid mlid);
  [[nodiscard]] bool is_proved_by_ranks() const;
  [[nodiscard]] std::vector<TreesOfSl> with_sls(const MftGoals& trees) const;
  void prove(MftGoals goals);
  void end_proof();
  void hold_back(const MftGoals& goals);
  void retry_later(Duration when);
  void schedule_deadlock_check();
  void check_deadlock();
  void on_verdict(const MulticastVerdict& verdict);
  void ask_members_to_reregister(const std::function<bool(const Group&)>& is_changed);

  Runtime& runtime_;
  SmpClient& client_;
  MftMemory& memory_;
  CostMeter& meter_;
  GroupTable groups_;
  GroupTrees trees_;
  CopyModel copies_ = CopyModel::Asynchronous;
  std::vector<Group> restored_;
  std::shared_ptr<const ActiveSubnet> now_;
  std::optional<SnapshotLimits> realm_;
  MKey m_key_;
  Duration drain_time_{0};  // of packets on their way
  std::map<Lid, std::size_t> stranded_;
  std::map<Lid, std::vector<SwitchMask>> masks_;  // as wanted, those laid since the last snapshot
  mutable std::optional<TreeReport> summary_;     // nothing: not asked for since a change
  std::set<Lid> pending_;
  Lid next_mlid_;  // where the next round begins: where one ended that was cut short; 0: at the
                   // first
  std::set<Lid> failed_;        // since the last retry or snapshot: again with the next
  std::set<Lid> held_up_;       // of these
  std::set<Lid> without_tree_;  // none could be laid: again with the next snapshot
  Duration backoff_{0};
  TimePoint next_round_;  // not before
  bool round_scheduled_ = false;

  struct RouteChange {
    std::shared_ptr<const ActiveSubnet> next;
    std::function<void()> then;    // empty: it was called
    bool begun = false;            // trees are looked at or taken away
    std::vector<Lid> withdrawn{};  // they come back
  };

  std::optional<RouteChange> way_;  // meanwhile no tree is written
  Timer patience_;                  // of routes, for trees

  bool proving_ = false;                   // of a round, whether it may be written
  std::uint64_t proof_ = 0;                // its number, or that of the next one
  std::optional<TimePoint> vl_requested_;  // groups wait for one since
  bool deadlock_check_due_ = false;        // the timer runs
  std::function<void(const std::vector<GroupChange>&)> on_change_;
  RequestVl request_vl_;
  MulticastStats stats_;
  std::unique_ptr<MftWriter> writer_;
  std::optional<Reregistration> reregistration_;  // members who shall ask for their groups again
  std::set<Guid> reregistering_;                  // those that it tells, by port
  Timer round_timer_;
  Timer retry_;
  std::optional<TimePoint> retry_due_;  // while that runs
  Timer deadlock_timer_;
  Timer writer_ended_;          // the frame of a writer that is about to be destroyed
  Timer reregistration_ended_;  // likewise, of a reregistration
  OffloadOwner work_;
};

}  // namespace smd
