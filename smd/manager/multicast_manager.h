// Whether unicast routes and multicast trees together are free of credit loops. Dear: off the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smd/config/settings.h"
#include "smd/multicast/forest.h"
#include "smd/multicast/group_table.h"
#include "smd/multicast/label_paths.h"
#include "smd/multicast/subnet_limits.h"
#include "smd/multicast/tree.h"
#include "smd/program/mft_writer.h"
#include "smd/program/takeover.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

struct TreesOfSl {
  std::uint8_t sl = 0;
  std::vector<SwitchMask> masks;
};

struct MulticastVerdict {
  std::optional<bool> acyclic;  // nothing: not proved, where routes change VLs on the way
  std::string cycle;            // one of them
};

/// Trees that have a VL of their own are checked on it alone: no unicast packet is there.
[[nodiscard]] MulticastVerdict check_multicast_deadlock(const ActiveSubnet& in_force,
                                                        const std::vector<TreesOfSl>& trees);

// The groups of the subnet and what is done for them: trees, entries in the switches, news of
// groups.
//
// Independent of cycles: a join is served at once, whatever a sweep is doing; what comes while
// entries are being written goes into the next round. A cycle that ended brings a new snapshot: who
// is gone leaves his groups, and trees are made good.

struct MulticastStats {
  std::uint64_t rounds = 0;
  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_written = 0;
  std::uint64_t faults = 0;
  std::size_t stranded = 0;   // members of MLIDs that no tree reaches
  std::size_t unmet = 0;      // MLIDs whose entries are not confirmed
  std::string shape_refused;  // why trees are not of the shape that is set; empty: they are

  std::uint64_t credit_loops = 0;   // verdicts that there is one, other than the last
  std::optional<MulticastVl> vl{};  // that groups have to themselves
  std::string vl_refused;           // why they have none, though they need one

  /// Unicast and multicast packets together cannot block each other in a circle. Nothing: not
  /// proved, as routes that change VLs are in force.
  std::optional<bool> acyclic = true;
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

  /// Somebody joined or left: to be called after every change of groups().
  void note_change();

  [[nodiscard]] GroupTable& groups() { return groups_; }

  [[nodiscard]] const GroupTable& groups() const { return groups_; }

  [[nodiscard]] const MftMemory& tables() const { return memory_; }

  /// Null before the first snapshot.
  [[nodiscard]] const SubnetLimits* realm() const { return realm_ ? &*realm_ : nullptr; }

  /// Null where the MLID has none.
  [[nodiscard]] const Tree* find_tree(Lid mlid) const {
    return by_labels_ ? paths_.find(mlid) : forest_.find(mlid);
  }

  /// Runs for every group that is created or deleted, and after any other change with none.
  void on_change(std::function<void(const std::vector<GroupChange>&)> handler) {
    on_change_ = std::move(handler);
  }

  /// Asked for a VL of their own for groups: in force with a later adopt(), or why there is none.
  using RequestVl = std::function<tl::expected<MulticastVl, std::string>()>;

  void on_credit_loop(RequestVl handler) { request_vl_ = std::move(handler); }

  /// Nothing runs, and nothing but what failed waits.
  [[nodiscard]] bool at_rest() const { return !writer_ && !round_scheduled_ && !reregistration_; }

  [[nodiscard]] const MulticastStats& stats() const { return stats_; }

 private:
  void choose_shape(TreeShape wanted);
  void schedule_round();
  [[nodiscard]] PartitionFacts partition_facts() const;
  void begin_round();
  void on_written(const MftReport& report);
  [[nodiscard]] std::vector<TreeMember> members_of(Lid mlid) const;
  [[nodiscard]] std::optional<std::vector<SwitchMask>> grow(Lid mlid);
  void schedule_deadlock_check();
  void check_deadlock();
  void on_verdict(const MulticastVerdict& verdict);
  void ask_members_to_reregister();

  Runtime& runtime_;
  SmpClient& client_;
  MftMemory& memory_;
  CostMeter& meter_;
  GroupTable groups_;
  Forest forest_;
  LabelPaths paths_;
  bool by_labels_ = false;  // trees are those of paths_
  TreeRanks ranks_;
  std::vector<Group> restored_;
  std::shared_ptr<const ActiveSubnet> now_;
  std::optional<SnapshotLimits> realm_;
  MKey m_key_;
  std::map<Lid, std::size_t> stranded_;
  std::map<Lid, std::vector<SwitchMask>> masks_;  // as wanted
  std::set<Lid> pending_;
  std::set<Lid> failed_;  // of the last rounds: again when it is time, or with the next change
  Duration backoff_{0};
  TimePoint next_round_;  // not before
  bool round_scheduled_ = false;
  bool deadlock_check_due_ = false;  // the timer runs
  std::function<void(const std::vector<GroupChange>&)> on_change_;
  RequestVl request_vl_;
  MulticastStats stats_;
  std::unique_ptr<MftWriter> writer_;
  std::optional<Reregistration> reregistration_;  // members who shall ask for the SL again
  Timer round_timer_;
  Timer retry_;
  Timer deadlock_timer_;
  Timer writer_ended_;          // the frame of a writer that is about to be destroyed
  Timer reregistration_ended_;  // likewise, of a reregistration
  OffloadOwner work_;
};

}  // namespace smd
