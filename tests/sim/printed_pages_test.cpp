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

/// The first block of commands below a heading of docs/operations.md, or the one behind `skipped`.
std::string block_below(const std::string& heading, int skipped = 0) {
  std::ifstream file(source_path("docs/operations.md"));
  std::string out;
  bool below = false, inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```" && inside && skipped-- == 0) return out;
    if (line == "```" && below) {
      inside = !inside;
      out.clear();
    } else if (inside) {
      out += line + "\n";
    }
    below = below || line == heading;
  }
  ADD_FAILURE() << "docs/operations.md has no block below '" << heading << "'";
  return out;
}

/// Lines of a page, obeyed by a shell in whose place systemctl writes down what it is told and smd
/// has a state directory of its own.
class PrintedLines : public testing::Test {
 protected:
  PrintedLines() {
    std::filesystem::create_directories(bin_);
    std::filesystem::create_directories(cache_);
    std::filesystem::create_directories(state_);
    program("sudo", "exec \"$@\"");
    program("systemctl", "echo \"$@\" >>'" + (folder_ / "told").string() + "'");
    program("smctl", "exit 0");
    program("smd", "exec '" + build_path("bin/smd") + "' \"$@\" --dir '" + state_.string() + "'");
  }

  void program(const std::string& name, const std::string& line) const {
    std::ofstream(bin_ / name) << "#!/bin/sh\n" << line << "\n";
    std::filesystem::permissions(bin_ / name, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] Finished obey(std::string lines) const {
    const std::string theirs = "/var/cache/opensm";
    for (std::size_t at = 0; (at = lines.find(theirs, at)) != std::string::npos;)
      lines.replace(at, theirs.size(), cache_.string());
    return run_process({.argv = {"sh", "-c", lines},
                        .env = {{"PATH", bin_.string() + ":/usr/bin:/bin"}},
                        .cwd = folder_},
                       std::chrono::seconds(60));
  }

  Scratch scratch_;
  std::filesystem::path folder_ = scratch_.path(), bin_ = folder_ / "bin",
                        cache_ = folder_ / "cache", state_ = folder_ / "state";
};

TEST_F(PrintedLines, LeadBackToOpensmWhereItLeftItsLids) {
  std::ofstream(state_ / "lids") << "0x0000000000000001 0x0007 0\n";
  std::ofstream(cache_ / "guid2lid") << "0x0000000000000001 0x0001 0x0001\n\n";
  const Finished done = obey(block_below("## Back to OpenSM"));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(read_text(cache_ / "guid2lid"), "0x0000000000000001 0x0007 0x0007\n\n");
  EXPECT_EQ(read_text(folder_ / "told"), "restart smd\ndisable --now smd\nenable --now opensm\n");
}

TEST_F(PrintedLines, DoNotStartOpensmWithoutThePartitionsThatWereOrdered) {
  std::ofstream(state_ / "lids") << "0x0000000000000001 0x0007 0\n";
  std::ofstream(state_ / "partition_orders") << "create 0x0107 tenant7\n";
  const Finished done = obey(block_below("## Back to OpenSM"));
  EXPECT_NE(done.exit_code, 0) << done.out;
  EXPECT_THAT(done.out, testing::HasSubstr("partitions.ordered written"));
  EXPECT_EQ(read_text(folder_ / "told"), "restart smd\ndisable --now smd\n");
}

TEST_F(PrintedLines, DoNotStopOpensmWhereItsLidsCannotBeTaken) {
  program("smd",
          "test \"$1\" = check-config || exec '" + build_path("bin/smd") + "' \"$@\" --dir '" +
              state_.string() + "'");
  std::ofstream(cache_ / "guid2lid") << "no LID\n";
  const std::string lines = block_below("## Switching from OpenSM", 1);
  EXPECT_EQ(obey(lines).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "told"));
  std::ofstream(cache_ / "guid2lid") << "0x0000000000000001 0x0007 0x0007\n\n";
  const Finished done = obey(lines);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(read_text(folder_ / "told"), "disable --now opensm\nenable --now smd\n");
}

TEST_F(PrintedLines, DoNotStartOpensmWhereTheExportFails) {
  std::ofstream(cache_ / "guid2lid") << "0x0000000000000001 0x0001 0x0001\n\n";
  EXPECT_EQ(obey(block_below("## Back to OpenSM")).exit_code, 2) << "no LIDs";
  EXPECT_EQ(read_text(cache_ / "guid2lid"), "0x0000000000000001 0x0001 0x0001\n\n");
  EXPECT_EQ(read_text(folder_ / "told"), "restart smd\ndisable --now smd\n");
}

}  // namespace
}  // namespace smd::test
