// The options of [congestion], and the kinds of option that only this section has. Internal to
// config; include config.h.
#pragma once

#include <vector>

#include "smd/config/option_kinds.h"
#include "smd/config/options.h"
#include "smd/congestion/options.h"

namespace smd {

/// All of the section, in the order of the file.
[[nodiscard]] std::vector<ConfigOption> congestion_options();

/// Those among them that OpenSM has under the same names.
[[nodiscard]] std::vector<ConfigOption> congestion_options_of_opensm();

[[nodiscard]] std::vector<ConfigRule> congestion_rules();

}  // namespace smd

namespace smd::config_kinds {

/// An option of that section.
inline About about(std::string_view key, std::string_view meaning, std::string_view unit = "") {
  return {"congestion", key, meaning, unit};
}

ConfigOption port_mask(const About& about, Field<std::optional<cc::PortMask>> field);

/// "SHIFT:MULTIPLIER".
ConfigOption cct_entry(const About& about, Field<std::optional<cc::CctEntry>> field);
ConfigOption cct_entries(const About& about, Field<std::optional<std::vector<cc::CctEntry>>> field);

/// As OpenSM, "SL VALUE", once per SL; a number is that of every SL.
ConfigOption by_sl(const About& about, Field<cc::BySl> field, unsigned max, std::string example);

/// Ascending by GUID, each node once.
ConfigOption node_overrides(const About& about, Field<std::vector<cc::NodeOverride>> field);

}  // namespace smd::config_kinds
