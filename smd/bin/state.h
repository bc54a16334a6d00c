// `smd state export` and `smd state import`: the state directory as one text, what OpenSM left, and
// what it is left. `smd import-opensm`: its configuration as smd's.
#pragma once

#include <string>
#include <vector>

#include "smd/config/config.h"

namespace smd::bin {

struct StateOptions {
  std::string dir;                 // empty: the configuration's
  std::string out;                 // of an export; empty: stdout
  std::string format = "smd";      // of an export; or "opensm"
  std::string opensm_dir;          // where the latter's files go
  std::vector<std::string> files;  // to be imported, in this order
  bool replace = false;            // what is there already
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
