// What is in the switches, as somebody else's tools read it, in values of ours: for the checker and
// for comparison with what an engine computes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/routing/tables.h"
#include "tests/cross/opensm_with_plugin.h"

namespace smd::test {

struct ReadBack {
  std::shared_ptr<const Fabric> fabric;  // by ibnetdiscover; nodes in ascending order of GUIDs
  LidMap lids;                           // as the subnet manager gave them
  ForwardingTables lft;                  // by dump_fts
  std::vector<std::string> broken;       // pairs that a walk over the text itself does not join
};

[[nodiscard]] ReadBack read_back(const Stage& stage);

/// The tables of smpquery sl2vl for one port of a switch, by input port.
[[nodiscard]] std::vector<SlToVl> read_lanes(const Stage& stage, Lid sw, PortNum out);

/// The SL of the PathRecord that the subnet administrator gives; 255 without one.
[[nodiscard]] unsigned ask_path_sl(const Stage& stage, Lid source, Lid destination);

/// Where they differ: "switch 0x… lid 7: 3 in the switch, 4 computed"; at most 5 of them.
[[nodiscard]] std::vector<std::string> find_differences(const Fabric& fabric,
                                                        const ForwardingTables& in_switches,
                                                        const ForwardingTables& computed);

}  // namespace smd::test
