// smd as a client of ibsim: its files in a scratch folder, its command lines.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/ibsim.h"

namespace smd::test {

/// The net file of a generator, in `folder`; a path stands for itself.
std::filesystem::path net_of(const std::string& fabric, const std::filesystem::path& folder);

/// A configuration whose every file is in `folder`. `sweep` is the text of its [sweep] section.
std::filesystem::path write_config(const std::filesystem::path& folder,
                                   const std::string& sweep = "interval_s = 1\n");

[[nodiscard]] std::filesystem::path smd_path();
[[nodiscard]] std::filesystem::path smctl_path();

/// `smd run --once --json`, to the end.
struct OnceRun {
  Finished process;
  nlohmann::json report;  // null when there was none
};

OnceRun run_once(const Ibsim& ibsim,
                 const std::string& host,
                 const std::filesystem::path& config,
                 std::vector<std::string> more = {});

/// Ordered pairs of different LIDs: all of them where there are at most `most`, else the same
/// random ones every time.
[[nodiscard]] std::vector<std::pair<unsigned, unsigned>> sample_pairs(
    const std::vector<unsigned>& lids, std::size_t most);

}  // namespace smd::test
