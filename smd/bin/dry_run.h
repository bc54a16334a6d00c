// `smd dry-run`: the manager brings up a simulated fabric in virtual time, then lives through the
// named failures.
#pragma once

#include <string>
#include <vector>

#include "smd/config/config.h"

namespace smd::bin {

/// Fabrics of so many switches are watched change by change unasked.
inline constexpr std::size_t kWatchedSwitches = 64;

struct DryRunOptions {
  std::string fabric;
  std::vector<std::string>
      fail;  // "sw-0-3:5" or "sw-0-3", in order, each assimilated before the next
  std::string timing = "modern";  // modern, thesis, none
  std::uint64_t seed = 1;
  double drop = 0;   // SMP loss per hop
  std::string dump;  // directory; empty: none
  bool json = false;
  bool progress = false;  // on standard error, though it is no terminal
  bool timeline = false;  // watch the service of hosts however large the fabric is
};

/// The exit code: 0 when everything came up and was verified, 1 when not, 2 when the input is
/// wrong.
[[nodiscard]] int dry_run(const Config& config, const DryRunOptions& options);

}  // namespace smd::bin
