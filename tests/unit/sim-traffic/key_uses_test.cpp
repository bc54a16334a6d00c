// Keys of a scenario that change nothing there are refused, and no others.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <set>

#include "sim-backend/scenario/scenario_keys.h"
#include "tests/support/scenario_text.h"

namespace smd::sim::test {
namespace key_uses_test {

using testing::HasSubstr;

/// A key's line, a scenario in which it has no effect, and what it has one with.
struct Row {
  std::string section;
  std::string line;
  std::string idle;  // other lines, by section
  std::string acts;
};

/// "section: line; line | section: line", and the line.
std::string text_of(const Row& row, const std::string& others) {
  std::string all = others + (others.empty() ? "" : " | ") + row.section + ": " + row.line;
  std::map<std::string, std::string> sections;
  std::string end;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t next = std::min(all.find(" | ", at), all.size());
    const std::string part = all.substr(at, next - at);
    const std::size_t colon = part.find(": ");
    const std::string name = part.substr(0, colon);
    std::string lines = part.substr(colon + 2) + "\n";
    for (std::size_t semicolon; (semicolon = lines.find("; ")) != std::string::npos;)
      lines.replace(semicolon, 2, "\n");
    (name.starts_with("[[") ? end += name + "\n" : sections[name]) += lines;
    at = next + 3;
  }
  std::string out;
  for (const auto& [name, lines] : sections) out += "[" + name + "]\n" + lines;
  return out + end;
}

std::string fault_of(const std::string& text) {
  const auto read = parse_scenario(text, "s.toml");
  return read ? std::string() : print_fault(read.error().at(0));
}

constexpr const char* kExchange = "traffic: collective = \"all-to-all-exchange\"";
constexpr const char* kWorms = "fabric: model = \"worms\"";
constexpr const char* kFault = "[[fault]]: at_us = 1000; what = \"link-down\"; where = \"sw-0:1\"";

std::string both(const std::string& a, const std::string& b) { return a + " | " + b; }

std::vector<Row> rows() {
  const std::string trace = "traffic: trace = \"t\"";
  const std::string mvcm = "congestion: preset = \"mvcm\"";
  const std::string standard = "congestion: preset = \"standard\"";
  const std::string pfister = "congestion: preset = \"pfister\"";
  const std::string unmarked = "; marking = \"none\"";
  const std::string unanswered = "; echo = \"none\"";
  const std::string rule = "fabric: name = \"dragonfly:a=4,c=2,h=2\"; vls = 4 | routes: rule = ";
  const std::string itb = both(kWorms, "routes: system = \"UD_ITB\"");
  const std::string algorithm = both(kWorms, "routes: algorithm = \"dual-path\"");
  return {
      {"switch", "output_buffer = 8192", "fabric: preset = \"cycles\"; mtu = 2048", ""},
      {"switch", "copies = \"in-turn\"", "", "[[group]]: count = 3"},
      {"adapter", "hashed_queues = 4", "", "adapter: queues = \"hashed\""},
      {"adapter", "pool = 9000", "", "adapter: queues = \"pool\""},
      {"cable", "within_groups_ns = 5", "", "cable: group = 4"},
      {"cable", "between_groups_ns = 5", "", "cable: group = 4"},
      {"fabric", "orientation = \"depth-first\"", "fabric: engine = \"minhop\"", ""},
      {"routes", "dims = [4, 4]", "routes: rule = \"tables\"", "routes: rule = \"min\""},
      {"routes", "threshold = 3", rule + "\"min\"", rule + "\"ugal-l\""},
      {"routes", "threshold = 3", rule + "\"min-adaptive\"", rule + "\"dal\""},
      {"routes", "valiant = \"group\"", rule + "\"min\"", rule + "\"valiant\""},
      {"routes", "valiant = \"group\"", rule + "\"min-adaptive\"", rule + "\"ugal-l\""},
      {"routes", "among = \"others\"", rule + "\"min\"", rule + "\"piggyback\""},
      {"routes", "trunk = \"hash\"", rule + "\"dal\"", rule + "\"min\""},
      {"routes", "trunk = \"hash\"", rule + "\"min-adaptive\"", rule + "\"min\""},
      {"routes", "gateway = \"hash\"", rule + "\"dal\"", rule + "\"min\""},
      {"routes", "small = 9", kWorms, both(kWorms, "routes: choose = \"size\"; second = \"DFS\"")},
      {"routes",
       "share = 0.1",
       kWorms,
       both(kWorms, "routes: choose = \"share\"; second = \"DFS\"")},
      {"routes",
       "margin = 1",
       both(kWorms, "routes: choose = \"contention\""),
       both(kWorms, "routes: choose = \"contention\"; second = \"DFS\"")},
      {"routes", "root = 1", both(kWorms, "routes: system = \"DFS\""), kWorms},
      {"routes", "per_pair = 3", both(kWorms, "routes: system = \"SMART_LIKE\""), kWorms},
      {"routes", "itb_host = \"by-input\"", kWorms, itb},
      {"nic", "memory = 600", kWorms, itb},
      {"nic", "dma = 6", kWorms, itb},
      {"nic", "detection = 6", kWorms, itb},
      {"nic", "local_after = [1, 1, 1]", kWorms, itb},
      {"nic", "local_marks = [1, 2]", kWorms, itb},
      {"worm", "stop = 50", both(kWorms, "worm: flow = \"credits\""), kWorms},
      {"worm", "go = 30", both(kWorms, "worm: flow = \"credits\""), kWorms},
      {"worm", "copies = \"lock-step\"", kWorms, algorithm},
      {"traffic", "load = [0.1, 0.2]", kExchange, ""},
      {"traffic", "load = 0.1", trace, ""},
      {"traffic", "load_unit = \"share\"", both(kWorms, kExchange), kWorms},
      {"traffic", "arrivals = \"constant\"", kExchange, ""},
      {"traffic", "size = 64", kExchange, ""},
      {"traffic", "destinations = 2", both(algorithm, kExchange), algorithm},
      {"traffic", "burst = 3", "", "traffic: arrivals = \"on-off\""},
      {"traffic",
       "shape = 1.2",
       "traffic: arrivals = \"on-off\"",
       "traffic: arrivals = \"self-similar\""},
      {"traffic", "slot_ns = 3", "", "traffic: arrivals = \"bernoulli\""},
      {"traffic", "sl = \"random\"", kExchange, ""},
      {"traffic", "lid = \"any\"", both("fabric: lmc = 1", kExchange), "fabric: lmc = 1"},
      {"traffic", "multicast_share = 0.5", algorithm, both(algorithm, "traffic: destinations = 2")},
      {"traffic",
       "multicast_share = 0.5",
       both(kExchange, "[[group]]: count = 3"),
       "[[group]]: count = 3"},
      {"traffic", "share = 0.5", "", "traffic: pattern = \"hot-spot\""},
      {"traffic", "targets = 2", "traffic: pattern = \"local\"", "traffic: pattern = \"incast\""},
      {"traffic", "radius = 2", "", "traffic: pattern = \"combined\""},
      {"traffic", "dims = [4, 4]", "", "traffic: pattern = \"tornado\""},
      {"traffic", "group = 4", "traffic: pattern = \"mdn\"", "traffic: pattern = \"adv+1\""},
      {"traffic", "bytes = 4", "", kExchange},
      {"measure", "warm_up_us = 4", "measure: warm_up_messages = 9", ""},
      {"measure", "warm_up_us = 4", kExchange, both(kExchange, kFault)},
      {"measure", "least_intervals = 4", "measure: messages = 9", both(kExchange, kFault)},
      {"measure", "most_intervals = 40", kFault, ""},
      {"measure", "precision = 0.1", kExchange, ""},
      {"measure", "messages = 100", kFault, ""},
      {"measure", "warm_up_messages = 100", kExchange, ""},
      {"measure", "saturation = true", kExchange, ""},
      {"measure", "tolerance = 0.1", "", "measure: saturation = true"},
      {"measure", "limit_us = 100", "", kExchange},
      {"measure", "limit_us = 100", both(kWorms, kFault), kFault},
      {"congestion", "input_percent = 50", "congestion: marking = \"opm\"", mvcm},
      {"congestion", "output_percent = 50", "congestion: marking = \"ipm\"", mvcm},
      {"congestion", "threshold = 5", mvcm, standard},
      {"congestion", "marking_rate = 5", "", standard},
      {"congestion", "packet_size = 5", "", standard},
      {"congestion", "victims = false", "", standard},
      {"congestion", "ccti_increase = 5", mvcm, standard},
      {"congestion", "ccti_limit = 5", "", standard},
      {"congestion", "ccti_timer = 5", "", standard},
      {"congestion", "ccti_min = 5", "", standard},
      {"congestion", "per_sl = true", "", standard},
      // No source hears of a mark, so that no index moves but to its least.
      {"congestion", "ccti_increase = 5", standard + unanswered, standard},
      {"congestion", "ccti_increase = 5", standard + unmarked, standard + "; marking = \"ipm\""},
      {"congestion", "ccti_timer = 5", standard + unanswered, standard + "; echo = \"acks\""},
      {"congestion", "ccti_timer = 5", standard + unmarked + "; ccti_min = 3", standard},
      {"congestion",
       "ccti_limit = 5",
       standard + unanswered,
       standard + unanswered + "; ccti_min = 3"},
      {"congestion", "per_sl = true", standard + unmarked, standard + unmarked + "; ccti_min = 3"},
      {"congestion", "ccti_min = 5", mvcm, standard + unanswered},
      {"congestion", "window = \"static\"", standard, mvcm},
      {"congestion", "pace = \"slots\"", "", mvcm},
      {"congestion", "window_packets = 2", pfister, mvcm},
      {"congestion", "window_mean = 1.5", mvcm, both(mvcm, "congestion: window = \"fractional\"")},
      {"congestion", "scope = \"host\"", standard, mvcm},
      {"congestion", "recovery = \"progressive\"", "", mvcm},
      {"congestion", "radix = 4", pfister, mvcm},
      {"congestion", "stages = 4", "", mvcm},
      {"congestion", "cap = \"none\"", "", mvcm},
      {"congestion", "round_trip_ns = 400", "", mvcm},
      {"congestion", "hot_sources = 4", mvcm, pfister},
      {"congestion", "pace = \"fimd\"", mvcm + unmarked, mvcm},
      {"congestion", "pace = \"fimd\"", pfister + unanswered, pfister},
      {"congestion", "radix = 4", mvcm + unmarked, mvcm},
      {"congestion", "stages = 4", mvcm + "; cap = \"none\"", mvcm},
      {"congestion", "hot_sources = 4", pfister + unanswered, pfister},
      {"congestion", "scope = \"host\"", pfister + unmarked, pfister},
      {"congestion", "scope = \"host\"", pfister + unanswered, mvcm + unmarked},
      {"congestion", "recovery = \"progressive\"", mvcm + unmarked, mvcm},
      {"congestion",
       "recovery = \"progressive\"",
       "congestion: preset = \"renato-window\"",
       "congestion: preset = \"renato\""},
      {"congestion",
       "window_packets = 2",
       mvcm + "; window = \"fractional\"; window_mean = 1.5",
       mvcm + unmarked},
  };
}

TEST(KeyUses, WhatChangesNothingIsRefusedWithItsLineAndNothingElse) {
  for (const Row& row : rows()) {
    const std::string key = row.section + "." + row.line.substr(0, row.line.find(' '));
    const std::string idle = text_of(row, row.idle);
    const auto at = std::count(
        idle.begin(), idle.begin() + static_cast<std::ptrdiff_t>(idle.find(row.line)), '\n');
    EXPECT_THAT(fault_of(idle),
                HasSubstr(fmt::format("s.toml:{}: {} has no effect here: it is of ", at + 1, key)))
        << idle;
    EXPECT_EQ(fault_of(text_of(row, row.acts)), "") << text_of(row, row.acts);
  }
}

// Those that always act, or of which other checks say where they do not.
TEST(KeyUses, EveryKeyIsOneOfThemOrActsAlways) {
  std::set<std::string> seen{"fabric.preset",
                             "fabric.model",
                             "fabric.name",
                             "fabric.engine",
                             "fabric.lmc",
                             "fabric.path_sets",
                             "fabric.non_minimal",
                             "fabric.vls",
                             "fabric.mtu",
                             "fabric.multicast_trees",
                             "fabric.lifetimes",
                             "switch.output_buffers",
                             "switch.multiplexed",
                             "switch.oldest_first",
                             "switch.speed_up_percent",
                             "switch.input_buffer",
                             "switch.routing_ns",
                             "adapter.queues",
                             "adapter.most_waiting",
                             "adapter.static_rate",
                             "cable.propagation_ns",
                             "cable.group",
                             "cable.header_bytes",
                             "cable.flow_control_packets",
                             "routes.rule",
                             "routes.group",
                             "routes.system",
                             "routes.second",
                             "routes.algorithm",
                             "routes.seed",
                             "routes.choose",
                             "worm.cycle_ps",
                             "worm.cable",
                             "worm.routing",
                             "worm.transfer",
                             "worm.buffer",
                             "worm.flow",
                             "worm.allocation",
                             "nic.channels",
                             "nic.header",
                             "traffic.pattern",
                             "traffic.among",
                             "traffic.collective",
                             "traffic.segment",
                             "traffic.combine_ns",
                             "traffic.combine_radix",
                             "traffic.trace",
                             "measure.interval_us",
                             "manager.mode",
                             "manager.computing",
                             "manager.drain_us",
                             "manager.debounce_us",
                             "manager.sweep_us",
                             "congestion.preset",
                             "congestion.marking",
                             "congestion.echo",
                             "congestion.reaction"};
  for (const Row& row : rows())
    seen.insert(row.section + "." + row.line.substr(0, row.line.find(' ')));
  for (const ScenarioKey& key : scenario_keys())
    EXPECT_TRUE(seen.contains(key.name())) << key.name();
}

TEST(KeyUses, GatewaysAreOfDragonflies) {
  const std::string butterfly =
      "[fabric]\nname = \"hamming:dims=4.4\"\nvls = 2\n[routes]\nrule = \"valiant\"\n";
  EXPECT_EQ(fault_of_text(butterfly), "");
  EXPECT_EQ(fault_of_text(butterfly + "gateway = \"hash\"\n"),
            "s.toml:6: routes.gateway has no effect here: it is of dragonflies; leave it out");
  EXPECT_EQ(fault_of_text(butterfly + "valiant = \"router\"\n"),
            "s.toml:6: routes.valiant has no effect here: it is of dragonflies; leave it out");
}

TEST(KeyUses, ATraceSendsToNoGroup) {
  EXPECT_THAT(fault_of("[traffic]\ntrace = \"t\"\n[[group]]\ncount = 3\n"),
              HasSubstr("a [[group]] is of patterns and collectives"));
}

}  // namespace key_uses_test
}  // namespace smd::sim::test
