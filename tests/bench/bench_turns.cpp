// TurnSet (nue) beside AcyclicGraph (dfsssp, lash): the turns that the trees of one layer of nue
// ask for, in the same order let into either.
#include <benchmark/benchmark.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/graph/acyclic_graph.h"
#include "smd/routing/nue/planner.h"

namespace smd {
namespace {

struct Step {
  Channel in, out;
  bool closes;  // a cycle: is refused
};

class Sequence {
 public:
  explicit Sequence(const Fabric& fabric)
      : graph(fabric),
        channels(graph),
        dependencies(graph),
        targets_(find_targets(fabric, assign_lids(fabric, {}, {}).value().map)),
        known_(dependencies.size(), 0) {
    std::vector<SwitchIdx> with_hosts;
    for (const SwitchIdx sw : targets_.hosts.indices()) {
      if (targets_.hosts[sw] != 0) with_hosts.push_back(sw);
    }
    const auto destinations = split_by_locality(graph, std::move(with_hosts), 1).front();
    const EscapeTree escape{channels, {destinations.front()}};
    order = escape.list_channels();
    TurnSet turns{channels, order};
    for (const auto& [in, out] : escape.list_turns()) {
      turns.add(in, out);
      take(in, out, false);
    }
    TreeGrowth growth{channels};
    std::vector<std::uint64_t> load(channels.size(), 0);
    for (const SwitchIdx destination : destinations) {
      growth.grow(turns, destination, load, {});
      read(turns, growth.tree());
      add_load(growth.tree(), load);
      turns.keep();
    }
  }

  const SwitchGraph graph;
  const Channels channels;
  const Dependencies dependencies;
  std::vector<Channel> order;  // most turns agree with it, as those of the escape tree do
  std::vector<Step> steps;
  std::size_t refused = 0;

 private:
  void take(Channel in, Channel out, bool closes) {
    char& known = known_[dependencies.between(in, out)];
    if (known) return;
    known = 1;
    steps.push_back({in, out, closes});
    refused += closes;
  }

  // What a tree has asked for: of every switch first the turns that it was refused, then its own.
  void read(const TurnSet& turns, const GrownTree& tree) {
    for (std::size_t at = 1; at < tree.order.size(); ++at) {
      const Channel in = tree.egress[tree.order[at]], out = tree.egress[channels.to[in]];
      read_refused(turns, tree, tree.order[at]);
      if (out != kNoChannel) take(in, out, false);
    }
    for (const SwitchIdx sw : tree.depth.indices()) {
      if (tree.depth[sw] == kUnreached) read_refused(turns, tree, sw);
    }
  }

  void read_refused(const TurnSet& turns, const GrownTree& tree, SwitchIdx sw) {
    for (Channel in = channels.first[sw.value()]; in < channels.first[sw.value() + 1]; ++in) {
      const Channel out = tree.egress[channels.to[in]];
      if (out != kNoChannel && turns.is_barred(in, out)) take(in, out, true);
    }
  }

  void add_load(const GrownTree& tree, std::vector<std::uint64_t>& load) const {
    IndexVector<SwitchIdx, std::uint32_t> flow = targets_.hosts;
    for (std::size_t at = tree.order.size(); at-- > 1;) {
      const Channel egress = tree.egress[tree.order[at]];
      load[egress] += flow[tree.order[at]];
      flow[channels.to[egress]] += flow[tree.order[at]];
    }
  }

  const Targets targets_;
  std::vector<char> known_;  // by dependency
};

const Sequence& sequence(const std::string& spec) {
  static std::map<std::string, std::unique_ptr<const Sequence>> all;
  std::unique_ptr<const Sequence>& found = all[spec];
  if (found == nullptr)
    found = std::make_unique<const Sequence>(*sim::build_snapshot(sim::load_fabric(spec).value()));
  return *found;
}

void report(benchmark::State& state, const Sequence& on, bool same) {
  state.counters["turns"] = static_cast<double>(on.steps.size());
  state.counters["refused"] = static_cast<double>(on.refused);
  if (!same) state.SkipWithError("other turns are refused than were");
}

void add_to_turn_set(benchmark::State& state, const std::string& spec) {
  const Sequence& on = sequence(spec);
  bool same = true;
  for (auto _ : state) {
    state.PauseTiming();
    TurnSet turns{on.channels, on.order};
    state.ResumeTiming();
    for (const Step& step : on.steps) same = turns.add(step.in, step.out) != step.closes && same;
    turns.keep();
  }
  report(state, on, same);
}

// An empty graph whose channels stand in an order that the given one's turns agree with.
AcyclicGraph begin_ordered(const Sequence& on) {
  std::vector<std::size_t> place(on.order.size());
  for (std::size_t at = 0; at < on.order.size(); ++at) place[on.order[at]] = at;
  AcyclicGraph graph{on.dependencies};
  for (Channel in = 0; in < on.channels.size(); ++in) {
    const std::uint32_t sw = on.channels.to[in].value();
    for (Channel out = on.channels.first[sw]; out < on.channels.first[sw + 1]; ++out) {
      if (place[in] < place[out]) graph.set(on.dependencies.between(in, out));
    }
  }
  graph.sort();
  graph.clear();
  return graph;
}

void add_to_acyclic_graph(benchmark::State& state, const std::string& spec, bool ordered) {
  const Sequence& on = sequence(spec);
  bool same = true;
  for (auto _ : state) {
    state.PauseTiming();
    AcyclicGraph graph = ordered ? begin_ordered(on) : AcyclicGraph{on.dependencies};
    std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();
    state.ResumeTiming();
    for (const Step& step : on.steps) {
      const auto answer = graph.add(on.dependencies.between(step.in, step.out), budget);
      same = (answer == AcyclicGraph::Answer::Closes) == step.closes && same;
    }
  }
  report(state, on, same);
}

void register_all() {
  for (const char* spec :
       {"fat-tree:k=36,levels=3,hosts=1728", "dragonfly:a=8,h=4,c=4", "torus:dims=8.8.8,hosts=4"}) {
    const std::string fabric{spec};
    const auto add = [&](const char* name, auto run) {
      benchmark::RegisterBenchmark((name + ("/" + fabric)).c_str(), run)
          ->Unit(benchmark::kMicrosecond);
    };
    add("turn_set", [=](benchmark::State& s) { add_to_turn_set(s, fabric); });
    add("acyclic_graph", [=](benchmark::State& s) { add_to_acyclic_graph(s, fabric, false); });
    add("acyclic_graph_ordered",
        [=](benchmark::State& s) { add_to_acyclic_graph(s, fabric, true); });
  }
}

}  // namespace
}  // namespace smd

int main(int argc, char** argv) {
  smd::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
