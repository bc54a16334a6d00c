// smd and OpenSM answer the same client on the same fabric on Debian's ibsim, turn by turn, each on
// a fresh ibsim: PathRecords between random ports, at rest and while the manager sweeps.
//
//   per second  answers with a record, of one client with so many requests in flight
//   CPU us      of the manager's process for each answer, while the client asked: what is left when
//               ibsim, which carries every MAD twice, is not counted
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "smd/base/command_line.h"
#include "tests/bench/sa/managers.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/paths.h"

namespace smd::bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Json = nlohmann::json;

/// User and system time of a process so far.
double cpu_us(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream words(text.substr(text.rfind(')') + 2));
  std::string word;
  double ticks = 0;
  for (int field = 3; words >> word && field <= 15; ++field) {
    if (field >= 14) ticks += std::stod(word);
  }
  return ticks * 1e6 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void write_guids(const std::filesystem::path& net, const std::filesystem::path& out) {
  std::ofstream file(out);
  for (const std::string& guid : read_port_guids(net)) file << guid << "\n";
}

struct Wishes {
  std::string fabric = "fat-tree:k=36,levels=3,hosts=1728";
  unsigned runs = 5;
  unsigned window = 32;
  double seconds = 2;
};

/// Empty when all went well.
std::string load(const test::Ibsim& ibsim,
                 const std::filesystem::path& folder,
                 const Wishes& wishes,
                 SaManager& subject,
                 const std::string& when,
                 Values& values) {
  const double before = cpu_us(subject.process().pid());
  const test::Finished client = test::tool(ibsim,
                                           ibsim.facts().adapter_ids.back(),
                                           {test::build_path("bin/sa_load"),
                                            "--guids",
                                            folder / "guids",
                                            "--window",
                                            std::to_string(wishes.window),
                                            "--seconds",
                                            std::to_string(wishes.seconds)});
  const double spent = cpu_us(subject.process().pid()) - before;
  const Json report = Json::parse(client.out, nullptr, false);
  if (client.exit_code != 0 || report.is_discarded()) {
    return fmt::format("the client failed with exit code {}: {}{}",
                       client.exit_code.value_or(-1),
                       client.out,
                       client.err);
  }
  const auto answered = report.at("answered").get<double>();
  if (answered == 0) return "no answers: " + client.out;
  for (const char* key : {"per_second", "p50_us", "p99_us", "max_us", "refused", "lost"})
    values[when + " " + key].push_back(report.at(key).get<double>());
  values[when + " cpu_us"].push_back(spent / answered);
  return "";
}

std::string run_once(const std::filesystem::path& net,
                     const Wishes& wishes,
                     bool opensm,
                     Values& values) {
  test::Scratch folder;
  write_guids(net, folder.path() / "guids");
  test::Ibsim ibsim(net);
  if (!ibsim.ready()) return "ibsim does not start: " + ibsim.complaint();
  const auto subject = start_manager(ibsim, folder.path(), {.opensm = opensm});
  if (!subject->comes_up()) return "does not come up";
  std::this_thread::sleep_for(1s);  // names and the like
  std::string failure = load(ibsim, folder.path(), wishes, *subject, "rest", values);
  if (!failure.empty()) return failure;
  std::atomic<bool> over = false;
  std::jthread sweeps([&] {
    while (!over) {
      subject->sweep();
      for (int i = 0; i < 10 && !over; ++i) std::this_thread::sleep_for(50ms);
    }
  });
  failure = load(ibsim, folder.path(), wishes, *subject, "sweep", values);
  over = true;
  sweeps.join();
  const Ended ended = subject->process().terminate(20s);
  values["rss_mb"].push_back(ended.peak_rss_mb);
  return failure;
}

void print(const Values& ours, const Values& theirs) {
  fmt::print("| when | what | smd | OpenSM | ratio of medians |\n|---|---|---|---|---|\n");
  const auto row = [&](const std::string& when, const char* what, const std::string& key, int d) {
    const double a = median(ours.at(key));
    const double b = median(theirs.at(key));
    fmt::print("| {} | {} | {} | {} | {:.2f} |\n",
               when,
               what,
               cell(ours.at(key), d),
               cell(theirs.at(key), d),
               b > 0 ? a / b : 0);
  };
  for (const std::string when : {"rest", "sweep"}) {
    row(when, "answers per second", when + " per_second", 0);
    row(when, "median wait, us", when + " p50_us", 0);
    row(when, "99th percentile, us", when + " p99_us", 0);
    row(when, "longest, us", when + " max_us", 0);
    row(when, "CPU of the manager per answer, us", when + " cpu_us", 1);
    row(when, "refused", when + " refused", 0);
    row(when, "lost", when + " lost", 0);
  }
  row("all", "peak RSS, MB", "rss_mb", 1);
}

int compare(const Wishes& wishes) {
  test::Scratch scratch;
  const auto net = test::net_of(wishes.fabric, scratch.path());
  Values ours;
  Values theirs;
  for (unsigned run = 0; run < wishes.runs; ++run) {
    for (const bool opensm : {false, true}) {
      const std::string failure = run_once(net, wishes, opensm, opensm ? theirs : ours);
      if (failure.empty()) continue;
      fmt::print(stderr, "{}, run {}: {}\n", opensm ? "OpenSM" : "smd", run + 1, failure);
      return 1;
    }
  }
  fmt::print("{}, {} requests in flight, {} runs of {} s\n\n",
             wishes.fabric,
             wishes.window,
             wishes.runs,
             wishes.seconds);
  print(ours, theirs);
  return 0;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  using namespace smd::bench;
  Wishes wishes;
  smd::CommandLine line{"smd and OpenSM side by side on ibsim: subnet administration"};
  line.option("--fabric", wishes.fabric, "File or generator").show_default();
  line.option("--runs", wishes.runs, "Runs of each").range(1, 1000);
  line.option("--window", wishes.window, "Requests in flight").range(1, 128);
  line.option("--seconds", wishes.seconds, "Of asking, at rest and again while it sweeps")
      .positive();
  if (const auto code = line.parse(argc, argv)) return *code;
  return compare(wishes);
}
