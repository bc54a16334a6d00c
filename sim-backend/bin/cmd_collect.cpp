#include "sim-backend/bin/cmd_collect.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/bin/result_files.h"
#include "sim-backend/bin/whole_file.h"
#include "smd/base/program.h"

namespace smd::sim {
namespace {

constexpr std::size_t kMostNamed = 8;

struct CollectLine {
  std::vector<std::string> folders;
  std::string out;
  bool json = false;
};

void tell_missing(const std::vector<std::string>& missing) {
  const auto end = missing.begin() + static_cast<long>(std::min(missing.size(), kMostNamed));
  fmt::print(stderr,
             "smsim: {} missing: {}{}; smsim run --resume runs them\n",
             missing.size() == 1 ? "1 run is" : fmt::format("{} runs are", missing.size()),
             fmt::join(missing.begin(), end, ", "),
             missing.size() > kMostNamed ? ", …" : "");
}

int collect(const CollectLine& line) {
  std::vector<NamedPart> parts;
  for (const std::string& folder : line.folders) {
    Parsed<std::vector<NamedPart>> found = read_parts(folder);
    if (!found) return print_faults(found.error());
    std::ranges::move(*found, std::back_inserter(parts));
  }
  const Parsed<JoinedResult> result = join_parts(std::move(parts));
  if (!result) return print_faults(result.error());
  const std::string out = line.out.empty() ? line.folders.front() : line.out;
  if (!write_result(out, *result)) return kExitFailed;
  fmt::print("{}", line.json ? result->json : result->lines);
  for (const std::string& audit : result->audits) fmt::print(stderr, "smsim: {}\n", audit);
  if (!result->missing.empty()) tell_missing(result->missing);
  return result->sound && result->missing.empty() ? 0 : kExitFailed;
}

}  // namespace

void add_collect_command(Command& program, int& exit_code) {
  const auto line = std::make_shared<CollectLine>();
  Command command = program.command("collect", "Join the runs of a campaign");
  command.option("DIR", line->folders, "Folders that smsim run --out made").required();
  command.option("--out", line->out, "Folder for the result instead of the first DIR");
  command.flag("--json", line->json, "One object instead of lines");
  command.on_run([line, &exit_code] { exit_code = collect(*line); });
}

}  // namespace smd::sim
