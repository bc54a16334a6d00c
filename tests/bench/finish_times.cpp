// When exchanges end on the packet level under the routes of each engine, and under those that
// engine auto takes: all-to-all, ring all-reduce, random permutations. Simulated time.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/scenario/run.h"
#include "smd/base/command_line.h"
#include "smd/base/rng.h"

namespace smd::bench {
namespace {

struct Wishes {
  std::vector<std::string> fabrics{"fat-tree:k=8,levels=3",
                                   "fat-tree:k=8,levels=3,missing=12,seed=2",
                                   "fat-tree:k=16,hosts=128",
                                   "pgft:down=8.16,up=1.8,parallel=1.2,uneven=20,missing=3",
                                   "torus:dims=6.6,hosts=3",
                                   "torus:dims=4.4.4,hosts=2",
                                   "hamming:dims=6.6,hosts=4",
                                   "dragonfly",
                                   "irregular:switches=32,ports=16,links=6,hosts=4,seed=2"};
  std::vector<std::string> engines{
      "updn", "ftree", "dor", "hamming", "dragonfly", "nue", "dfsssp", "itb-vl"};
  std::uint64_t bytes = 16384;
  unsigned permutations = 10;
};

/// A folder of its own for traces.
class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "smd-finish-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }

  Folder(const Folder&) = delete;

  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::optional<sim::PreparedScenario> prepare(const std::string& fabric,
                                             const std::string& engine,
                                             const std::string& traffic,
                                             std::string& why) {
  const std::string text = fmt::format(
      "[fabric]\nname = \"{}\"\nengine = \"{}\"\nvls = 8\n[traffic]\n{}\n[measure]\nlimit_us = "
      "10000000\n",
      fabric,
      engine,
      traffic);
  auto scenario = sim::parse_scenario(text, "scenario");
  if (!scenario) {
    why = print_fault(scenario.error().front());
    return std::nullopt;
  }
  auto prepared = sim::PreparedScenario::prepare(std::move(*scenario));
  if (!prepared) {
    why = print_fault(prepared.error().front());
    return std::nullopt;
  }
  return std::move(*prepared);
}

/// Microseconds until the last byte has arrived; nothing where the exchange did not end.
std::optional<double> finish(const sim::PreparedScenario& of) {
  const sim::PointResult result = of.run(0, 1);
  if (!result.complete) return std::nullopt;
  return static_cast<double>(result.completed_at) / 1e6;
}

void write_permutation(const std::filesystem::path& file,
                       std::uint32_t hosts,
                       std::uint64_t bytes,
                       std::uint64_t seed) {
  std::vector<std::uint32_t> to(hosts);
  std::iota(to.begin(), to.end(), 0u);
  Rng rng{seed};
  for (std::uint32_t left = hosts; left > 1; --left) std::swap(to[left - 1], to[rng.below(left)]);
  std::ofstream out(file);
  for (std::uint32_t from = 0; from < hosts; ++from)
    out << fmt::format("0 {} {} {}\n", from, to[from], bytes);
}

struct Row {
  std::string engine, taken;              // by auto
  std::vector<std::optional<double>> us;  // of each exchange
};

std::optional<Row> measure(const std::string& fabric,
                           const std::string& engine,
                           const Wishes& wishes,
                           const Folder& folder) {
  std::string why;
  Row row{.engine = engine};
  std::size_t hosts = 0;
  for (const char* const kind : {"all-to-all-exchange", "ring-all-reduce"}) {
    const std::uint64_t bytes =
        kind == std::string_view("ring-all-reduce") ? wishes.bytes * 64 : wishes.bytes;
    const auto of =
        prepare(fabric, engine, fmt::format("collective = \"{}\"\nbytes = {}", kind, bytes), why);
    if (!of) {
      fmt::print(stderr, "{}, {}: {}\n", fabric, engine, why);
      return std::nullopt;
    }
    row.taken = of->fabric().routing.engine;
    hosts = of->fabric().host_lids.size();
    row.us.push_back(finish(*of));
  }
  std::optional<double> sum = 0;
  for (unsigned seed = 1; seed <= wishes.permutations && sum; ++seed) {
    const auto trace = folder.file("permutation");
    write_permutation(trace, static_cast<std::uint32_t>(hosts), wishes.bytes * 16, seed);
    const auto of = prepare(fabric, engine, fmt::format("trace = \"{}\"", trace.string()), why);
    if (!of) {
      fmt::print(stderr, "{}, {}: {}\n", fabric, engine, why);
      return std::nullopt;
    }
    const auto us = finish(*of);
    sum = us ? std::optional(*sum + *us) : std::nullopt;
  }
  row.us.push_back(sum ? std::optional(*sum / wishes.permutations) : std::nullopt);
  return row;
}

int run(const Wishes& wishes) {
  const Folder folder;
  fmt::print(
      "| fabric | engine | all-to-all, us | ring all-reduce, us | permutation, us |\n"
      "|---|---|---|---|---|\n");
  std::size_t good = 0, all = 0;
  for (const std::string& fabric : wishes.fabrics) {
    std::vector<Row> rows;
    for (const std::string& engine : wishes.engines) {
      if (auto row = measure(fabric, engine, wishes, folder)) rows.push_back(std::move(*row));
    }
    const auto automatic = measure(fabric, "auto", wishes, folder);
    if (!automatic) return 2;
    std::vector<double> best(automatic->us.size(), 0);
    for (const Row& row : rows) {
      for (std::size_t i = 0; i < best.size(); ++i) {
        if (row.us[i] && (best[i] == 0 || *row.us[i] < best[i])) best[i] = *row.us[i];
      }
    }
    rows.push_back(*automatic);
    for (const Row& row : rows) {
      fmt::print("| {} | {} |", fabric, row.engine == "auto" ? "auto: " + row.taken : row.engine);
      for (std::size_t i = 0; i < best.size(); ++i) {
        if (row.us[i]) {
          fmt::print(" {:.1f} ({:+.1f} %) |", *row.us[i], 100 * (*row.us[i] / best[i] - 1));
        } else {
          fmt::print(" does not end |");
        }
      }
      fmt::print("\n");
    }
    ++all;
    const auto is_near = [&](std::size_t i) {
      return automatic->us[i] && *automatic->us[i] <= 1.03 * best[i];
    };
    good += is_near(0) && is_near(2) ? 1 : 0;
    std::fflush(stdout);
  }
  fmt::print(
      "\nauto ends all-to-all and permutations within 3 % of the best engine on {} of {} fabrics\n",
      good,
      all);
  return 0;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  smd::bench::Wishes wishes;
  smd::CommandLine line{"When exchanges end under the routes of each engine"};
  line.option("--fabrics", wishes.fabrics, "Files or generators").show_default();
  line.option("--engines", wishes.engines, "Beside auto").show_default();
  line.option("--bytes", wishes.bytes, "Of a message of all-to-all; permutations: 16 times")
      .show_default();
  line.option("--permutations", wishes.permutations, "Whose mean is shown")
      .range(1, 1000)
      .show_default();
  if (const auto code = line.parse(argc, argv)) return *code;
  return smd::bench::run(wishes);
}
