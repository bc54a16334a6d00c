#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/paths.h"

#include <stdlib.h>

#include <fstream>
#include <random>

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;

std::filesystem::path program(const char* name) { return build_path(std::string("bin/") + name); }

}  // namespace

std::filesystem::path smd_path() { return program("smd"); }

std::filesystem::path smctl_path() { return program("smctl"); }

std::filesystem::path net_of(const std::string& fabric, const std::filesystem::path& folder) {
  if (fabric.starts_with("/")) return fabric;
  const std::filesystem::path net = folder / "fabric.net";
  run_process({.argv = {program("smsim"), "gen", fabric, "-o", net}}, 60s);
  return net;
}

std::filesystem::path write_config(const std::filesystem::path& folder, const std::string& sweep) {
  const std::filesystem::path file = folder / "smd.toml";
  std::ofstream(file) << "[sm]\nstate_dir = \"" << folder.string() << "/state\"\n"
                      << "[sweep]\n"
                      << sweep << "[transport]\nretry_backoff_max_s = 1\n"
                      << "[admin]\nsocket = \"" << folder.string() << "/smd.sock\"\n";
  std::filesystem::create_directories(folder / "state");
  return file;
}

OnceRun run_once(const Ibsim& ibsim,
                 const std::string& host,
                 const std::filesystem::path& config,
                 std::vector<std::string> more) {
  std::vector<std::string> argv{smd_path(), "run", "-c", config, "--once", "--json"};
  argv.insert(argv.end(), more.begin(), more.end());
  OnceRun run;
  run.process = tool(ibsim, host, std::move(argv), 120s);
  run.report = nlohmann::json::parse(run.process.out, nullptr, false);
  if (run.report.is_discarded()) run.report = nullptr;
  return run;
}

std::vector<std::pair<unsigned, unsigned>> sample_pairs(const std::vector<unsigned>& lids,
                                                        std::size_t most) {
  std::vector<std::pair<unsigned, unsigned>> pairs;
  const auto add = [&](unsigned from, unsigned to) {
    if (from != to) pairs.emplace_back(from, to);
  };
  if (lids.size() * lids.size() <= most) {
    for (const unsigned from : lids) {
      for (const unsigned to : lids) add(from, to);
    }
    return pairs;
  }
  std::mt19937 random(1);
  while (pairs.size() < most) add(lids[random() % lids.size()], lids[random() % lids.size()]);
  return pairs;
}

}  // namespace smd::test
