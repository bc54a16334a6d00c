// smd and OpenSM bring up the same fabric on Debian's ibsim, turn by turn, each on a fresh ibsim.
//
//   time   smd: from the start of `smd run --once` to its end, which is when the subnet is up and
//          verified. OpenSM: from its start to its SUBNET UP event.
//   SMPs   what each counts as sent, retries included.
//   RSS    the peak of the process, as the kernel says when it ends.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "smd/base/command_line.h"
#include "tests/bench/opensm_on_ibsim.h"
#include "tests/bench/timed_process.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/ibsim.h"

namespace smd::bench {
namespace {

using std::chrono_literals::operator""s;
using test::Ibsim;
using test::Scratch;

struct Sample {
  double up_ms = 0;
  double smps = 0;
  double rss_mb = 0;
  double cpu_ms = 0;
};

using Series = std::vector<Sample>;

struct Subject {
  std::string name;
  std::function<std::optional<Sample>(const Ibsim&, const std::filesystem::path&)> bring_up;
};

double ms(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file, nullptr, false);
}

std::optional<Sample> bring_up_smd(const Ibsim& ibsim, const std::filesystem::path& folder) {
  const auto config = test::write_config(folder);
  TimedProcess smd({.argv = {test::smd_path(), "run", "-c", config, "--once", "--json"},
                    .env = ibsim.client_environment(ibsim.facts().adapter_ids.front()),
                    .out = folder / "smd.json",
                    .err = folder / "smd.err"});
  const Ended ended = smd.wait(300s);
  const nlohmann::json report = read_json(folder / "smd.json");
  if (ended.exit_code != 0 || !report.is_object()) return std::nullopt;
  return Sample{.up_ms = ms(ended.at - smd.started()),
                .smps = report.at("bring_up").at("smps").at("total"),
                .rss_mb = ended.peak_rss_mb,
                .cpu_ms = ended.cpu_ms};
}

/// `window`: max_wire_smps; 0 leaves it as shipped.
std::optional<Sample> bring_up_opensm(const Ibsim& ibsim,
                                      const std::filesystem::path& folder,
                                      unsigned window) {
  OpensmOnIbsim opensm(ibsim, folder, {.window = window});
  const auto up = opensm.wait_until_up(300s);
  if (!up) return std::nullopt;
  const Ended ended = opensm.process().terminate(20s);
  return Sample{.up_ms = ms(up->at - opensm.process().started()),
                .smps = up->smps,
                .rss_mb = ended.peak_rss_mb,
                .cpu_ms = ended.cpu_ms};
}

double median(const Series& series, double Sample::*field) {
  std::vector<double> values;
  for (const Sample& each : series) values.push_back(each.*field);
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::pair<double, double> range(const Series& series, double Sample::*field) {
  const auto by = [field](const Sample& a, const Sample& b) { return a.*field < b.*field; };
  const auto [least, most] = std::minmax_element(series.begin(), series.end(), by);
  return {(*least).*field, (*most).*field};
}

void print_table(const std::vector<Subject>& subjects, const std::vector<Series>& measured) {
  const Series& ours = measured.front();
  fmt::print(
      "| manager | up ms, median (least–most) | SMPs | peak RSS MB | CPU ms | smd's time | "
      "smd's SMPs |\n|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Series& series = measured[i];
    const auto [least, most] = range(series, &Sample::up_ms);
    fmt::print("| {} | {:.0f} ({:.0f}–{:.0f}) | {:.0f} | {:.1f} | {:.0f} | {:.2f} | {:.2f} |\n",
               subjects[i].name,
               median(series, &Sample::up_ms),
               least,
               most,
               median(series, &Sample::smps),
               median(series, &Sample::rss_mb),
               median(series, &Sample::cpu_ms),
               median(ours, &Sample::up_ms) / median(series, &Sample::up_ms),
               median(ours, &Sample::smps) / median(series, &Sample::smps));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

bool compare(const std::string& fabric, unsigned runs, const std::vector<Subject>& subjects) {
  Scratch scratch;
  const auto net = test::net_of(fabric, scratch.path());
  const test::NetFacts facts = test::read_net_facts(net);
  fmt::print("{}: {} switches, {} adapters, {} runs\n\n",
             fabric,
             facts.switches,
             facts.adapter_ids.size(),
             runs);
  std::vector<Series> measured(subjects.size());
  for (unsigned run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      Scratch folder;
      const Ibsim ibsim(net);
      const auto sample = ibsim.ready() ? subjects[i].bring_up(ibsim, folder.path()) : std::nullopt;
      if (!sample) {
        fmt::print(stderr, "{}: {} did not come up in run {}\n", fabric, subjects[i].name, run + 1);
        return false;
      }
      measured[i].push_back(*sample);
    }
  }
  print_table(subjects, measured);
  return true;
}

bool time_dry_run(const std::string& fabric, unsigned runs) {
  Scratch scratch;
  Series series;
  for (unsigned run = 0; run < runs; ++run) {
    TimedProcess smd({.argv = {test::smd_path(), "dry-run", "--fabric", fabric, "--json"},
                      .out = scratch.path() / "smd.json",
                      .err = scratch.path() / "smd.err"});
    const Ended ended = smd.wait(600s);
    const nlohmann::json report = read_json(scratch.path() / "smd.json");
    if (ended.exit_code != 0 || !report.is_object()) return false;
    series.push_back({.up_ms = ms(ended.at - smd.started()),
                      .smps = report.at("bring_up").at("smps").at("total"),
                      .rss_mb = ended.peak_rss_mb,
                      .cpu_ms = ended.cpu_ms});
  }
  const auto [least, most] = range(series, &Sample::up_ms);
  fmt::print(
      "smd dry-run --fabric {}: {:.0f} ms of wall time ({:.0f}–{:.0f}, {} runs), {:.0f} "
      "SMPs, peak RSS {:.0f} MB\n\n",
      fabric,
      median(series, &Sample::up_ms),
      least,
      most,
      runs,
      median(series, &Sample::smps),
      median(series, &Sample::rss_mb));
  std::fflush(stdout);
  return true;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  using namespace smd::bench;
  std::vector<std::string> fabrics{
      "fat-tree:k=36,hosts=324", "fat-tree:k=36,hosts=648", "fat-tree:k=36,levels=3,hosts=1728"};
  std::vector<std::string> dry_runs{"fat-tree:k=36,levels=3"};
  unsigned runs = 5;
  smd::CommandLine line{"smd and OpenSM side by side on ibsim: bring-up"};
  line.option("--runs", runs, "Runs of each").range(1, 1000).show_default();
  line.option("--fabric", fabrics, "File or generator; repeatable");
  line.option("--dry-run", dry_runs, "Fabrics for smd dry-run; repeatable; '' for none");
  if (const auto code = line.parse(argc, argv)) return *code;

  const std::vector<Subject> subjects{
      {"smd", bring_up_smd},
      {"OpenSM as shipped",
       [](const auto& ibsim, const auto& folder) { return bring_up_opensm(ibsim, folder, 0); }},
      {"OpenSM, max_wire_smps 128",
       [](const auto& ibsim, const auto& folder) { return bring_up_opensm(ibsim, folder, 128); }},
  };
  bool all = true;
  for (const std::string& fabric : fabrics) all = compare(fabric, runs, subjects) && all;
  for (const std::string& fabric : dry_runs)
    all = (fabric.empty() || time_dry_run(fabric, runs)) && all;
  return all ? 0 : 1;
}
