// The folder that `smsim run` and `smsim collect` share: parts of a campaign, and results.
#pragma once

#include <filesystem>
#include <optional>

#include "sim-backend/campaign/join.h"

namespace smd::sim {

/// DIR/parts/…, on stderr what goes wrong.
[[nodiscard]] bool write_part(const std::filesystem::path& folder, const Part& part);

/// The part of this version, scenario and run that DIR has; none if there is none, or of another.
[[nodiscard]] std::optional<Part> find_part(const std::filesystem::path& folder,
                                            const Part& wanted);

/// All of DIR/parts, by name. A folder without parts is a fault.
[[nodiscard]] Parsed<std::vector<NamedPart>> read_parts(const std::filesystem::path& folder);

/// result.json, result.csv, series.csv, plot.svg, stretches.csv where something changed; on stderr
/// what goes wrong.
[[nodiscard]] bool write_result(const std::filesystem::path& folder, const JoinedResult& result);

}  // namespace smd::sim
