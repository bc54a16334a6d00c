// smd and OpenSM asked for paths from within their own processes: a library ahead of libumad2sim
// hands them Get(PathRecord) between random hosts and takes the answers, so that neither a client
// nor ibsim nor a socket is measured with them. Each manager on a fresh ibsim, turn by turn; at
// rest, while it discovers everything again and again, and while a cable is lost and comes back
// again and again.
//
// Every answer is compared with what was asked: both GUIDs, both LIDs, status 0.
#include <fmt/core.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "smd/base/command_line.h"
#include "tests/bench/change_events.h"
#include "tests/bench/sa/feed_client.h"
#include "tests/bench/sa/managers.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/paths.h"

namespace smd::bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

struct Wishes {
  std::vector<std::string> fabrics = {"fat-tree:k=36,levels=3,hosts=648"};
  unsigned runs = 3;
  double seconds = 2;
  std::vector<std::string> who = {"smd", "opensm"};
};

enum class Meanwhile { Nothing, Sweeps, Changes };

struct Phase {
  const char* name;
  AskBy by;
  unsigned window;
  Meanwhile meanwhile;
  unsigned rate = 0;  // a second; 0: as often as they are answered
};

constexpr std::array<Phase, 7> kPhases{{
    {"at rest, by GID, 64 in flight", AskBy::Gid, 64, Meanwhile::Nothing},
    {"at rest, by GID, 1 in flight", AskBy::Gid, 1, Meanwhile::Nothing},
    {"at rest, by LID, 64 in flight", AskBy::Lid, 64, Meanwhile::Nothing},
    {"at rest, by GID, 10,000 a second", AskBy::Gid, 64, Meanwhile::Nothing, 10'000},
    {"changing, by GID, 10,000 a second", AskBy::Gid, 64, Meanwhile::Changes, 10'000},
    {"sweeping, by GID, 64 in flight", AskBy::Gid, 64, Meanwhile::Sweeps},
    {"sweeping, by GID, 1 in flight", AskBy::Gid, 1, Meanwhile::Sweeps},
}};

struct Quantity {
  const char* name;
  const char* key;
  int digits;
};

constexpr std::array<Quantity, 8> kQuantities{{
    {"answers per second", "per_second", 0},
    {"median wait, us", "p50_us", 1},
    {"99th percentile, us", "p99_us", 1},
    {"longest wait, us", "max_us", 1},
    {"CPU of the process per answer, us", "cpu_us", 2},
    {"cores in use", "cores", 2},
    {"refused", "refused", 0},
    {"MADs sent to others, per second", "passed", 0},
}};

std::string key_of(const Phase& phase, const char* key) {
  return std::string(phase.name) + "/" + key;
}

/// Does it again and again, as long as it lives.
class Repeated {
 public:
  Repeated(std::function<void()> what, std::chrono::milliseconds every)
      : thread_([what = std::move(what), every](const std::stop_token& stop) {
          while (what && !stop.stop_requested()) {
            what();
            const auto next = std::chrono::steady_clock::now() + every;
            while (!stop.stop_requested() && std::chrono::steady_clock::now() < next)
              std::this_thread::sleep_for(20ms);
          }
        }) {}

 private:
  std::jthread thread_;
};

Lid lid_of_manager(const test::Ibsim& ibsim) {
  const test::Finished said = test::tool(ibsim, ibsim.facts().adapter_ids.back(), {"sminfo"});
  const std::size_t at = said.out.find("sm lid ");
  if (at == std::string::npos) return kUnassignedLid;
  return Lid{static_cast<std::uint16_t>(std::stoul(said.out.substr(at + 7)))};
}

/// Discovers everything as often as the manager can be asked to; or takes a cable of the last leaf
/// out and puts it in, so quickly that a manager in milliseconds is done with one before the next.
std::unique_ptr<Repeated> begin(Meanwhile meanwhile,
                                SaManager& manager,
                                test::Ibsim& ibsim,
                                const std::filesystem::path& net) {
  if (meanwhile == Meanwhile::Sweeps)
    return std::make_unique<Repeated>([&manager] { manager.sweep(); }, 100ms);
  if (meanwhile == Meanwhile::Nothing) return nullptr;
  return std::make_unique<Repeated>(
      [&ibsim, events = cable_events(net), next = std::size_t{0}]() mutable {
        ibsim.command(events[next++ % events.size()].console);
      },
      200ms);
}

std::string measure(SaManager& manager,
                    test::Ibsim& ibsim,
                    const std::filesystem::path& net,
                    FeedClient& feed,
                    const Wishes& wishes,
                    Values& values) {
  for (const Phase& phase : kPhases) {
    const auto beside = begin(phase.meanwhile, manager, ibsim, net);
    if (beside) std::this_thread::sleep_for(200ms);
    const nlohmann::json result =
        feed.ask({.by = phase.by,
                  .window = phase.window,
                  .milliseconds = static_cast<unsigned>(wishes.seconds * 1000),
                  .rate = phase.rate});
    if (result.contains("error")) return result.at("error").get<std::string>();
    const bool good = result.at("wrong") == 0 && result.at("lost") == 0 &&
                      result.at("answered") != 0 && result.at("unasked") == 0;
    if (!good) return fmt::format("{}: {}", phase.name, result.dump());
    for (const Quantity& quantity : kQuantities)
      values[key_of(phase, quantity.key)].push_back(result.at(quantity.key).get<double>());
    values["own_us"].push_back(result.at("own_us").get<double>());
  }
  return "";
}

std::string run_once(const std::filesystem::path& net,
                     const Wishes& wishes,
                     bool opensm,
                     Values& values) {
  test::Scratch folder;
  test::Ibsim ibsim(net);
  if (!ibsim.ready()) return "ibsim does not start: " + ibsim.complaint();
  const std::string socket = folder.path() / "feed.sock";
  const auto manager = start_manager(ibsim,
                                     folder.path(),
                                     {.opensm = opensm,
                                      .preload = test::build_path("bin/libsmd_sa_feed.so"),
                                      .env = {{"SMD_SA_FEED", socket}}});
  if (!manager->comes_up()) return "does not come up";
  std::this_thread::sleep_for(1s);  // names and the like
  std::vector<Guid> hosts;
  for (const std::string& guid : read_port_guids(net))
    hosts.emplace_back(std::stoull(guid, nullptr, 16));
  FeedClient feed(socket, folder.path());
  std::string failure = feed.learn_lids(hosts, lid_of_manager(ibsim));
  if (failure.empty()) failure = measure(*manager, ibsim, net, feed, wishes, values);
  // Nothing after this is measured, and libumad2sim's exit handler may hang.
  manager->process().signal(SIGKILL);
  values["rss_mb"].push_back(manager->process().wait(10s).peak_rss_mb);
  return failure;
}

void print(const Values& ours, const Values& theirs) {
  fmt::print("| when | what | smd | OpenSM | ratio of medians |\n|---|---|---|---|---|\n");
  const auto row = [&](const char* when, const Quantity& what, const std::string& key) {
    const auto text = [&](const Values& values) {
      return values.contains(key) ? cell(values.at(key), what.digits) : std::string("–");
    };
    std::string ratio = "–";
    if (ours.contains(key) && theirs.contains(key) && median(theirs.at(key)) > 0)
      ratio = fmt::format("{:.2f}", median(ours.at(key)) / median(theirs.at(key)));
    fmt::print("| {} | {} | {} | {} | {} |\n", when, what.name, text(ours), text(theirs), ratio);
  };
  for (const Phase& phase : kPhases) {
    for (const Quantity& quantity : kQuantities)
      row(phase.name, quantity, key_of(phase, quantity.key));
  }
  row("all", {"the instrument's own, per answer, us", "", 2}, "own_us");
  row("all", {"peak RSS, MB", "", 0}, "rss_mb");
}

int compare(const Wishes& wishes, const std::string& fabric) {
  test::Scratch scratch;
  const auto net = test::net_of(fabric, scratch.path());
  std::map<std::string, Values> values;
  for (unsigned run = 0; run < wishes.runs; ++run) {
    for (const std::string& who : wishes.who) {
      const std::string failure = run_once(net, wishes, who == "opensm", values[who]);
      if (failure.empty()) continue;
      fmt::print(stderr, "{}, run {}: {}\n", who, run + 1, failure);
      return 1;
    }
  }
  fmt::print("\n{}, {} runs of {} s\n\n", fabric, wishes.runs, wishes.seconds);
  print(values["smd"], values["opensm"]);
  return 0;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  using namespace smd::bench;
  Wishes wishes;
  smd::CommandLine line{"smd and OpenSM asked for paths from within their own processes"};
  line.option("--fabrics", wishes.fabrics, "Files or generators").show_default();
  line.option("--runs", wishes.runs, "Runs of each").range(1, 1000);
  line.option("--seconds", wishes.seconds, "Of asking, each time").positive();
  line.option("--who", wishes.who, "Managers").one_of({"smd", "opensm"});
  if (const auto code = line.parse(argc, argv)) return *code;
  for (const std::string& fabric : wishes.fabrics) {
    if (const int failed = compare(wishes, fabric); failed != 0) return failed;
  }
  return 0;
}
