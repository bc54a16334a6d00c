// Debian's opensm with our plugin in it, as a site runs it, on a fabric that ibsim or smsim serves.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/cross/served.h"
#include "tests/support/ibsim.h"

namespace smd::test {

enum class Server { Ibsim, Smsim };

/// The fabric, whoever serves it. Nodes go by their ids in the net file.
class Stage {
 public:
  Stage(Server server, const std::string& fabric, const std::filesystem::path& folder);

  [[nodiscard]] bool ready() const { return served_ || (ibsim_ && ibsim_->ready()); }

  [[nodiscard]] const sim::FabricSpec& spec() const { return spec_; }

  /// GUID of the first channel adapter, where OpenSM runs.
  [[nodiscard]] Guid manager() const;

  /// Of a program that sits on the n-th channel adapter.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> env(std::size_t adapter) const;

  /// Somebody else's tool on the last adapter, to its end.
  [[nodiscard]] Finished tool(std::vector<std::string> argv) const;

  void console(const std::string& line);

 private:
  [[nodiscard]] std::string adapter_id(std::size_t number) const;

  sim::FabricSpec spec_;
  std::optional<Ibsim> ibsim_;
  std::optional<Served> served_;
};

struct OpensmSettings {
  std::string engines;               // routing_engine
  std::string options;               // event_plugin_options
  std::vector<std::string> config;   // further lines of its configuration
  std::vector<std::string> wrapper;  // what runs it
};

class OpensmWithPlugin {
 public:
  OpensmWithPlugin(const Stage& stage, const OpensmSettings& settings);

  [[nodiscard]] std::filesystem::path log_file() const { return opensm_.cwd() / "osm.log"; }

  [[nodiscard]] std::string log() const;

  [[nodiscard]] std::size_t count(const std::string& text) const;

  /// Sweeps that ended with tables in every switch.
  [[nodiscard]] std::size_t sweeps() const { return count("tables configured on all switches"); }

  /// The log has more than `before` of these.
  bool wait_for_more(const std::string& text,
                     std::size_t before,
                     std::chrono::milliseconds limit = seconds(30)) const;

  /// Nothing was written to the log for a second: what a change set off is over.
  bool wait_until_quiet() const;

  bool wait_until_up() const { return wait_for_more("SUBNET UP", 0); }

  [[nodiscard]] Process& process() { return opensm_; }

 private:
  Process opensm_;
};

}  // namespace smd::test
