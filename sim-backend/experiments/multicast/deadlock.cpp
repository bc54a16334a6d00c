// 001-example and 001-deadlock: lists and their channels, and which algorithms can lock, counted;
// and a run that does.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "sim-backend/experiments/multicast/multicast_loads.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/multicast/verdict.h"

namespace smd::sim::deadlock {
namespace {

constexpr std::string_view kSource = "Perez Malumbres";

constexpr ClaimSpec kExampleClaims[] = {
    {.id = "M1",
     .text = "dual-path takes 33 channels in the example, 18 up and 15 down the labels",
     .source = "Perez Malumbres, figure 6",
     .must_hold = true,
     .measured = "{least:.0f} channels",
     .expected = "33 to 33 channels"},
    {.id = "M1-farthest",
     .text = "its farthest destination is 18 links away, multi-path's 6",
     .source = "Perez Malumbres, figures 6 and 7",
     .must_hold = true,
     .measured = "{farthest:.0f} times the published",
     .expected = "1 to 1 times"},
    {.id = "M2",
     .text = "multi-path takes 20 channels there",
     .source = "Perez Malumbres, figure 7",
     .measured = "{least:.0f} channels",
     .expected = "20 to 20 channels"},
    {.id = "M15-channels",
     .text = "multi-path takes fewer channels than dual-path, on average over random sets of 16",
     .source = "Perez Malumbres, section 4",
     .must_hold = true,
     .measured = "{most:.3f} times",
     .expected = "less than 1"},
    {.id = "M15-distance",
     .text = "and its farthest destination is nearer",
     .source = "Perez Malumbres, section 4",
     .must_hold = true,
     .measured = "{most:.3f} times",
     .expected = "less than 1"},
};

Result<LabelledNet> net_of(const std::string& fabric) {
  const auto spec = load_fabric(fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  return LabelledNet::build(*spec);
}

Result<Findings> run_example(const ExperimentOptions& options) {
  constexpr std::array<std::pair<int, int>, 9> kTo{
      {{0, 0}, {0, 2}, {0, 5}, {1, 3}, {4, 5}, {5, 0}, {5, 1}, {5, 3}, {5, 4}}};
  const auto six = net_of(mesh_fabric(6));
  if (!six) return tl::unexpected<Error>(six.error());
  const unsigned side = options.quick ? 16 : 32, sets = options.quick ? 200 : 1000;
  const auto wide = net_of(mesh_fabric(side));
  if (!wide) return tl::unexpected<Error>(wide.error());
  std::vector<Node> to;
  for (const auto& [x, y] : kTo) to.push_back(six->at(x, y));
  Findings out{.plot = {.title = "Channels of a message, by algorithm",
                        .x_label = "destinations",
                        .y_label = "channels"}};
  std::map<std::string, MulticastFigures> example, random;
  for (const char* name :
       {"separate", "dual-path", "multi-path", "double-channel", "pm", "pm-split", "fm"}) {
    const MulticastAlgorithm& row = *find_multicast_algorithm(name);
    example[name].add(trace_multicast(*six, row, six->at(3, 2), to));
    random[name] = measure_random_sets(*wide, row, sets, 16, 1);
    const auto add = [&](std::string_view what, const MulticastFigures& figures) {
      out.add_row({{"algorithm", name},
                   {"sets", what},
                   {"channels", figures.mean_channels()},
                   {"mean_distance", figures.mean_distance()},
                   {"farthest", figures.mean_farthest()}});
    };
    add("the example", example[name]);
    add(fmt::format("{} of 16 on {} x {}", sets, side, side), random[name]);
    for (const unsigned size : {4u, 8u, 16u, 32u}) {
      const auto few = measure_random_sets(*wide, row, sets / 10, size, 2);
      out.plot.add_point(name, size, few.mean_channels());
    }
  }
  Range farthest(static_cast<double>(example["dual-path"].farthest) / 18);
  farthest.add(static_cast<double>(example["multi-path"].farthest) / 6);
  const MulticastFigures &multi = random["multi-path"], &dual = random["dual-path"];
  out.verdicts = decide(kExampleClaims,
                        {{"M1", Range(example["dual-path"].mean_channels())},
                         {"M1-farthest", farthest},
                         {"M2", Range(example["multi-path"].mean_channels())},
                         {"M15-channels", Range(multi.mean_channels() / dual.mean_channels())},
                         {"M15-distance", Range(multi.mean_farthest() / dual.mean_farthest())}});
  return out;
}

constexpr ClaimSpec kDeadlockClaims[] = {
    {.id = "M5",
     .text = "rows first is free of circles for messages to one host, not for messages to several",
     .source = "Perez Malumbres, figure 2",
     .must_hold = true,
     .measured = "as claimed on every mesh",
     .expected = "every mesh"},
    {.id = "M5-run",
     .text = "a tree along rows first locks in a run",
     .source = "ours: figure 2 as a run",
     .must_hold = true,
     .measured = "it locks",
     .expected = "it locks"},
    {.id = "M6",
     .text = "dual-path and multi-path are free of circles without further lanes",
     .source = "Perez Malumbres, section 4",
     .must_hold = true,
     .measured = "none on any mesh",
     .expected = "none on any mesh"},
    {.id = "M7",
     .text = "PM and FM seem free of deadlock, as printed",
     .source = "Perez Malumbres, section 5",
     .measured = "circles",
     .expected = "no circle on any mesh"},
    {.id = "M7-ban",
     .text = "they are where nothing turns north that came south",
     .source = "ours: section 5, corrected",
     .must_hold = true,
     .measured = "none on any mesh",
     .expected = "none on any mesh"},
};

struct DeadlockRow {
  const char* algorithm;
  unsigned most;  // destinations
};

Result<Findings> run_deadlock(const ExperimentOptions& options) {
  std::vector<DeadlockRow> rows{{"separate", 2},
                                {"path-xy", 2},
                                {"tree-xy", 2},
                                {"double-channel", 2},
                                {"single-channel", 2},
                                {"dual-path", 2},
                                {"dual-path-2", 2},
                                {"dual-path-adaptive", 2},
                                {"dual-path-adaptive", 3},
                                {"multi-path", 2},
                                {"xy-adaptive", 2},
                                {"pm-printed", 3},
                                {"fm-printed", 3},
                                {"pm", 3},
                                {"pm-split", 3},
                                {"fm", 3}};
  const auto is_long = [](const DeadlockRow& row) {
    return row.most == 3 && find_multicast_algorithm(row.algorithm)->adaptive;
  };
  if (options.quick) std::erase_if(rows, is_long);
  std::vector<std::string> meshes{mesh_fabric(4)};
  if (!options.quick) {
    meshes.push_back("torus:dims=3.5,hosts=1,mesh=1");
    meshes.push_back("torus:dims=5.4,hosts=1,mesh=1");
  }
  const std::size_t count = rows.size();
  const auto verdicts =
      collect<bool>(options.jobs, meshes.size() * count, [&](std::size_t i) -> Result<bool> {
        const auto net = net_of(meshes[i / count]);
        if (!net) return tl::unexpected<Error>(net.error());
        const DeadlockRow& row = rows[i % count];
        const MulticastAlgorithm& algorithm = *find_multicast_algorithm(row.algorithm);
        return check_multicast(*net, algorithm, row.most, ForkModel::Whole, algorithm.adaptive)
            .is_safe();
      });
  if (!verdicts) return tl::unexpected<Error>(verdicts.error());
  Findings out{.plot = {.title = "Algorithms free of circles",
                        .x_label = "row of the table",
                        .y_label = "1: free"}};
  std::map<std::string, bool> safe, ever_safe;  // on every mesh; on any
  for (std::size_t i = 0; i < verdicts->size(); ++i) {
    const DeadlockRow& row = rows[i % count];
    const bool is_safe = (*verdicts)[i];
    safe.try_emplace(row.algorithm, true).first->second &= is_safe;
    ever_safe[row.algorithm] |= is_safe;
    out.plot.add_point(meshes[i / count], static_cast<double>(i % count), is_safe ? 1 : 0);
    out.add_row({{"fabric", meshes[i / count]},
                 {"algorithm", row.algorithm},
                 {"destinations", row.most},
                 {"free_of_circles", is_safe ? "yes" : "no"},
                 {"locks_at", TableCell()}});
  }
  const auto locks = [&](const char* algorithm, unsigned channels) -> Result<bool> {
    const MulticastRun run{
        .algorithm = algorithm, .fabric = mesh_fabric(6), .destinations = 8, .channels = channels};
    const MessageCount length{.warm_up = 500, .measured = options.quick ? 3000u : 10'000u};
    const auto found = sweep(run, length, options.quick ? 0.1 : 0.02);
    if (!found) return tl::unexpected<Error>(found.error());
    double least = 0;
    for (const MulticastPoint& point : found->points) {
      if (point.deadlocked && least == 0) least = point.load;
    }
    out.add_row({{"fabric", mesh_fabric(6)},
                 {"algorithm", algorithm},
                 {"destinations", 8},
                 {"free_of_circles", fmt::format("run with {} channels to a host", channels)},
                 {"locks_at", found->deadlocked ? TableCell(least) : TableCell("not")}});
    return found->deadlocked;
  };
  std::vector<bool> locked;
  for (const auto& [algorithm, channels] : {std::pair{"tree-xy", 4u},
                                            {"double-channel", 4u},
                                            {"dual-path", 1u},
                                            {"dual-path", 4u},
                                            {"multi-path", 4u},
                                            {"dual-path-2", 4u},
                                            {"dual-path-2", 8u},
                                            {"dual-path-adaptive", 4u},
                                            {"dual-path-adaptive", 8u}}) {
    const auto found = locks(algorithm, channels);
    if (!found) return tl::unexpected<Error>(found.error());
    locked.push_back(*found);
  }
  const bool rows_first = safe["separate"] && !ever_safe["path-xy"] && !ever_safe["tree-xy"];
  const bool labels = safe["dual-path"] && safe["multi-path"];
  const bool printed = safe["pm-printed"] && safe["fm-printed"];
  const bool banned = safe["pm"] && safe["fm"];
  const auto none = [](bool is_so) { return std::string(is_so ? "none on any mesh" : "circles"); };
  out.verdicts =
      decide(kDeadlockClaims,
             {{"M5", rows_first ? "as claimed on every mesh" : "not so on some mesh", rows_first},
              {"M5-run", locked[0] ? "it locks" : "it does not", bool(locked[0])},
              {"M6", none(labels), labels},
              {"M7", none(printed), printed},
              {"M7-ban", none(banned), banned}});
  return out;
}

}  // namespace
}  // namespace smd::sim::deadlock

namespace smd::sim {

std::vector<Experiment> multicast_algorithm_tables() {
  return {{.name = "001-example",
           .source = deadlock::kSource,
           .about = "Lists, channels and distances of multicast algorithms on meshes",
           .claims = deadlock::kExampleClaims,
           .run = deadlock::run_example},
          {.name = "001-deadlock",
           .source = deadlock::kSource,
           .about = "Which multicast algorithms can lock, counted and in runs",
           .claims = deadlock::kDeadlockClaims,
           .run = deadlock::run_deadlock}};
}

}  // namespace smd::sim
