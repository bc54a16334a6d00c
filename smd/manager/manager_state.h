// What the manager carries from one cycle to the next.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "smd/manager/effective_settings.h"
#include "smd/manager/plan_job.h"
#include "smd/policy/lid_assignment.h"
#include "smd/program/programmer.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

struct ManagerState {
  /// That the cycle works with: as kept, until a sweep or another master numbered ports anew.
  LidBook book;

  /// A cycle has waited in vain for the book to be on the disk, and it is not since.
  bool is_disk_slow = false;

  Orientation orientation;
  bool other_roots_alone = false;  // why there is none, with routes in force
  ProgramState program;
  std::shared_ptr<const ActiveSubnet> in_force;  // null until a cycle has verified routes

  /// What was in force when the latest plan was made, on its fabric and on all switches that
  /// answered before and were not found again: they may still forward. Null: none was made.
  std::shared_ptr<const ActiveSubnet> with_lost;

  /// What was in force before less than half of its switches were left, as where the own switch has
  /// lost its cables: what comes back is routed as it was. Null: all of it came back, or loads were
  /// rebalanced without the rest, or something else was asked for since.
  std::shared_ptr<const ActiveSubnet> before_loss;
  std::set<Guid> lost_then;  // switches of it that are not back yet

  /// Nobody else was seen since `in_force` was found: others may have ruled and written meanwhile.
  bool was_cut_off = false;

  AdvertisedSls advertised;  // SLs that hosts may be using

  /// Multicast packets need a VL of their own, where there is one.
  bool wants_multicast_vl = false;

  /// How often what is done at rest gave way to a change since it was last done: not without end.
  unsigned gave_way = 0;

  bool imbalanced = false;  // routes were kept over a change, and loads not rebalanced since

  /// The latest plan left turns blocked, or SLs discarded or on other VLs than the site wants. No
  /// unicast route needs them, but multicast trees may.
  bool leaves_blocked = false;

  /// Why the engine that is asked for did not make the routes, when it was last asked; or empty.
  std::string engine_refused;

  PartitionState partitions;
  std::vector<std::string> qos_conflicts;  // as last logged

  /// Another manager has been master since: clients are asked to register again.
  bool reregister = false;

  /// Another manager laid the routes that there were when this life began: entries that are found
  /// and work are kept, as long as nothing else is asked for.
  bool taking_over = false;

  std::uint64_t next_epoch = 1;

  /// Until then switches may report links that a plan took down on purpose.
  TimePoint self_inflicted_traps_until;

  /// Ports that led to silence in the latest discovery. New silence that may be a switch's may be a
  /// change that came while we swept, so it is swept once more in full; silence that stays is
  /// believed.
  std::vector<SilentPort> silence;

  /// Ports that were made Active since their switch was last asked; see KnownSubnet.
  std::set<PortRef> came_up;

  /// An operator asked for the tables of all ports to be read again, and no cycle got so far yet.
  bool audit_wanted = false;

  /// Switches whose PortStateChange the latest sweep left raised; likewise.
  std::set<Guid> left_raised;

  /// The latest plan ended early: no proof covers SLs of `in_force` that hosts do not use yet.
  bool is_plan_interrupted = false;

  unsigned interrupted_cycles = 0;  // in a row, up to the latest one that changed anything

  /// Switches that did not take what routes need, and why: left out as if they were silent, until
  /// one takes a Set again.
  std::map<Guid, std::string> refusing;

  /// What was logged of changes since one was last taken in: those that wait, or whose cycle
  /// failed, are found again and again.
  std::set<std::string> said_changes;

  /// Ends of links between switches that did not become Active, and why: left out until everything
  /// is swept again.
  std::map<PortRef, std::string> inactive_links;

  /// Likewise, but entries lead over them, as written by a plan that needed nothing of them: left
  /// out when the next cycle ends so, too. Ascending.
  std::vector<PortRef> stuck_links;

  /// Who was behind ports that lead to silence now, by name.
  std::map<PortRef, std::string> led_to;

  /// Not empty: `in_force` is not the fabric as last seen, and why. Only a full discovery will do.
  std::string stale = "nothing is known yet";

  /// Hosts may hear of `in_force`, who were told of `before`; null: of nothing. Of a plan that was
  /// not written to its end they hear where SLs make no difference; and with Unproved::Write, as of
  /// any change without a proof, when it met the same cycle by cycle: hosts that have come up since
  /// would else be out for as long as that lasts.
  [[nodiscard]] bool may_publish_after(const ActiveSubnet* before, Unproved unproved) const {
    const auto is_on_one_vl = [](const RoutingTables& routing) {
      return routing.vls == 1 && routing.sl_to_vl.empty();
    };
    return !is_plan_interrupted || in_force->rows->empty() || before == nullptr ||
           before->has_routes_of(*in_force) ||
           (is_on_one_vl(before->routing) && is_on_one_vl(in_force->routing)) ||
           publishes_unfinished(unproved);
  }

  [[nodiscard]] bool publishes_unfinished(Unproved unproved) const {
    constexpr unsigned kMostCycles = 3;
    return unproved == Unproved::Write && interrupted_cycles >= kMostCycles;
  }

  void forget_loss() {
    before_loss = nullptr;
    lost_then.clear();
  }

  /// Another engine is asked for, or other routes of it.
  void ask_anew() {
    forget_loss();
    taking_over = false;
  }

  /// `better`: what is in force, on a snapshot that knows more. Whoever holds the one before may
  /// keep it.
  void replace_in_force(std::shared_ptr<const ActiveSubnet> better) {
    if (with_lost) with_lost = with_lost == in_force ? better : add_lost(better, *with_lost);
    advertised.refresh(better);
    in_force = std::move(better);
  }
};

}  // namespace smd
