#include "sim-backend/traffic/phases/phases.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "smd/base/text.h"

namespace smd::sim {
namespace {

/// What well-known programs send, step by step. Sizes are for some 64 ranks.
struct Program {
  std::string_view name;
  std::string_view meaning;
  std::vector<std::string> phases;
};

const std::array<Program, 2>& programs() {
  static const std::array<Program, 2> all{
      // A grid of 100^3 complex numbers on 64 ranks is 4 kB for each pair.
      Program{"plane-wave",
              "a step of a plane-wave code (as CPMD): transposes there and back, sums of overlaps",
              {"all-to-all:bytes=4096,times=2,pause-ns=100000",
               "all-reduce:bytes=8192,pause-ns=100000"}},
      // Faces of 24 kB are a thousand positions; sums are energies; positions go to one rank.
      Program{"domain-dynamics",
              "a step of molecular dynamics in domains (as DL_POLY) and its output",
              {"halo:bytes=24576,pause-ns=100000", "all-reduce:bytes=160", "gather:bytes=81920"}},
  };
  return all;
}

constexpr std::string_view kKeys = "bytes, root, times, pause-ns";

/// Empty when all is well.
std::string set_key(std::string_view key, std::string_view value, HostNum ranks, Phase& phase) {
  std::uint64_t number = 0, least = 0, most = 0;
  if (key == "bytes") {
    most = kMostPhaseBytes;
  } else if (key == "root") {
    if (!phase.pattern->has_root) return fmt::format("{} has no root", phase.pattern->name);
    most = ranks - 1;
  } else if (key == "times") {
    least = 1;
    most = kMostPhaseTimes;
  } else if (key == "pause-ns") {
    most = kMostPauseNs;
  } else {
    return fmt::format("no key \"{}\"; there are {}", key, kKeys);
  }
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < least ||
      number > most) {
    return fmt::format("{} is a number, {} to {}", key, least, most);
  }
  if (key == "bytes") phase.bytes = static_cast<std::uint32_t>(number);
  if (key == "root") phase.root = static_cast<HostNum>(number);
  if (key == "times") phase.times = static_cast<std::uint32_t>(number);
  if (key == "pause-ns") phase.pause_ns = number;
  return {};
}

std::string unknown_name(std::string_view name) {
  std::vector<std::string_view> known;
  for (const PhasePattern* pattern : phase_patterns()) known.push_back(pattern->name);
  for (const Program& program : programs()) known.push_back(program.name);
  return fmt::format("neither a pattern nor a program: did you mean \"{}\"?",
                     find_nearest(name, known));
}

/// Empty when all is well.
std::string parse_call(std::string_view call, HostNum ranks, Phase& out) {
  const std::size_t colon = std::min(call.find(':'), call.size());
  out.pattern = find_phase_pattern(call.substr(0, colon));
  if (out.pattern == nullptr) return unknown_name(call.substr(0, colon));
  if (colon == call.size()) return {};
  std::string_view rest = call.substr(colon + 1);
  while (true) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view pair = rest.substr(0, comma);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return "a phase is NAME:key=value,…";
    std::string why = set_key(pair.substr(0, equals), pair.substr(equals + 1), ranks, out);
    if (!why.empty() || comma == rest.size()) return why;
    rest = rest.substr(comma + 1);
  }
}

}  // namespace

Parsed<std::vector<Phase>> parse_phases(const std::vector<std::string>& calls, HostNum ranks) {
  std::vector<Phase> out;
  Faults faults;
  const auto take = [&](const std::string& call) {
    Phase phase;
    if (std::string why = parse_call(call, ranks, phase); !why.empty()) {
      faults.push_back({call, 0, std::move(why)});
    } else {
      out.push_back(phase);
    }
  };
  for (const std::string& call : calls) {
    const auto program = std::ranges::find(programs(), call, &Program::name);
    if (program == programs().end()) {
      take(call);
    } else {
      for (const std::string& phase : program->phases) take(phase);
    }
  }
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return out;
}

std::string list_phases() {
  std::string out = "Patterns, NAME:key=value,… :\n";
  for (const PhasePattern* pattern : phase_patterns()) {
    out += fmt::format("  {:<16} {}\n", pattern->name, pattern->meaning);
  }
  const Phase fallback;
  out += fmt::format(
      "\nKeys of all:\n  bytes={}    0 to {}\n  times={}       as often, one after the other\n"
      "  pause-ns={}    after each: ranks compute\n  root={}        of broadcast, gather, reduce\n",
      fallback.bytes,
      kMostPhaseBytes,
      fallback.times,
      fallback.pause_ns,
      fallback.root);
  out += "\nPrograms:\n";
  for (const Program& program : programs()) {
    out += fmt::format("  {:<16} {}\n", program.name, program.meaning);
    for (const std::string& phase : program.phases) out += fmt::format("{:19}{}\n", "", phase);
  }
  return out;
}

}  // namespace smd::sim
