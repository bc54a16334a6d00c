// The table of options: the one place that knows every key. Internal to config; include config.h.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/options.h"
#include "smd/config/config.h"
#include "smd/config/option_kinds.h"
#include "smd/congestion/options.h"

namespace smd {

using ConfigOption = Option<Config>;

/// A rule between options.
struct ConfigRule {
  std::vector<std::string> options;  // names; the first one is where the fault is reported

  /// What is wrong, and what would be right; nothing when the rule holds.
  std::function<std::optional<std::string>(const Config&)> broken;
};

/// In the order of the file: options of a section stand together.
[[nodiscard]] std::span<const ConfigOption> config_options();

[[nodiscard]] std::span<const ConfigRule> config_rules();

/// One line on each section, for the files generated from the table.
[[nodiscard]] std::string_view config_section_meaning(std::string_view section);

/// What [qos] has for one kind of port alone, under keys with a prefix.
struct QosPortKind {
  std::string_view prefix;
  QosTableConfig QosConfig::*tables;
  std::string_view meaning;
};

inline constexpr QosPortKind kQosPortKinds[] = {
    {"ca_", &QosConfig::ca, "The same of adapters alone"},
    {"rtr_", &QosConfig::rtr, "The same of routers alone"},
    {"sw0_", &QosConfig::sw0, "The same of enhanced switch ports 0 alone"},
    {"swe_", &QosConfig::swe, "The same of external switch ports alone"},
};

// [congestion], and the kinds of option that only this section has.

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
