// A fabric that `smsim serve` serves, and other people's tools on its nodes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/wait_until.h"

namespace smd::test {

using std::chrono::seconds;

/// Where Debian's ibsim-utils keeps what is preloaded beneath the tools; empty without it.
inline std::string umad2sim() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib", none)) {
    const auto path = entry.path() / "umad2sim" / "libumad2sim.so";
    if (std::filesystem::exists(path)) return path.string();
  }
  return {};
}

inline std::string smsim_path() { return build_path("bin/smsim"); }

class Served {
 public:
  explicit Served(const std::string& fabric, std::vector<std::string> more = {})
      : name(next_name()),
        spec(sim::load_fabric(fabric).value()),
        server({.argv = arguments(fabric, name, std::move(more))}) {
    EXPECT_TRUE(server.wait_for_output("sim> ", seconds(30))) << server.err();
  }

  /// The environment of a tool that runs on `host`.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> env(
      const std::string& host) const {
    return {{"IBSIM_SOCKNAME", name},
            {"SIM_HOST", host},
            {"LD_PRELOAD", umad2sim()},
            {"OSM_TMP_DIR", "."},
            {"OSM_CACHE_DIR", "."}};
  }

  [[nodiscard]] Finished tool(std::vector<std::string> argv,
                              const std::string& host,
                              std::chrono::milliseconds limit = seconds(60)) const {
    return run_process({.argv = std::move(argv), .env = env(host)}, limit);
  }

  [[nodiscard]] Finished tool(std::vector<std::string> argv) const {
    return tool(std::move(argv), host(0));
  }

  /// Description of the n-th channel adapter.
  [[nodiscard]] std::string host(std::size_t n) const {
    for (const sim::NodeSpec& node : spec.nodes) {
      if (node.type == NodeType::Ca && n-- == 0) return node.description;
    }
    return {};
  }

  /// Runs a console line and returns what is printed up to the next prompt.
  std::string console(const std::string& line) {
    const std::size_t from = server.out().size();
    server.write(line + "\n");
    EXPECT_TRUE(server.wait_for_output("sim> ", seconds(10), from)) << line;
    return server.out().substr(from);
  }

  std::string name;
  sim::FabricSpec spec;
  Process server;

 private:
  static std::string next_name() {
    static int count = 0;
    return "serve-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  }

  static std::vector<std::string> arguments(const std::string& fabric,
                                            const std::string& name,
                                            std::vector<std::string> more) {
    std::vector<std::string> argv = {smsim_path(), "serve", "--fabric", fabric, "--name", name};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }
};

}  // namespace smd::test
