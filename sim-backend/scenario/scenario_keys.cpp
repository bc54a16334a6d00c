#include "sim-backend/scenario/scenario_keys.h"

#include <array>
#include <cmath>

namespace smd::sim {
namespace {

std::optional<double> number_in(const ScenarioValue& value, double least, double most) {
  double number = 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    number = *real;
  } else {
    return std::nullopt;
  }
  if (!(number >= least && number <= most)) return std::nullopt;
  return number;
}

template <class T>
bool set_whole(const ScenarioValue& value, double least, double most, T& out) {
  const auto number = number_in(value, least, most);
  if (!number || *number != std::floor(*number)) return false;
  out = static_cast<T>(*number);
  return true;
}

bool set_real(const ScenarioValue& value, double least, double most, double& out) {
  const auto number = number_in(value, least, most);
  if (number) out = *number;
  return number.has_value();
}

bool set_time(const ScenarioValue& value, Picos unit, double most, Picos& out) {
  const auto number = number_in(value, 0, most);
  if (number) out = static_cast<Picos>(std::llround(*number * static_cast<double>(unit)));
  return number.has_value();
}

bool set_duration(const ScenarioValue& value, Duration unit, double most, Duration& out) {
  const auto number = number_in(value, 0, most);
  if (number) out = Duration{std::llround(*number * static_cast<double>(unit.count()))};
  return number.has_value();
}

bool set_flag(const ScenarioValue& value, bool& out) {
  const auto* flag = std::get_if<bool>(&value);
  if (flag != nullptr) out = *flag;
  return flag != nullptr;
}

const std::string* word(const ScenarioValue& value) { return std::get_if<std::string>(&value); }

bool set_word(const ScenarioValue& value, std::string& out) {
  const std::string* text = word(value);
  if (text == nullptr || text->empty()) return false;
  out = *text;
  return true;
}

bool set_preset(const ScenarioValue& value, Scenario& s) {
  if (word(value) == nullptr || !find_preset(*word(value), s.packet)) return false;
  s.preset = *word(value);
  return true;
}

bool set_vls(const ScenarioValue& value, Scenario& s) {
  unsigned vls = 0;
  if (!set_whole(value, 1, 15, vls) || vl_code(vls) == 0) return false;
  s.program.vls = s.packet.vls = vls;
  return true;
}

bool set_mtu(const ScenarioValue& value, Scenario& s) {
  unsigned bytes = 0;
  if (!set_whole(value, 256, 4096, bytes)) return false;
  for (const Mtu mtu : {Mtu::B256, Mtu::B512, Mtu::B1024, Mtu::B2048, Mtu::B4096}) {
    if (mtu_bytes(mtu) != bytes) continue;
    s.program.mtu = mtu;
    return true;
  }
  return false;
}

bool set_waiting(const ScenarioValue& value, Scenario& s) {
  if (word(value) == nullptr) return false;
  if (*word(value) == "shared") {
    s.packet.adapters.waiting = SourceQueues::Shared;
  } else if (*word(value) == "hashed") {
    s.packet.adapters.waiting = SourceQueues::Hashed;
  } else if (*word(value) == "per-destination") {
    s.packet.adapters.waiting = SourceQueues::PerDestination;
  } else if (*word(value) == "pool") {
    s.packet.adapters.waiting = SourceQueues::Pool;
  } else {
    return false;
  }
  return true;
}

bool set_pattern(const ScenarioValue& value, Scenario& s) {
  if (word(value) == nullptr || find_pattern(*word(value)) == nullptr) return false;
  s.traffic.pattern = *word(value);
  return true;
}

bool set_collective(const ScenarioValue& value, Scenario& s) {
  CollectiveKind kind{};
  if (word(value) == nullptr || !find_collective(*word(value), kind)) return false;
  s.traffic.collective = kind;
  return true;
}

bool set_loads(const ScenarioValue& value, Scenario& s) {
  double one = 0;
  if (set_real(value, 1e-6, 1, one)) {
    s.traffic.loads = {one};
    return true;
  }
  const auto* list = std::get_if<std::vector<double>>(&value);
  if (list == nullptr || list->empty()) return false;
  for (const double load : *list) {
    if (!(load >= 1e-6 && load <= 1)) return false;
  }
  s.traffic.loads = *list;
  return true;
}

bool set_sizes(const ScenarioValue& value, Scenario& s) {
  constexpr double kMost = 1 << 30;
  constexpr double kMostWeight = 1e9;
  std::uint32_t bytes = 0;
  if (set_whole(value, 0, kMost, bytes)) {
    s.traffic.sizes = {{bytes, 1}};
    return true;
  }
  const auto* list = std::get_if<std::vector<ScenarioSize>>(&value);
  if (list == nullptr || list->empty()) return false;
  s.traffic.sizes.clear();
  for (const ScenarioSize& size : *list) {
    const bool fits = size.bytes >= 0 && static_cast<double>(size.bytes) <= kMost &&
                      size.weight > 0 && size.weight <= kMostWeight;
    if (!fits) return false;
    s.traffic.sizes.push_back({static_cast<std::uint32_t>(size.bytes), size.weight});
  }
  return true;
}

bool set_sl(const ScenarioValue& value, Scenario& s) {
  if (word(value) != nullptr) {
    if (*word(value) == "path") {
      s.traffic.sl_choice = SlChoice::Path;
      return true;
    }
    if (*word(value) != "random") return false;
    s.traffic.sl_choice = SlChoice::Random;
    s.traffic.sl = 15;
    return true;
  }
  if (!set_whole(value, 0, 15, s.traffic.sl)) return false;
  s.traffic.sl_choice = SlChoice::Fixed;
  return true;
}

bool set_dims(const ScenarioValue& value, Scenario& s) {
  const auto* list = std::get_if<std::vector<double>>(&value);
  if (list == nullptr || list->empty()) return false;
  s.traffic.dims.clear();
  for (const double dim : *list) {
    if (!(dim >= 1 && dim <= 65536 && dim == std::floor(dim))) return false;
    s.traffic.dims.push_back(static_cast<std::uint32_t>(dim));
  }
  return true;
}

bool set_mode(const ScenarioValue& value, Scenario& s) {
  if (word(value) == nullptr) return false;
  const auto how = parse_reconfiguration_mode(*word(value));
  if (how) s.manager.how = *how;
  return how.has_value();
}

bool set_computing(const ScenarioValue& value, Scenario& s) {
  s.manager.computing = {};
  if (word(value) == nullptr) {
    return set_duration(value, std::chrono::microseconds(1), 1e9, s.manager.computing.fixed);
  }
  s.manager.computing.measured = *word(value) == "measured";
  return s.manager.computing.measured || *word(value) == "none";
}

bool set_mechanism(const ScenarioValue& value, Scenario& s) {
  return word(value) != nullptr && find_mechanism(*word(value), s.congestion);
}

bool set_marking(const ScenarioValue& value, Scenario& s) {
  return word(value) != nullptr && find_marking(*word(value), s.congestion.marking);
}

/// One of some words.
template <class Kind, std::size_t Count>
bool set_choice(const ScenarioValue& value,
                const std::pair<std::string_view, Kind> (&choices)[Count],
                Kind& out) {
  if (word(value) == nullptr) return false;
  for (const auto& [name, kind] : choices) {
    if (*word(value) != name) continue;
    out = kind;
    return true;
  }
  return false;
}

bool set_echo(const ScenarioValue& value, Scenario& s) {
  static constexpr std::pair<std::string_view, EchoKind> kEchoes[] = {
      {"none", EchoKind::None},
      {"acks", EchoKind::Acknowledgements},
      {"notifications", EchoKind::Notifications}};
  return set_choice(value, kEchoes, s.congestion.echo);
}

bool set_reaction(const ScenarioValue& value, Scenario& s) {
  static constexpr std::pair<std::string_view, ReactionKind> kReactions[] = {
      {"none", ReactionKind::None}, {"window", ReactionKind::Window}, {"iba", ReactionKind::Iba}};
  return set_choice(value, kReactions, s.congestion.reaction);
}

bool set_window(const ScenarioValue& value, Scenario& s) {
  static constexpr std::pair<std::string_view, WindowKind> kWindows[] = {
      {"none", WindowKind::None},
      {"static", WindowKind::Static},
      {"dynamic", WindowKind::Dynamic},
      {"fractional", WindowKind::Fractional}};
  return set_choice(value, kWindows, s.congestion.window.kind);
}

bool set_window_mean(const ScenarioValue& value, Scenario& s) {
  double mean = 0;
  if (!set_real(value, 1, 60, mean)) return false;
  s.congestion.window.mean_per_mille = static_cast<unsigned>(std::llround(mean * 1000));
  return true;
}

bool set_pace(const ScenarioValue& value, Scenario& s) {
  return word(value) != nullptr && find_pace(*word(value), s.congestion.pace);
}

bool set_recovery(const ScenarioValue& value, Scenario& s) {
  static constexpr std::pair<std::string_view, Recovery> kRecoveries[] = {
      {"immediate", Recovery::Immediate}, {"progressive", Recovery::Progressive}};
  return set_choice(value, kRecoveries, s.congestion.recovery);
}

bool set_scope(const ScenarioValue& value, Scenario& s) {
  static constexpr std::pair<std::string_view, Scope> kScopes[] = {{"pair", Scope::Pair},
                                                                   {"host", Scope::Host}};
  return set_choice(value, kScopes, s.congestion.scope);
}

bool set_cap(const ScenarioValue& value, Scenario& s) {
  static constexpr std::pair<std::string_view, cc::WaitCap> kCaps[] = {
      {"stages", cc::WaitCap::Stages},
      {"stages-1", cc::WaitCap::StagesMinusOne},
      {"none", cc::WaitCap::None}};
  return set_choice(value, kCaps, s.congestion.cap);
}

constexpr double kMostMicros = 1e7;
constexpr double kMostNanos = 1e9;

constexpr std::array kKeys{
    ScenarioKey{"fabric",
                "preset",
                R"("thesis", "modern", "cycles" or "multistage")",
                "switches, adapters and cables; the keys of their sections change it",
                set_preset},
    ScenarioKey{"fabric",
                "name",
                "a FABRIC: a generator's call or a file",
                "what is simulated",
                [](const ScenarioValue& v, Scenario& s) { return set_word(v, s.fabric); }},
    ScenarioKey{"fabric",
                "engine",
                "a routing engine",
                "whose tables the switches hold",
                [](const ScenarioValue& v, Scenario& s) { return set_word(v, s.program.engine); }},
    ScenarioKey{"fabric", "vls", "1, 2, 4, 8 or 15", "data VLs in use", set_vls},
    ScenarioKey{
        "fabric", "mtu", "256, 512, 1024, 2048 or 4096", "bytes of payload per packet", set_mtu},
    ScenarioKey{
        "fabric",
        "lifetimes",
        "true or false",
        "packets grow old, by HOQLife and SwitchLifeTime of 0x12",
        [](const ScenarioValue& v, Scenario& s) { return set_flag(v, s.packet.lifetimes); }},
    ScenarioKey{"switch",
                "output_buffers",
                "true or false",
                "packets cross into a buffer of the output; else onto the link",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_flag(v, s.packet.switches.output_buffers);
                }},
    ScenarioKey{"switch",
                "multiplexed",
                "true or false",
                "the VLs of an input share one way into the crossbar",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_flag(v, s.packet.switches.multiplexed);
                }},
    ScenarioKey{"switch",
                "speed_up_percent",
                "100 to 1600",
                "of the crossbar",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 100, 1600, s.packet.switches.speed_up_percent);
                }},
    ScenarioKey{"switch",
                "input_buffer",
                "64 to 131072",
                "bytes per port and VL",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 64, 131072, s.packet.switches.input_buffer_bytes);
                }},
    ScenarioKey{"switch",
                "output_buffer",
                "64 to 131072",
                "bytes per port and VL",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 64, 131072, s.packet.switches.output_buffer_bytes);
                }},
    ScenarioKey{"switch",
                "routing_ns",
                "0 to 1e9",
                "table look-up",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kNano, kMostNanos, s.packet.switches.routing);
                }},
    ScenarioKey{"adapter",
                "queues",
                R"("shared", "hashed", "per-destination" or "pool")",
                "how packets wait for the port",
                set_waiting},
    ScenarioKey{"adapter",
                "hashed_queues",
                "1 to 4096",
                "queues per VL, where they are hashed",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 1, 4096, s.packet.adapters.queues);
                }},
    ScenarioKey{"adapter",
                "pool",
                "64 to 1e9",
                "bytes of the pool per VL, headers included",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 64, 1e9, s.packet.adapters.pool_bytes);
                }},
    ScenarioKey{"adapter",
                "most_waiting",
                "0 to 1e6",
                "packets; more are not made; 0: no limit",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 1e6, s.packet.adapters.most_waiting);
                }},
    ScenarioKey{"adapter",
                "static_rate",
                "true or false",
                "keep the pace of slower destinations",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_flag(v, s.packet.adapters.static_rate);
                }},
    ScenarioKey{"cable",
                "propagation_ns",
                "0 to 1e6",
                "from end to end",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kNano, 1e6, s.packet.cables.propagation);
                }},
    ScenarioKey{"cable",
                "group",
                "1 to 65536",
                "switches of a group, in the fabric's order",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 1, 65536, s.packet.cables.group_switches);
                }},
    ScenarioKey{"cable",
                "within_groups_ns",
                "0 to 1e6",
                "of cables between switches of a group",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kNano, 1e6, s.packet.cables.within_groups);
                }},
    ScenarioKey{"cable",
                "between_groups_ns",
                "0 to 1e6",
                "of cables between switches of different groups",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kNano, 1e6, s.packet.cables.between_groups);
                }},
    ScenarioKey{"cable",
                "header_bytes",
                "0 to 126",
                "headers and CRCs of a packet",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 126, s.packet.cables.header_bytes);
                }},
    ScenarioKey{"cable",
                "flow_control_packets",
                "true or false",
                "credits take time on the link",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_flag(v, s.packet.cables.flow_control_packets);
                }},
    ScenarioKey{"traffic",
                "pattern",
                "a pattern; smsim run --list has them all",
                "who sends to whom",
                set_pattern},
    ScenarioKey{"traffic",
                "load",
                "above 0 to 1, or a list of such",
                "share of the hosts' links, headers included",
                set_loads},
    ScenarioKey{"traffic",
                "arrivals",
                R"("poisson", "constant", "bernoulli", "on-off" or "self-similar")",
                "gaps between messages",
                [](const ScenarioValue& v, Scenario& s) {
                  return word(v) != nullptr && find_arrivals(*word(v), s.traffic.arrivals.kind);
                }},
    ScenarioKey{"traffic",
                "burst",
                "1 to 1e6",
                "messages of a burst, on average",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_real(v, 1, 1e6, s.traffic.arrivals.burst);
                }},
    ScenarioKey{"traffic",
                "shape",
                "1.05 to 2",
                "of the Pareto law of self-similar arrivals",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_real(v, 1.05, 2, s.traffic.arrivals.shape);
                }},
    ScenarioKey{"traffic",
                "slot_ns",
                "0.001 to 1e6",
                "of bernoulli arrivals",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kNano, 1e6, s.traffic.arrivals.slot) &&
                         s.traffic.arrivals.slot > 0;
                }},
    ScenarioKey{"traffic",
                "size",
                "bytes, or a list of {bytes = …, weight = above 0, up to 1e9}",
                "of a message; above the MTU it is several packets",
                set_sizes},
    ScenarioKey{"traffic",
                "sl",
                R"(0 to 15, "path" or "random")",
                "service level; path: as the engine says",
                set_sl},
    ScenarioKey{
        "traffic",
        "share",
        "0 to 1",
        "of hot-spot and combined: what goes to hot spots",
        [](const ScenarioValue& v, Scenario& s) { return set_real(v, 0, 1, s.traffic.share); }},
    ScenarioKey{"traffic",
                "targets",
                "1 to 49151",
                "hot spots; targets of an incast",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 1, 49151, s.traffic.targets);
                }},
    ScenarioKey{
        "traffic",
        "radius",
        "0 to 100",
        "switch hops that are near, of local and combined",
        [](const ScenarioValue& v, Scenario& s) { return set_whole(v, 0, 100, s.traffic.radius); }},
    ScenarioKey{"traffic",
                "dims",
                "a list of whole numbers",
                "the grid of the switches with hosts, of mdn and tornado",
                set_dims},
    ScenarioKey{"traffic",
                "group",
                "1 to 65536",
                "switches of a group, of adv+1",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 1, 65536, s.traffic.switches_per_group);
                }},
    ScenarioKey{"traffic",
                "collective",
                R"("all-to-all-exchange", "ring-all-reduce" or "tree-all-reduce")",
                "an exchange instead of a pattern",
                set_collective},
    ScenarioKey{
        "traffic",
        "bytes",
        "1 to 1e9",
        "of a collective: each message, or each host's data",
        [](const ScenarioValue& v, Scenario& s) { return set_whole(v, 1, 1e9, s.traffic.bytes); }},
    ScenarioKey{"traffic",
                "trace",
                "a file (docs/formats/trace.md)",
                "messages instead of a pattern",
                [](const ScenarioValue& v, Scenario& s) { return set_word(v, s.traffic.trace); }},
    ScenarioKey{"measure",
                "warm_up_us",
                "0 to 1e7",
                "before anything counts",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kMicro, kMostMicros, s.measure.plan.warm_up);
                }},
    ScenarioKey{"measure",
                "interval_us",
                "0.001 to 1e7",
                "one batch, and one row of the series",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kMicro, kMostMicros, s.measure.plan.interval) &&
                         s.measure.plan.interval > 0;
                }},
    ScenarioKey{"measure",
                "least_intervals",
                "2 to 1e6",
                "before a run may end",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 2, 1e6, s.measure.plan.least_intervals);
                }},
    ScenarioKey{"measure",
                "most_intervals",
                "2 to 1e6",
                "after which it ends",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 2, 1e6, s.measure.plan.most_intervals);
                }},
    ScenarioKey{"measure",
                "precision",
                "0 to 1",
                "half of the 95 % interval of the mean latency, of the mean: then a run ends",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_real(v, 0, 1, s.measure.plan.precision);
                }},
    ScenarioKey{
        "measure",
        "saturation",
        "true or false",
        "look for the highest stable load",
        [](const ScenarioValue& v, Scenario& s) { return set_flag(v, s.measure.saturation); }},
    ScenarioKey{"measure",
                "tolerance",
                "0.001 to 0.5",
                "of that load",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_real(v, 0.001, 0.5, s.measure.tolerance);
                }},
    ScenarioKey{"measure",
                "limit_us",
                "0.001 to 1e7",
                "of a collective, a trace, a network that changes",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kMicro, kMostMicros, s.measure.limit) && s.measure.limit > 0;
                }},
    ScenarioKey{"manager",
                "mode",
                "certified, basic, improved, or words of an assimilation",
                "how a change is taken in",
                set_mode},
    ScenarioKey{"manager",
                "computing",
                R"("none", "measured", or microseconds for each computation)",
                "time that routes and plans take",
                set_computing},
    ScenarioKey{"manager",
                "drain_us",
                "0 to 1e7",
                "between phases of a plan that counts on buffers to empty",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_duration(
                      v, std::chrono::microseconds(1), kMostMicros, s.manager.drain);
                }},
    ScenarioKey{"manager",
                "debounce_us",
                "0 to 1e7",
                "from the first trap to the cycle that looks",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_duration(
                      v, std::chrono::microseconds(1), kMostMicros, s.manager.debounce);
                }},
    ScenarioKey{"manager",
                "sweep_us",
                "0 to 1e9",
                "between sweeps; 0: only traps",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_duration(
                      v, std::chrono::microseconds(1), 1e9, s.manager.sweep_interval);
                }},
    ScenarioKey{
        "congestion",
        "preset",
        R"("none", "standard", "renato-window", "renato", "renato-fimd", "pfister", "iocm" or "mvcm")",
        "congestion control; the other keys change it",
        set_mechanism},
    ScenarioKey{"congestion",
                "marking",
                R"("none", "ipm", "rpm", "opm", "iopm", "mvpm" or "iba")",
                "at switches",
                set_marking},
    ScenarioKey{"congestion",
                "echo",
                R"("none", "acks" or "notifications")",
                "of destinations: for each packet, or for each marked one",
                set_echo},
    ScenarioKey{"congestion",
                "reaction",
                R"("none", "window" or "iba")",
                "of sources: windows and paces, or the congestion control table",
                set_reaction},
    ScenarioKey{"congestion",
                "input_percent",
                "0 to 100",
                "of an input buffer: above it ipm, iopm and mvpm mark",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 100, s.congestion.thresholds.input);
                }},
    ScenarioKey{"congestion",
                "output_percent",
                "0 to 100",
                "of an output buffer, likewise; opm too",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 100, s.congestion.thresholds.output);
                }},
    ScenarioKey{"congestion",
                "window",
                R"("none", "static", "dynamic" or "fractional")",
                "packets of a flow on the way",
                set_window},
    ScenarioKey{"congestion",
                "window_packets",
                "0 to 255",
                "the most; 0: what the longest empty path holds",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 255, s.congestion.window.most);
                }},
    ScenarioKey{"congestion",
                "window_mean",
                "1 to 60",
                "of a fractional window: its average",
                set_window_mean},
    ScenarioKey{"congestion", "scope", R"("pair" or "host")", "what a window is of", set_scope},
    ScenarioKey{"congestion",
                "pace",
                R"("none", "slots", "fimd", "aimd", "lipd" or "pfister")",
                "gaps between the packets of a flow",
                set_pace},
    ScenarioKey{"congestion",
                "recovery",
                R"("immediate" or "progressive")",
                "of windows and paces: also by an empty queue, or by acks alone",
                set_recovery},
    ScenarioKey{"congestion",
                "radix",
                "0 to 254",
                "by which slots grow; 0: most hosts of a switch",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 254, s.congestion.radix);
                }},
    ScenarioKey{"congestion",
                "stages",
                "0 to 62",
                "how often they grow; 0: by the longest route",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 62, s.congestion.stages);
                }},
    ScenarioKey{"congestion",
                "cap",
                R"("stages", "stages-1" or "none")",
                "of slots: radix to this power",
                set_cap},
    ScenarioKey{"congestion",
                "round_trip_ns",
                "0 to 1e9",
                "one slot; 0: of the longest empty path",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_time(v, kNano, kMostNanos, s.congestion.round_trip);
                }},
    ScenarioKey{"congestion",
                "hot_sources",
                "0 to 49151",
                "that pfister reckons with; 0: a fifth of the hosts",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 49151, s.congestion.hot_sources);
                }},
    ScenarioKey{"congestion",
                "threshold",
                "0 to 15",
                "of iba: 0 never marks, 15 most eagerly",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 15, s.congestion.iba.threshold);
                }},
    ScenarioKey{"congestion",
                "marking_rate",
                "0 to 65535",
                "of iba: packets between two marks",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 65535, s.congestion.iba.marking_rate);
                }},
    ScenarioKey{"congestion",
                "packet_size",
                "0 to 255",
                "of iba: blocks of 64 bytes; shorter packets are not marked",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 255, s.congestion.iba.packet_size);
                }},
    ScenarioKey{
        "congestion",
        "victims",
        "true or false",
        "of iba: ports before hosts mark as victims too",
        [](const ScenarioValue& v, Scenario& s) { return set_flag(v, s.congestion.iba.victims); }},
    ScenarioKey{"congestion",
                "ccti_increase",
                "0 to 255",
                "of iba: for each BECN",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 255, s.congestion.iba.increase);
                }},
    ScenarioKey{"congestion",
                "ccti_limit",
                "0 to 16383",
                "of iba: the highest index; index i delays by i packet times",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 16383, s.congestion.iba.limit);
                }},
    ScenarioKey{"congestion",
                "ccti_timer",
                "0 to 65535",
                "of iba: units of 1.024 us; 0: never falls",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 65535, s.congestion.iba.timer);
                }},
    ScenarioKey{"congestion",
                "ccti_min",
                "0 to 255",
                "of iba: the index never falls below",
                [](const ScenarioValue& v, Scenario& s) {
                  return set_whole(v, 0, 255, s.congestion.iba.least);
                }},
    ScenarioKey{
        "congestion",
        "per_sl",
        "true or false",
        "of iba: an index for each SL of a port; else for each flow",
        [](const ScenarioValue& v, Scenario& s) { return set_flag(v, s.congestion.iba.per_sl); }},
};

}  // namespace

std::span<const ScenarioKey> scenario_keys() { return kKeys; }

}  // namespace smd::sim
