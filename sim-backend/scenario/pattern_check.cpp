#include "sim-backend/scenario/pattern_check.h"

#include <fmt/core.h>

#include <algorithm>

namespace smd::sim {
namespace {

/// What the pattern is short of, where it is; for others its own name.
std::string_view key_of(std::string_view pattern) {
  if (pattern == "incast" || pattern == "hot-spot") return "traffic.targets";
  if (pattern == "local") return "traffic.radius";
  if (pattern == "mdn" || pattern == "tornado") return "traffic.dims";
  if (pattern == "adv+1") return "traffic.group";
  return "traffic.pattern";
}

int line_of_pattern(const Scenario& s) {
  for (const std::string_view key :
       {key_of(s.traffic.pattern), std::string_view("traffic.pattern")}) {
    if (const int line = s.line_of(key); line > 0) return line;
  }
  return s.traffic_line;
}

std::string print_silence(const TrafficSpec& t, HostNum hosts) {
  if (t.pattern == "incast") {
    return fmt::format(
        "traffic.pattern incast has {} targets, which are silent, among {} hosts: "
        "nobody sends; fewer targets",
        t.targets,
        hosts);
  }
  if (t.pattern == "local") {
    return fmt::format(
        "traffic.pattern local: no host has another one at most {} switch hops away, "
        "nobody sends; traffic.radius of more",
        t.radius);
  }
  return fmt::format(
      "traffic.pattern {}: each of the {} hosts is its own destination, nobody sends; "
      "another pattern",
      t.pattern,
      hosts);
}

}  // namespace

Faults check_pattern(const Scenario& s,
                     const TrafficInput& input,
                     std::vector<std::uint32_t> byte_times,
                     unsigned header_bytes) {
  const TrafficSpec& t = s.traffic;
  const PatternRow& row = *find_pattern(t.pattern);
  auto mix = build_pattern(row, input.pattern);
  if (!mix) {
    return {{s.file,
             line_of_pattern(s),
             fmt::format("traffic.pattern {} {}", t.pattern, mix.error().context)}};
  }
  const auto hosts = static_cast<HostNum>(byte_times.size());
  const SyntheticTraffic sources(
      pattern_options(t, input, hosts, header_bytes),
      Destinations(std::move(*mix), row.includes_self, input.pattern.ports.host),
      std::move(byte_times));
  const std::optional<double> gap = sources.least_mean_gap();
  if (!gap) {
    // Another seed may draw others.
    if (t.pattern == "permutation") return {};
    return {{s.file, line_of_pattern(s), print_silence(t, hosts)}};
  }
  const auto slot = static_cast<double>(t.arrivals.slot);
  if (t.arrivals.kind != ArrivalKind::Bernoulli || slot <= *gap + 1) return {};
  return {
      {s.file,
       std::max(s.line_of("traffic.slot_ns"), s.line_of("traffic.arrivals")),
       fmt::format("a message in every slot of {:g} ns is a load of {:.4f} at most, and {:g} is "
                   "asked for{}; traffic.slot_ns of at most {:g}, or lower loads",
                   slot / double(kNano),
                   input.load * *gap / slot,
                   input.load,
                   s.measure.saturation ? " (measure.saturation begins at 1)" : "",
                   *gap / double(kNano))}};
}

}  // namespace smd::sim
