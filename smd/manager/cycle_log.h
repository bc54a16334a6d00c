// What a cycle has to say: lines for the log, alarms for the status screen.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "smd/fabric/delta.h"
#include "smd/subnet/cycle_report.h"

namespace smd {

/// What nodes are called that are named by their GUIDs, as far as somebody knows; null: nobody
/// does.
struct NodeNames {
  const Fabric* fabric = nullptr;
  const std::map<PortRef, std::string>* led_to =
      nullptr;  // who was behind ports that lead to silence
};

/// What is wrong for long, and was said when it began.
struct SaidFaults {
  std::set<PortRef> silent;
  std::vector<DuplicateGuid> duplicates;
  std::string out_of_reach;
  std::string lid_shortage;
  std::string cut_off;
  std::string foreign_keys;
};

/// Of what is wrong for long, what is not in `said`, and who is silent no longer; `said` has all of
/// it thereafter.
void log_cycle(const CycleReport& cycle, SaidFaults& said, const NodeNames& names = {});

/// Values that ports did not keep: each once, when it is news.
void log_not_kept(const std::vector<RefusedSetting>& values);

/// What a look found, one line a node and a link, and the first of them for people: "link down:
/// leaf-3 port 5, spine-1 port 7". Links of nodes that are new or gone go without saying. What is
/// in `said` is not logged again; the rest is put there.
[[nodiscard]] FoundChanges log_changes(const Fabric& before,
                                       const Fabric& now,
                                       const Delta& delta,
                                       std::set<std::string>& said);

/// Phase by phase, what is about to be written.
void log_plan(const Fabric& fabric, const TransitionPlan& plan);

/// Switches of `extended` that `found` has not.
void log_unresponsive(const Fabric& found, const Fabric& extended);

/// What is not as it should be, one line each; empty when all is well.
[[nodiscard]] std::vector<std::string> alarms_of(const CycleReport& cycle,
                                                 const NodeNames& names = {});

}  // namespace smd
