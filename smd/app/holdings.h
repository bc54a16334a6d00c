// What the manager carries from one cycle to the next.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/app/lane_job.h"
#include "smd/app/partition_choice.h"
#include "smd/policy/lid_assignment.h"
#include "smd/program/programmer.h"

namespace smd::app {

/// What outlives the manager: written down when it changes, handed to the next.
struct Kept {
  LidBook book;
  std::vector<TurnRef> turns;  // that may be blocked
  bool rows = false;           // switches may hold SL-to-VL rows that certain routes needed
};

struct Holdings {
  LidBook book;
  Orientation orientation;
  ProgramState program;
  std::shared_ptr<const ActiveSubnet> in_force;  // null until a cycle has verified routes

  /// `in_force`, on its fabric and on what may still carry data beside it.
  std::shared_ptr<const ActiveSubnet> carrying;

  ToldSls told;       // SLs that hosts may be using
  bool rows = false;  // of switches are set turn by turn, now and from now on

  /// Multicast packets need a lane of their own, where there is one.
  bool multicast_apart = false;

  bool uneven = false;  // routes were kept over a change, and not made even since

  PartitionState partitions;
  std::vector<std::string> qos_conflicts;  // as last said
  /// Another manager may have ruled since: clients are told to register again.
  bool reregister = false;

  std::uint64_t next_epoch = 1;

  /// Until then switches may report links that a plan took down on purpose.
  TimePoint echoes_end;

  /// Ports that led to silence in the latest discovery. New silence may be a change that came while
  /// we looked, so it is looked at once more in full; silence that stays is believed.
  std::vector<SilentPort> silence;

  /// Switches that did not take what routes need, and why: left out as if they were silent, until
  /// one takes a Set again.
  std::map<Guid, std::string> refusing;

  /// Not empty: `in_force` is not the fabric as last seen, and why. Only a full discovery will do.
  std::string stale = "nothing is known yet";

  /// `better`: what is in force, on a snapshot that knows more. Whoever holds the one before may
  /// keep it.
  void replace_in_force(std::shared_ptr<const ActiveSubnet> better) {
    if (carrying == in_force) carrying = better;
    told.refresh(better);
    in_force = std::move(better);
  }
};

}  // namespace smd::app
