// The active subnet as text files that other tools know, and the plan of a change for people.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/manager/subnet_manager.h"
#include "smd/multicast/mft_plan.h"
#include "smd/plan/transition.h"
#include "smd/policy/qos.h"
#include "smd/runtime/runtime.h"
#include "smd/subnet/active_subnet.h"
#include "smd/subnet/cycle_report.h"

namespace smd {

/// Of each list of a phase its length and its elements: as many lines as entries change.
[[nodiscard]] std::string print_transition(const Fabric& fabric, const TransitionPlan& plan);

// What is in force, as text files that other tools know.

/// The fabric in the syntax of ibnetdiscover and ibsim (docs/formats/net-file.md): nodes in the
/// order of the snapshot, LIDs as the map says.
[[nodiscard]] std::string print_net(const Fabric& fabric, const LidMap& lids);

/// What the last change wrote, by kind of SMP, and its `plans` as print_transition() has them.
[[nodiscard]] std::string print_plan(const CycleReport& cycle, const std::string& plans);

struct NamedText {
  std::string name;  // of a file
  std::string text;
};

/// Each whole or not at all: as NAME.new, which is renamed. Of what already is there nothing
/// else is touched. Into `directory`, which is created.
Result<void> write_texts(const std::string& directory, const std::vector<NamedText>& texts);

// Files that OpenSM writes into its dump_files_dir and its cache directory, in its formats
// (docs/formats/tables.md), for the tools that read them there.

struct DumpInput {
  std::shared_ptr<const ActiveSubnet> in_force;  // not null
  MftMemory multicast;                           // what switches confirmed
  MKeySources m_keys;                            // those of ports come from the first; none: 0
  QosPolicy qos{};                               // rows of the site, where routes need none
  ConfirmedSlToVl sl_to_vl{};                    // what switches confirmed
  std::vector<Turn> blocked{};                   // whatever the SL; sorted
};

/// Of a manager with a subnet in force.
[[nodiscard]] DumpInput dump_input_of(const SubnetManager& manager);

/// opensm-lfts.dump: unicast entries by switch.
[[nodiscard]] std::string print_lft_dump(const ActiveSubnet& in_force);

/// opensm.mcfdbs: output ports by switch and MLID; switches without entries are left out.
[[nodiscard]] std::string print_mft_dump(const Fabric& fabric, const MftMemory& multicast);

/// opensm-subnet.lst: a line for each end of each link.
[[nodiscard]] std::string print_subnet_list(const Fabric& fabric, const LidMap& lids);

/// neighbors: a line for each end of each link, by GUID and port.
[[nodiscard]] std::string print_neighbors(const Fabric& fabric);

/// All of them, guid2lid, guid2mkey and opensm-sl2vl.dump (a line per switch and pair of ports with
/// the row that it holds, or where nobody knows, shall hold), one after the other, as write_texts()
/// does; guid2mkey for its owner alone. As OpenSM no opensm-sl2vl.dump where it would be empty: one
/// that is there is removed. Returns the names.
Result<std::vector<std::string>> write_opensm_dumps(const std::string& directory,
                                                    const DumpInput& input);

/// All of the above into `directory`, which is created.
Result<void> write_dumps(const std::string& directory,
                         const DumpInput& input,
                         const CycleReport& cycle,
                         const std::string& plans);

/// Writes them off the loop and beside the work that routes wait for, one set at a time.
class DumpWriter {
 public:
  explicit DumpWriter(Runtime& runtime) : runtime_(runtime) {}

  /// Requires: not busy().
  void write(std::string directory, DumpInput input);

  [[nodiscard]] bool busy() const { return busy_; }

  struct Outcome {
    std::string directory;
    std::vector<std::string> files;
    std::string why;  // nothing more is written; empty: all is
  };

  /// Of the last one that ended.
  [[nodiscard]] const std::optional<Outcome>& last() const { return last_; }

 private:
  Runtime& runtime_;
  bool busy_ = false;
  std::optional<Outcome> last_;
  OffloadOwner work_;
};

}  // namespace smd
