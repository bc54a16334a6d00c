// The subcommands of smd: what each is asked for. Each gives the exit code of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smd/base/program.h"
#include "smd/base/progress.h"
#include "smd/config/config.h"

namespace smd::bin {

/// As print_faults(), once the display is gone.
[[nodiscard]] inline int report_faults(std::optional<progress::Display>& display,
                                       const Faults& faults) {
  display.reset();
  return print_faults(faults);
}

// `smd run`: the daemon on an adapter, or on a simulated fabric in real time.

struct RunOptions {
  std::string transport;  // "", "umad", "sim"
  std::string ca;
  unsigned port = 0;
  std::string port_guid;
  std::string instance;  // "": the only one
  std::string fabric;
  bool once = false;
  bool json = false;
  bool check = false;
  std::string config_path;
  OptionNames overridden;   // what the command line sets besides
  std::string log_trouble;  // why lines do not go where log.sink says; empty: they do
};

[[nodiscard]] int run(const Config& config,
                      const RunOptions& options,
                      std::function<void(Config&)> override_config);

// `smd dry-run`: the manager brings up a simulated fabric in virtual time, then lives through the
// named failures.

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

// `smd verify`: tables that another subnet manager wrote, checked from their dumps.

struct VerifyOptions {
  std::string fabric;
  std::string lft;
  std::string sl2vl;            // empty: one VL
  std::string path_sl;          // empty: any SL on any path
  std::string mft;              // empty: multicast is not looked at
  std::string groups;           // empty: anybody may be in any group
  unsigned permutations = 100;  // of the effective bisection
  bool any_sl = false;          // hosts may use any SL
  bool one_sender = false;      // where one member of a group joined to send alone
  bool json = false;
  bool progress = false;  // on standard error, though it is no terminal
};

/// The exit code: 0 when the routes are sound, 1 when not, 2 when the input is wrong.
[[nodiscard]] int verify(const VerifyOptions& options);

// `smd state export` and `smd state import`: the state directory as one text, what OpenSM left, and
// what it is left. `smd import-opensm`: its configuration as smd's.

struct StateOptions {
  std::string dir;                 // empty: the configuration's
  std::string out;                 // of an export; empty: stdout
  std::string format = "smd";      // of an export; or "opensm"
  std::string opensm_dir;          // where the latter's files go
  std::vector<std::string> files;  // to be imported, in this order
  bool replace = false;            // what is there already; of an export it is put aside
  bool leave_turns = false;        // that are blocked, under OpenSM, too
};

struct OpensmImportOptions {
  std::string file;
  std::string flags;       // of its command line
  std::string start_file;  // of the distribution; empty: none
  std::string dir;         // empty: the configuration on stdout, the report on stderr
  bool force = false;      // also over files that are there
};

/// Each gives the exit code: 0 done; 1 a daemon runs, or the disk does not take it; 2 a file is not
/// what it should be, or there is state already that was not to be replaced.
[[nodiscard]] int export_state(const Config& config, const StateOptions& options);
[[nodiscard]] int import_opensm_config(const OpensmImportOptions& options);
[[nodiscard]] int import_state(const Config& config, const StateOptions& options);

}  // namespace smd::bin
