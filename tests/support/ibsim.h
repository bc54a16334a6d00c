// Debian's ibsim with a fabric of ours or theirs, and Debian's diagnostics as its clients. Servers
// share nothing: each has its own socket name and scratch folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace smd::test {

/// What `text`, in ibsim's net format, takes to be loaded, and who is in it.
struct NetFacts {
  unsigned nodes = 0;
  unsigned switches = 0;
  unsigned ports = 0;  // port 0 of switches included
  std::vector<std::string> switch_ids;
  std::vector<std::string> adapter_ids;
};

[[nodiscard]] NetFacts read_net_facts(const std::filesystem::path& net);

class Ibsim {
 public:
  /// Starts ibsim and waits until it serves; see ready().
  explicit Ibsim(const std::filesystem::path& net);

  [[nodiscard]] bool ready() const { return ready_; }

  /// Why it is not ready: what ibsim wrote to stderr.
  [[nodiscard]] std::string complaint() const;

  [[nodiscard]] const NetFacts& facts() const { return facts_; }

  /// What makes a program on libibumad a client that sits on node `host` (its id in the net file).
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> client_environment(
      std::string_view host) const;

  /// A line for ibsim's console, such as Unlink "S-0000000000200000"[3]; returns when the console
  /// is ready for the next one.
  bool command(std::string_view line);

  void stop();

 private:
  NetFacts facts_;
  std::string socket_name_;
  Process process_;
  bool ready_ = false;
};

/// Runs a program to the end as a client of `ibsim` on node `host`.
Finished tool(const Ibsim& ibsim,
              std::string_view host,
              std::vector<std::string> argv,
              Process::Milliseconds limit = std::chrono::seconds(60));

}  // namespace smd::test
