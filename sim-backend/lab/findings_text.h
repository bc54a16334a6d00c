// Findings as files and lines.
#pragma once

#include <string>

#include "sim-backend/lab/experiment.h"

namespace smd::sim {

/// RFC 4180, one header line, line feeds.
[[nodiscard]] std::string print_csv(const Findings& findings);

/// {"experiment", "source", "about", "quick", "rows": [{column: cell}], "claims": [{"claim",
/// "text", "source", "measured", "expected", "holds", "must_hold"}]}
[[nodiscard]] std::string print_json(const Experiment& experiment,
                                     const ExperimentOptions& options,
                                     const Findings& findings);

/// "003-sweep-time H0: …; thesis, Table 11; measured …; expected …; holds".
[[nodiscard]] std::string print_claim(const Experiment& experiment,
                                      const ClaimSpec& claim,
                                      const Verdict& verdict);

}  // namespace smd::sim
