// What pages of the documentation show of smd's output is what smd prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "tests/support/files.h"
#include "tests/support/ndr_582.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace {

/// What `page` shows below the command, up to the end of the block.
std::string shown_below(const std::string& page, const std::string& command) {
  std::ifstream file(source_path(page));
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (inside && line == "```") return out;
    if (inside) out += line + "\n";
    inside = inside || line == "$ " + command;
  }
  ADD_FAILURE() << page << " does not show '" << command << "'";
  return out;
}

/// What the command prints, run in `folder`. Requires: blanks stand between arguments alone.
std::string print(const std::string& command, const std::filesystem::path& folder) {
  std::vector<std::string> argv;
  std::istringstream words(command);
  for (std::string word; words >> word;) argv.push_back(word);
  argv.front() = build_path("bin/" + argv.front());
  const Finished done =
      run_process({.argv = std::move(argv), .cwd = folder}, std::chrono::seconds(120));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  return done.out;
}

TEST(PrintedPages, ShowWhatIsPrinted) {
  const Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  std::ofstream(folder / "FILE") << sim::print_fabric(ndr_582());
  const std::string change =
      "smd dry-run --fabric fat-tree:k=8,levels=3 --fail sw-0-0:5 --fail sw-2-3";
  EXPECT_EQ(print(change, folder), shown_below("README.md", change));
  std::ofstream(folder / "smd.toml") << "[sm]\nauto_vls = 8\nauto_changes = \"any\"\n";
  const std::string cluster = "smd dry-run -c smd.toml --fabric FILE";
  EXPECT_EQ(print(cluster, folder), shown_below("docs/benchmarks.md", cluster));
}

}  // namespace
}  // namespace smd::test
