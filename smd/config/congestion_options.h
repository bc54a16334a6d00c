// The options of [congestion], and the kinds of option that only this section has. Internal to
// config; include config.h.
#pragma once

#include <string>
#include <vector>

#include "smd/config/option_kinds.h"
#include "smd/config/options.h"
#include "smd/congestion/options.h"

namespace smd {

/// All of the section, in the order of the file.
[[nodiscard]] std::vector<ConfigOption> congestion_options();

[[nodiscard]] std::vector<ConfigRule> congestion_rules();

}  // namespace smd

namespace smd::config_kinds {

OptionKind<cc::PortMask> port_mask();

/// "SHIFT:MULTIPLIER".
OptionKind<cc::CctEntry> cct_entry();
OptionKind<std::vector<cc::CctEntry>> cct_entries();

/// As OpenSM, "SL VALUE", once per SL; a number is that of every SL.
OptionKind<cc::BySl> by_sl(unsigned max, std::string example);

/// Ascending by GUID, each node once.
OptionKind<std::vector<cc::NodeOverride>> node_overrides();

}  // namespace smd::config_kinds
