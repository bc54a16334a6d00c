// smd and OpenSM, each on an ibsim of its own, as the benches of the administration need them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/timed_process.h"
#include "tests/support/ibsim.h"

namespace smd::bench {

/// Values of each quantity, one per run.
using Values = std::map<std::string, std::vector<double>>;

[[nodiscard]] double median(std::vector<double> values);

/// "median (least–most)".
[[nodiscard]] std::string cell(const std::vector<double>& values, int digits);

class SaManager {
 public:
  virtual ~SaManager() = default;

  /// False when it ends, or does not come up in time.
  virtual bool comes_up() = 0;

  /// Discovers everything, once.
  virtual void sweep() = 0;

  virtual TimedProcess& process() = 0;
};

struct ManagerSetup {
  bool opensm = false;
  std::string preload;  // a library ahead of libumad2sim
  Environment env;
};

/// On the fabric's first adapter, with every file in `folder`.
[[nodiscard]] std::unique_ptr<SaManager> start_manager(const test::Ibsim& ibsim,
                                                       const std::filesystem::path& folder,
                                                       const ManagerSetup& setup);

/// GUIDs of the adapters' ports in a net file.
[[nodiscard]] std::vector<std::string> read_port_guids(const std::filesystem::path& net);

}  // namespace smd::bench
