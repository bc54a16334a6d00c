// smd and OpenSM answer the same changes on Debian's ibsim, turn by turn, each on a fresh ibsim:
// a cable between two switches down and up again, a whole leaf switch down and up again.
//
//   SMPs     sent from the event until nothing more follows, retries and TrapRepress included
//   tables   from the command on ibsim's console to the last confirmed table. smd: the end of the
//            last change less its activation. OpenSM: its last UCAST_ROUTING_DONE.
//   settled  to the end of the last change, or to the last SUBNET UP
//   blocks   of forwarding tables that differ before and after, read by dump_fts
//   bound    the SMPs nobody could save: a Set per changed block, and what change_events.h says
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "smd/base/command_line.h"
#include "tests/bench/change_events.h"
#include "tests/bench/change_managers.h"
#include "tests/cross/smd_on_ibsim.h"

namespace smd::bench {
namespace {

using std::chrono_literals::operator""s;
using Json = nlohmann::ordered_json;
using Values = std::vector<double>;

struct Subject {
  std::string name;
  std::function<std::unique_ptr<Manager>(const test::Ibsim&, const std::filesystem::path&)> start;
};

/// What one manager did in all runs of one event.
struct Series {
  std::map<std::string, Values> values;

  [[nodiscard]] double median(const std::string& what) const {
    const auto found = values.find(what);
    if (found == values.end() || found->second.empty()) return 0;
    Values sorted = found->second;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  [[nodiscard]] std::string range(const std::string& what) const {
    const auto found = values.find(what);
    if (found == values.end() || found->second.empty()) return "";
    const auto [least, most] = std::minmax_element(found->second.begin(), found->second.end());
    return fmt::format("{:.1f} ({:.1f}–{:.1f})", median(what), *least, *most);
  }
};

/// By event, then by subject.
using Measured = std::vector<std::vector<Series>>;

struct Wishes {
  unsigned runs = 5;
  bool cable = true;
  bool leaf = true;
  bool read_tables = true;
};

std::vector<ChangeEvent> events_of(const std::filesystem::path& net, const Wishes& wishes) {
  std::vector<ChangeEvent> events;
  const auto add = [&](const std::vector<ChangeEvent>& more) {
    events.insert(events.end(), more.begin(), more.end());
  };
  if (wishes.cable) add(cable_events(net));
  if (wishes.leaf) add(leaf_events(net));
  return events;
}

/// One manager, one ibsim, all events; what failed, or nothing.
std::string run_once(const std::filesystem::path& net,
                     const Subject& subject,
                     const std::vector<ChangeEvent>& events,
                     bool read_tables,
                     const std::function<Series&(std::size_t event)>& series) {
  test::Scratch folder;
  test::Ibsim ibsim(net);
  if (!ibsim.ready()) return "ibsim does not start: " + ibsim.complaint();
  const auto manager = subject.start(ibsim, folder.path());
  if (!manager->comes_up(600s)) return "does not come up";
  BlockHashes before = read_tables ? read_blocks(ibsim, folder.path()) : BlockHashes{};
  for (std::size_t i = 0; i < events.size(); ++i) {
    manager->before_event();
    const Clock::time_point at = Clock::now();
    if (!ibsim.command(events[i].console)) return "ibsim takes no more commands";
    const auto reaction = manager->wait_for_reaction(at, 600s);
    if (!reaction) return events[i].name + ": no reaction";
    auto& values = series(i).values;
    values["smps"].push_back(reaction->smps);
    values["tables_ms"].push_back(reaction->tables_ms);
    values["settled_ms"].push_back(reaction->settled_ms);
    values["rounds"].push_back(reaction->rounds);
    if (!read_tables) continue;
    BlockHashes after = read_blocks(ibsim, folder.path());
    const double blocks = count_changed(before, after);
    values["blocks"].push_back(blocks);
    values["bound"].push_back(blocks + events[i].least_smps);
    before = std::move(after);
  }
  return "";
}

double ratio(double theirs, double ours) { return ours > 0 ? theirs / ours : 0; }

void print_tables(const std::vector<Subject>& subjects,
                  const std::vector<ChangeEvent>& events,
                  const Measured& measured) {
  fmt::print(
      "| event | manager | SMPs | tables ms, median (least–most) | settled ms | rounds | blocks | "
      "bound | SMPs over {0} | tables ms over {0} |\n|---|---|---|---|---|---|---|---|---|---|\n",
      subjects.front().name);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Series& ours = measured[i].front();
    for (std::size_t s = 0; s < subjects.size(); ++s) {
      const Series& each = measured[i][s];
      fmt::print("| {} | {} | {:.0f} | {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.1f} | {:.1f} |\n",
                 events[i].name,
                 subjects[s].name,
                 each.median("smps"),
                 each.range("tables_ms"),
                 each.range("settled_ms"),
                 each.median("rounds"),
                 each.median("blocks"),
                 each.median("bound"),
                 ratio(each.median("smps"), ours.median("smps")),
                 ratio(each.median("tables_ms"), ours.median("tables_ms")));
    }
  }
  fmt::print("\n");
  std::fflush(stdout);
}

Json to_json(const std::vector<Subject>& subjects,
             const std::vector<ChangeEvent>& events,
             const Measured& measured) {
  Json out = Json::array();
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (std::size_t s = 0; s < subjects.size(); ++s) {
      out.push_back({{"event", events[i].name},
                     {"manager", subjects[s].name},
                     {"runs", measured[i][s].values}});
    }
  }
  return out;
}

/// Null when a run failed.
Json compare(const std::string& fabric,
             const Wishes& wishes,
             const std::vector<Subject>& subjects) {
  test::Scratch scratch;
  const auto net = test::net_of(fabric, scratch.path());
  const test::NetFacts facts = test::read_net_facts(net);
  const std::vector<ChangeEvent> events = events_of(net, wishes);
  fmt::print("{}: {} switches, {} adapters, {} runs\n\n",
             fabric,
             facts.switches,
             facts.adapter_ids.size(),
             wishes.runs);
  std::fflush(stdout);
  Measured measured(events.size(), std::vector<Series>(subjects.size()));
  for (unsigned run = 0; run < wishes.runs; ++run) {
    for (std::size_t s = 0; s < subjects.size(); ++s) {
      const std::string failure =
          run_once(net, subjects[s], events, wishes.read_tables && run == 0, [&](std::size_t i) {
            return std::ref(measured[i][s]);
          });
      if (failure.empty()) continue;
      fmt::print(stderr, "{}: {}, run {}: {}\n", fabric, subjects[s].name, run + 1, failure);
      return nullptr;
    }
  }
  print_tables(subjects, events, measured);
  return {{"fabric", fabric},
          {"switches", facts.switches},
          {"adapters", facts.adapter_ids.size()},
          {"measured", to_json(subjects, events, measured)}};
}

std::vector<Subject> subjects_named(const std::vector<std::string>& names,
                                    const std::vector<std::string>& smd_words) {
  const auto opensm = [](unsigned window) {
    return [window](const test::Ibsim& ibsim, const std::filesystem::path& folder) {
      return start_opensm(ibsim, folder, window);
    };
  };
  const std::map<std::string, Subject> all{
      {"smd",
       {"smd",
        [smd_words](const auto& ibsim, const auto& folder) {
          return start_smd(ibsim, folder, smd_words);
        }}},
      {"opensm", {"OpenSM as shipped", opensm(0)}},
      {"opensm-128", {"OpenSM, max_wire_smps 128", opensm(128)}}};
  std::vector<Subject> subjects;
  for (const std::string& name : names) subjects.push_back(all.at(name));
  return subjects;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  using namespace smd::bench;
  std::vector<std::string> fabrics{"fat-tree:k=36,levels=3,hosts=1728",
                                   "torus:dims=16.16,hosts=1",
                                   "dragonfly:a=8,c=4,h=4",
                                   "irregular:switches=128,ports=16,links=8,hosts=8"};
  std::vector<std::string> managers{"smd", "opensm", "opensm-128"};
  std::vector<std::string> fail{"cable", "leaf"};
  std::vector<std::string> smd_words;
  std::string out;
  Wishes wishes;
  bool no_tables = false;
  smd::CommandLine line{"smd and OpenSM side by side on ibsim: one change at a time"};
  line.option("--runs", wishes.runs, "Runs of each").range(1, 1000).show_default();
  line.option("--fabric", fabrics, "File or generator; repeatable").show_default();
  line.option("--manager", managers, "Who takes turns; ratios are over the first")
      .one_of({"smd", "opensm", "opensm-128"})
      .show_default();
  line.option("--fail", fail, "What goes down and up again")
      .one_of({"cable", "leaf"})
      .show_default();
  line.option("--smd", smd_words, "Further words for smd run, such as --smd=--mode --smd=basic");
  line.option("--out", out, "File for every value as JSON");
  line.flag("--no-tables", no_tables, "Do not read the tables back: no blocks, no bound");
  if (const auto code = line.parse(argc, argv)) return *code;
  wishes.read_tables = !no_tables;
  wishes.cable = std::find(fail.begin(), fail.end(), "cable") != fail.end();
  wishes.leaf = std::find(fail.begin(), fail.end(), "leaf") != fail.end();

  Json results = Json::array();
  bool all = true;
  for (const std::string& fabric : fabrics) {
    const Json result = compare(fabric, wishes, subjects_named(managers, smd_words));
    all = all && !result.is_null();
    results.push_back(result);
    if (!out.empty()) std::ofstream(out) << results.dump(1) << "\n";
  }
  return all ? 0 : 1;
}
