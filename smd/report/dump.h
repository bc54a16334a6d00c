// The active subnet as text files that other tools know, and the plan of a change for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "smd/plan/transition.h"
#include "smd/subnet/active_subnet.h"
#include "smd/subnet/cycle_report.h"

namespace smd {

/// Of each list of a phase its length and at most the first twenty elements.
[[nodiscard]] std::string print_transition(const Fabric& fabric, const TransitionPlan& plan);

// What is in force, as text files that other tools know.

/// The fabric in the syntax of ibnetdiscover and ibsim (docs/formats/net-file.md): nodes in the
/// order of the snapshot, LIDs as the map says.
[[nodiscard]] std::string print_net(const Fabric& fabric, const LidMap& lids);

/// Unicast tables in the format of dump_fts.
[[nodiscard]] std::string print_lft_dump(const ActiveSubnet& in_force);

/// Multicast tables in the format of dump_fts -M. No groups: headers only.
[[nodiscard]] std::string print_mft_dump(const ActiveSubnet& in_force);

/// One line per switch and pair of ports whose SL-to-VL row the manager sets; none are set unless
/// configured.
[[nodiscard]] std::string print_sl2vl_dump(const ActiveSubnet& in_force);

/// What the last change wrote, by kind of SMP, and its `plans` as app/plan_text.h prints them.
[[nodiscard]] std::string print_plan(const CycleReport& cycle, const std::string& plans);

using NamedText = std::pair<std::string, std::string>;  // a file's name and its content

/// Into `directory`, which is created.
Result<void> write_texts(const std::string& directory, const std::vector<NamedText>& texts);

/// All of the above and fabric.net into `directory`, which is created.
Result<void> write_dumps(const std::string& directory,
                         const ActiveSubnet& in_force,
                         const CycleReport& cycle,
                         const std::string& plans);

}  // namespace smd
