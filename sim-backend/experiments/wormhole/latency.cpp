// 000-latency: what stops cost where nothing waits, and two sets of routes of which each message
// takes one. 000-sensitivity: hosts that are slower, or fewer.
#include <fmt/core.h>

#include <cmath>
#include <map>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::latency {
namespace {

constexpr double kLowLoad = 0.001;  // flits per ns and switch
constexpr unsigned kSmall = 32, kLarge = 512;

constexpr ClaimSpec kLatency[] = {
    {.id = "T19-small",
     .text = "BMAX takes 40, 82, 109, 142 % longer than UD for 32 bytes",
     .source = "Flich 2001, table 19",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "T19-large",
     .text = "BMAX takes 8.5, 16.2, 23.8, 32.9 % longer than UD for 512 bytes",
     .source = "Flich 2001, table 19",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "H19-small",
     .text = "UD_ITB takes 10.8, 16.8, 19.9 % longer than UD for 32 bytes on 16, 32, 64 switches",
     .source = "Flich 2001, table 8",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "H19-large",
     .text = "UD_ITB takes 2.6, 3.7, 4.4 % longer than UD for 512 bytes on 16, 32, 64 switches",
     .source = "Flich 2001, table 8",
     .measured = "{farthest:.3f} times",
     .expected = "0.85 to 1.15 times the published"},
    {.id = "T23-contention",
     .text = "choosing UD_ITB's routes only where UD's are contended costs nothing at low load",
     .source = "Flich 2001, table 23",
     .must_hold = true,
     .measured = "{most:.2f} % off",
     .expected = "at most 1 %"},
};

struct LatencyRow {
  std::string_view claim, system;
  unsigned bytes;
  std::vector<std::pair<unsigned, double>> published;  // switches, percent above UD
};

std::vector<LatencyRow> latency_rows() {
  return {{"T19-small", "BMAX_ITB", kSmall, {{8, 39.97}, {16, 81.52}, {32, 109.14}, {64, 141.56}}},
          {"T19-large", "BMAX_ITB", kLarge, {{8, 8.54}, {16, 16.22}, {32, 23.82}, {64, 32.92}}},
          {"H19-small", "UD_ITB", kSmall, {{16, 10.84}, {32, 16.78}, {64, 19.90}}},
          {"H19-large", "UD_ITB", kLarge, {{16, 2.61}, {32, 3.70}, {64, 4.39}}},
          {"T23-contention", "UD_ITB_DET1", kSmall, {{8, 0}, {16, 0}, {32, 0}, {64, 0}}},
          {"T23-contention", "UD_ITB_DET2", kSmall, {{8, 0}, {16, 0}, {32, 0}, {64, 0}}}};
}

/// Mean latency at low load, ns.
Result<double> measure_latency(const WormRun& run, const MessageCount& length) {
  const auto prepared = prepare_worms(run, length);
  if (!prepared) return tl::unexpected<Error>(prepared.error());
  const PointResult point = prepared->run(kLowLoad, 1);
  if (!point.audit.empty()) return fail(Errc::Invalid, run.system + ": " + point.audit);
  return point.latency.mean / double(kNano);
}

Result<Findings> run_latency(const ExperimentOptions& options) {
  struct Task {
    std::string_view system;
    unsigned bytes, switches, topology;

    auto operator<=>(const Task&) const = default;
  };

  const std::vector<unsigned> sizes =
      options.quick ? std::vector{16u, 32u} : std::vector{8u, 16u, 32u, 64u};
  const unsigned topologies = options.quick ? 3 : 10;
  const MessageCount length = options.quick
                                  ? MessageCount{.warm_up = 500, .measured = 6000, .of_pair = 1}
                                  : MessageCount{.warm_up = 1000, .measured = 20'000};
  std::map<Task, double> values;
  for (const LatencyRow& row : latency_rows()) {
    for (const unsigned switches : sizes) {
      for (unsigned t = 1; t <= topologies; ++t) {
        values[{row.system, row.bytes, switches, t}] = 0;
        values[{"UD", row.bytes, switches, t}] = 0;
      }
    }
  }
  std::vector<Task> tasks;
  for (const auto& [task, value] : values) tasks.push_back(task);
  const auto results = collect<double>(options.jobs, tasks.size(), [&](std::size_t i) {
    return measure_latency({.fabric = irregular_fabric(tasks[i].switches, tasks[i].topology),
                            .system = std::string(tasks[i].system),
                            .sizes = {{tasks[i].bytes, 1}},
                            .seed = tasks[i].topology},
                           length);
  });
  if (!results) return tl::unexpected<Error>(results.error());
  for (std::size_t i = 0; i < tasks.size(); ++i) values[tasks[i]] = (*results)[i];
  Findings out{
      .plot = {.title = "Latency at low load", .x_label = "switches", .y_label = "% above UD"}};
  std::vector<std::pair<std::string_view, std::pair<std::string, Range>>> measured;
  for (const LatencyRow& row : latency_rows()) {
    for (const auto& [switches, published] : row.published) {
      if (std::ranges::find(sizes, switches) == sizes.end()) continue;
      double above = 0;
      for (unsigned t = 1; t <= topologies; ++t) {
        const double ud = values[{"UD", row.bytes, switches, t}];
        above += 100 * (values[{row.system, row.bytes, switches, t}] / ud - 1) / topologies;
      }
      out.add_row({{"claim", row.claim},
                   {"system", row.system},
                   {"bytes", row.bytes},
                   {"switches", switches},
                   {"above_ud_percent", above},
                   {"published", published}});
      out.plot.add_point(fmt::format("{}, {} bytes", row.system, row.bytes), switches, above);
      if (measured.empty() || measured.back().first != row.claim)
        measured.push_back({row.claim, {}});
      auto& [text, range] = measured.back().second;
      text += fmt::format("{}{:.2f} ({:.2f})", text.empty() ? "" : ", ", above, published);
      range.add(published == 0 ? std::abs(above) : above / published);
    }
  }
  std::vector<Measured> verdicts;
  for (const auto& [claim, what] : measured) {
    if (claim == "T23-contention") {
      verdicts.emplace_back(claim, what.second);
    } else {
      verdicts.emplace_back(
          claim, fmt::format("% above UD, ours (published): {}", what.first), what.second);
    }
  }
  out.verdicts = decide(kLatency, verdicts);
  return out;
}

constexpr ClaimSpec kSensitivity[] = {
    {.id = "slow-throughput",
     .text = "hosts five times slower leave UD_ITB its throughput",
     .source = "Flich 2001, section 5.6.1",
     .measured = "{least:.3f} times",
     .expected = "0.95 to 1.05 times"},
    {.id = "slow-latency",
     .text = "they almost double UD_ITB's latency of 32 bytes",
     .source = "Flich 2001, section 5.6.1",
     .measured = "{least:.2f} times UD_ITB's with fast hosts",
     .expected = "1.4 to 2.2 times"},
    {.id = "few-hosts",
     .text = "with two hosts per switch BMAX carries less than BMIN",
     .source = "Flich 2001, section 5.6.3",
     .measured = "{least:.3f} times",
     .expected = "less than 1"},
    {.id = "few-hosts-bmin",
     .text = "with two hosts per switch BMIN carries what it does with four",
     .source = "Flich 2001, section 5.6.3",
     .measured = "{least:.3f} times",
     .expected = "0.9 to 1.1 times"},
    {.id = "few-hosts-order",
     .text = "with two hosts per switch fewer stops carry more: the order of BMIN, B33, B50, B66 "
             "and BMAX is the reverse of that with four",
     .source = "Flich 2001, section 5.6.3",
     .measured = "{most:.3f} times at most from one to the next",
     .expected = "at most 1"},
    {.id = "queue-itb",
     .text = "at 0.047 of 32 bytes, where it saturates the published 32 switches, UD_ITB starves "
             "no host: at most 11 messages wait at one",
     .source = "Flich 2001, section 5.6.2",
     .measured = "{most:.0f}",
     .expected = "at most 11"},
    {.id = "queue-bmax",
     .text = "nor does BMAX at 0.064, where it saturates them: about 50",
     .source = "Flich 2001, section 5.6.2",
     .measured = "{most:.0f}",
     .expected = "at most 50"},
};

enum class CaseValue : std::uint8_t { MostAccepted, Latency, MostWaiting };

/// Messages that wait at one host at the end, where most do.
Result<double> count_waiting(const WormRun& run, double load, const MessageCount& length) {
  const auto prepared = prepare_worms(run, length);
  if (!prepared) return tl::unexpected<Error>(prepared.error());
  const PointResult point = prepared->run(load, 1);
  if (!point.audit.empty()) return fail(Errc::Invalid, run.system + ": " + point.audit);
  return static_cast<double>(point.worms->most_local);
}

Result<Findings> run_sensitivity(const ExperimentOptions& options) {
  constexpr unsigned kSwitches = 32;
  const unsigned topologies = options.quick ? 1 : 10;
  const MessageCount length =
      options.quick ? MessageCount{.warm_up = 3000, .measured = 9000} : MessageCount{};
  const MessageCount low = options.quick
                               ? MessageCount{.warm_up = 500, .measured = 6000, .of_pair = 1}
                               : MessageCount{.warm_up = 1000, .measured = 20'000};

  struct Case {
    const char* name;
    const char* system;
    unsigned hosts;
    bool slow;
    CaseValue value = CaseValue::MostAccepted;
    double load = 0;  // of messages that wait
  };

  const std::vector<Case> cases{
      {"UD_ITB", "UD_ITB", 4, false},
      {"UD_ITB, slow hosts", "UD_ITB", 4, true},
      {"UD_ITB, latency", "UD_ITB", 4, false, CaseValue::Latency},
      {"UD_ITB, slow hosts, latency", "UD_ITB", 4, true, CaseValue::Latency},
      {"BMIN, 4 hosts", "BMIN_ITB", 4, false},
      {"BMIN, 2 hosts", "BMIN_ITB", 2, false},
      {"B33, 2 hosts", "B33_ITB", 2, false},
      {"B50, 2 hosts", "B50_ITB", 2, false},
      {"B66, 2 hosts", "B66_ITB", 2, false},
      {"BMAX, 2 hosts", "BMAX_ITB", 2, false},
      {"UD, 2 hosts", "UD", 2, false},
      {"UD_ITB, waiting", "UD_ITB", 4, false, CaseValue::MostWaiting, 0.047},
      {"BMAX, waiting", "BMAX_ITB", 4, false, CaseValue::MostWaiting, 0.064}};
  const auto results = collect<double>(options.jobs, cases.size() * topologies, [&](std::size_t i) {
    const Case& one = cases[i / topologies];
    const auto topology = static_cast<unsigned>(1 + i % topologies);
    const bool waiting = one.value == CaseValue::MostWaiting;
    const bool large = one.value == CaseValue::MostAccepted;
    WormRun what{.fabric = irregular_fabric(kSwitches, topology, one.hosts),
                 .system = one.system,
                 .sizes = {{large ? kLarge : kSmall, 1}},
                 .seed = topology};
    if (one.slow) {
      what.options.detection *= 5;
      what.options.dma *= 5;
    }
    if (waiting) return count_waiting(what, one.load, length);
    return large ? find_most_accepted(what, length) : measure_latency(what, low);
  });
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out{.plot = {.title = "Slower and fewer hosts",
                        .x_label = "case",
                        .y_label = "most accepted, flits per ns and switch"}};
  std::vector<double> means(cases.size(), 0), largest(cases.size(), 0);
  for (std::size_t i = 0; i < results->size(); ++i) {
    means[i / topologies] += (*results)[i] / topologies;
    largest[i / topologies] = std::max(largest[i / topologies], (*results)[i]);
  }
  for (std::size_t c = 0; c < cases.size(); ++c) {
    out.add_row({{"case", cases[c].name}, {"mean", means[c]}, {"most", largest[c]}});
    if (cases[c].value == CaseValue::MostAccepted)
      out.plot.add_point("throughput", static_cast<double>(c), means[c]);
  }
  Range steps;
  for (std::size_t c = 6; c <= 9; ++c) steps.add(means[c] / means[c - 1]);
  out.verdicts = decide(kSensitivity,
                        {{"slow-throughput", Range(means[1] / means[0])},
                         {"slow-latency", Range(means[3] / means[2])},
                         {"few-hosts", Range(means[9] / means[5])},
                         {"few-hosts-bmin", Range(means[5] / means[4])},
                         {"few-hosts-order", steps},
                         {"queue-itb", Range(largest[11])},
                         {"queue-bmax", Range(largest[12])}});
  return out;
}

}  // namespace
}  // namespace smd::sim::latency

namespace smd::sim {

std::vector<Experiment> low_load_tables() {
  return {{.name = "000-latency",
           .source = "Flich 2001, tables 8, 19 and 23",
           .about = "What stops at hosts cost where nothing waits",
           .claims = latency::kLatency,
           .run = latency::run_latency},
          {.name = "000-sensitivity",
           .source = "Flich 2001, section 5.6",
           .about = "Hosts that pass messages on more slowly, and fewer of them",
           .claims = latency::kSensitivity,
           .run = latency::run_sensitivity}};
}

}  // namespace smd::sim
