// Scenarios whose results may not depend on who simulates which part of the fabric.
#pragma once

#include <string>
#include <vector>

namespace smd::sim::test {

struct PartitionCase {
  std::string name;
  std::string text;
};

template <class Row>
std::string name_of_case(const Row& row) {
  return row.param.name;
}

/// Packets by a rule that does not look at other switches.
inline PartitionCase rule_case(const std::string& name,
                               const std::string& rule,
                               const std::string& fabric,
                               const std::string& pattern = "uniform") {
  return {.name = "Rule" + name,
          .text = "[fabric]\nname = \"" + fabric + "\"\npreset = \"booksim\"\nvls = 4\n" +
                  "[routes]\nrule = \"" + rule + "\"\n" + "[traffic]\nload = [0.4]\nsize = 64\n" +
                  "pattern = \"" + pattern + "\"\n" + (pattern == "mdn" ? "dims = [4, 4]\n" : "") +
                  "[measure]\nwarm_up_us = 0.2\ninterval_us = 0.1\nmost_intervals = 10\n"};
}

/// Routes that close circles, under full load on two VLs.
inline PartitionCase deadlock_case(const std::string& name, const std::string& switches) {
  return {.name = "Deadlock" + name,
          .text = "[fabric]\nname = \"torus:dims=4.4,hosts=2\"\nengine = \"minhop\"\nvls = 2\n" +
                  switches + "[traffic]\nload = [1]\nsize = 4096\nsl = \"random\"\n" +
                  "[measure]\nwarm_up_us = 1\ninterval_us = 10\n"};
}

inline std::vector<PartitionCase> partition_cases() {
  return {{"FatTree", R"([fabric]
name = "fat-tree:k=4,levels=3"
engine = "ftree"
[traffic]
load = [0.7]
size = [{bytes = 64, weight = 0.8}, {bytes = 4096, weight = 0.2}]
[measure]
warm_up_us = 2
interval_us = 3
most_intervals = 12
)"},
          {"TorusWithLanes", R"([fabric]
name = "torus:dims=4.4"
preset = "cycles"
vls = 4
[traffic]
load = [0.5]
size = 128
sl = "random"
[measure]
warm_up_us = 3
interval_us = 2
least_intervals = 3
most_intervals = 4
)"},
          {"DragonflyWithLongCables", R"([fabric]
name = "dragonfly:a=4,c=2,h=2"
[cable]
group = 4
within_groups_ns = 20
between_groups_ns = 700
[traffic]
load = [0.4]
size = 256
arrivals = "on-off"
[measure]
warm_up_us = 2
interval_us = 2
most_intervals = 25
)"},
          {"HotSpotWithTheStandardsControl", R"([fabric]
name = "fat-tree:k=8,levels=2"
vls = 2
[traffic]
pattern = "hot-spot"
share = 0.3
load = [0.8]
[congestion]
preset = "standard"
[measure]
warm_up_us = 10
interval_us = 10
most_intervals = 15
)"},
          {"WindowsAndAcknowledgements", R"([fabric]
name = "fat-tree:k=4,levels=2,width=1x,speed=SDR"
preset = "thesis"
[adapter]
queues = "per-destination"
[traffic]
pattern = "hot-spot"
share = 0.5
load = [0.9]
[congestion]
preset = "renato"
[measure]
warm_up_us = 100
interval_us = 100
most_intervals = 40
)"},
          {"Exchange", R"([fabric]
name = "torus:dims=3.3,hosts=2"
[traffic]
collective = "ring-all-reduce"
bytes = 200000
[measure]
interval_us = 2
limit_us = 1000
)"},
          {"BroadcastInSegments", R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
collective = "binomial-broadcast"
bytes = 300000
segment = 8192
[measure]
interval_us = 2
limit_us = 1000
)"},
          {"SwitchesThatAdd", R"([fabric]
name = "fat-tree:k=4,levels=2"
[[group]]
[traffic]
collective = "in-network-all-reduce"
bytes = 300000
[measure]
interval_us = 2
limit_us = 1000
)"},
          {"Deadlock", R"([fabric]
name = "torus:dims=4.4,hosts=2"
engine = "minhop"
preset = "cycles"
vls = 1
[traffic]
load = [0.9]
size = 2048
[measure]
warm_up_us = 1
interval_us = 10
)"},
          deadlock_case("BehindOutputBuffers", ""),
          deadlock_case("OfSharedWays", "[switch]\nmultiplexed = true\n"),
          rule_case("Min", "min", "hamming:dims=4.4,hosts=2"),
          rule_case("Valiant", "valiant", "dragonfly:a=4,c=2,h=2"),
          rule_case("UgalL", "ugal-l", "hamming:dims=4.4,hosts=2", "mdn"),
          rule_case("MinAdaptive", "min-adaptive", "hamming:dims=4.4,hosts=2"),
          rule_case("Par", "par", "dragonfly:a=4,c=2,h=2"),
          rule_case("Dal", "dal", "hamming:dims=4.4,hosts=2")};
}

}  // namespace smd::sim::test
