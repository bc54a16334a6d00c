// The parts of a running daemon that commands and metrics read, and what a session counted.
// References are to what is open now: a view is taken anew for each answer.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "smd/admin/exposition.h"
#include "smd/cc/cc_manager.h"
#include "smd/cc/path_watch.h"
#include "smd/mad/notice.h"
#include "smd/manager/subnet_manager.h"
#include "smd/replica/client.h"
#include "smd/replica/server.h"
#include "smd/sa/inform_manager.h"
#include "smd/sa/server.h"
#include "smd/sa/service_manager.h"
#include "smd/subnet/cycle_report.h"

namespace smd {

/// How a change was taken in.
struct ChangeKind {
  bool shrank = false;  // fewer nodes or links than before
  TransitionKind transition = TransitionKind::Nothing;

  friend auto operator<=>(const ChangeKind&, const ChangeKind&) = default;
};

class SessionCounters {
 public:
  /// From the first on everything that somebody may want to be woken by has a count, 0: a series
  /// that begins with its first event never rises.
  SessionCounters();

  /// `is_change`: it found something other than the one before; see SubnetManager::changes().
  void note(const CycleReport& cycle, bool is_change);

  void note(const Notice& trap);

  /// Cycles that ended with everything as wanted, and others.
  [[nodiscard]] std::uint64_t cycles(bool up) const { return cycles_[up ? 1 : 0]; }

  /// Seconds from trigger to confirmed, of changes that were taken in whole.
  [[nodiscard]] const std::map<ChangeKind, Histogram>& changes() const { return changes_; }

  /// Generic traps by number; 0 stands for all numbers that no specification gives, and for those
  /// of vendors.
  [[nodiscard]] const std::map<std::uint16_t, std::uint64_t>& traps() const { return traps_; }

 private:
  std::array<std::uint64_t, 2> cycles_{};
  std::map<ChangeKind, Histogram> changes_;
  std::map<std::uint16_t, std::uint64_t> traps_;
};

/// The subnet administration: what it answered, and what clients left with it.
struct SaView {
  sa::Server& server;
  const sa::InformManager& inform;
  const sa::ServiceManager& services;
};

/// The copy that standbys keep of a master's state.
struct ReplicaView {
  const replica::Server& server;
  const replica::Client& client;
  std::uint64_t refused = 0;  // connections without a good certificate
};

/// What lives as long as one opened device.
struct SessionView {
  const SubnetManager& manager;
  const SessionCounters& counters;
  SaView sa;
  const CcManager& congestion;
  const PathWatch& watch;
};

}  // namespace smd
