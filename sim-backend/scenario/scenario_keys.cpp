#include "sim-backend/scenario/scenario_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "sim-backend/multicast/algorithm.h"

namespace smd::sim {
namespace {

using namespace option_kinds;

using Keys = std::vector<ScenarioKey>;

constexpr std::int64_t kMicroInNanos = 1000;  // of a Duration
constexpr double kLeastLoad = 1e-6;
constexpr double kMostBytes = 1 << 30;

/// Nothing for what is no number in this range.
std::optional<double> number_in(const OptionValue& value, double least, double most) {
  const auto* whole = as<std::int64_t>(value);
  const auto* real = as<double>(value);
  if (whole == nullptr && real == nullptr) return std::nullopt;
  const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
  return number >= least && number <= most ? std::optional(number) : std::nullopt;
}

std::optional<double> whole_in(const OptionValue& value, double least, double most) {
  const auto number = number_in(value, least, most);
  return number && *number == std::floor(*number) ? number : std::nullopt;
}

/// "0 to 1e7": powers of ten from a million on as such.
std::string range_text(double least, double most) {
  std::string text = fmt::format("{:g} to {:g}", least, most);
  for (std::size_t at; (at = text.find("e+0")) != std::string::npos;) text.erase(at + 1, 2);
  return text;
}

OptionKind<double> real(double least, double most) {
  return {.range = range_text(least, most),
          .parse = [=](const OptionValue& value) { return number_in(value, least, most); }};
}

OptionKind<double> whole(double least, double most) {
  return {.range = range_text(least, most),
          .parse = [=](const OptionValue& value) { return whole_in(value, least, most); }};
}

/// In units of so many of the field's: times.
OptionKind<std::int64_t> scaled(std::int64_t unit, double least, double most) {
  return {.range = range_text(least, most),
          .parse = [=](const OptionValue& value) -> std::optional<std::int64_t> {
            const auto number = number_in(value, least, most);
            if (!number) return std::nullopt;
            return std::llround(*number * static_cast<double>(unit));
          }};
}

template <class T>
OptionKind<T> choice(std::vector<Named<T>> choices) {
  return choice_of(std::move(choices), "\"");
}

/// A text by which `find` knows a value.
template <class T>
OptionKind<T> found_by(std::string range, bool (*find)(std::string_view, T&)) {
  return {.range = std::move(range), .parse = [find](const OptionValue& value) -> std::optional<T> {
            const auto* text = as<std::string>(value);
            T found{};
            if (text == nullptr || !find(*text, found)) return std::nullopt;
            return found;
          }};
}

/// A text that `known` accepts.
OptionKind<std::string> checked_text(std::string range, bool (*known)(const std::string&)) {
  return {.range = std::move(range),
          .parse = [known](const OptionValue& value) -> std::optional<std::string> {
            const auto* text = as<std::string>(value);
            return text != nullptr && known(*text) ? std::optional(*text) : std::nullopt;
          }};
}

OptionKind<std::string> some_text(std::string range) {
  return checked_text(std::move(range), [](const std::string& text) { return !text.empty(); });
}

OptionKind<std::string> pattern() {
  return checked_text("a pattern; smsim run --list has them all",
                      [](const std::string& name) { return find_pattern(name) != nullptr; });
}

OptionKind<Mtu> mtu() {
  return {.range = "256, 512, 1024, 2048 or 4096",
          .parse = [](const OptionValue& value) -> std::optional<Mtu> {
            const auto bytes = number_in(value, 256, 4096);
            for (const Mtu mtu : {Mtu::B256, Mtu::B512, Mtu::B1024, Mtu::B2048, Mtu::B4096}) {
              if (bytes && mtu_bytes(mtu) == *bytes) return mtu;
            }
            return std::nullopt;
          }};
}

OptionKind<std::vector<double>> loads() {
  return {.range = "above 0 to 1, or a list of such",
          .parse = [](const OptionValue& value) -> std::optional<std::vector<double>> {
            if (const auto one = number_in(value, kLeastLoad, 1)) return std::vector{*one};
            const auto* list = as<OptionList>(value);
            if (list == nullptr || list->empty()) return std::nullopt;
            return parse_each<double>(
                *list, [](const OptionValue& load) { return number_in(load, kLeastLoad, 1); });
          }};
}

/// A table of bytes and weight.
std::optional<SizeShare> parse_size(const OptionValue& value) {
  constexpr double kMostWeight = 1e9;
  const auto* table = as<OptionTable>(value);
  if (table == nullptr) return std::nullopt;
  SizeShare size;
  for (const OptionPair& entry : *table) {
    if (const auto bytes = number_in(entry.value, 0, kMostBytes);
        entry.key == "bytes" && bytes && as<std::int64_t>(entry.value) != nullptr) {
      size.bytes = static_cast<std::uint32_t>(*bytes);
    } else if (const auto weight = number_in(entry.value, 0, kMostWeight);
               entry.key == "weight" && weight && *weight > 0) {
      size.weight = *weight;
    } else {
      return std::nullopt;
    }
  }
  return size;
}

OptionKind<std::vector<SizeShare>> sizes() {
  using Sizes = std::vector<SizeShare>;
  return {.range = "bytes, or a list of {bytes = …, weight = above 0, up to 1e9}",
          .parse = [](const OptionValue& value) -> std::optional<Sizes> {
            if (const auto bytes = whole_in(value, 0, kMostBytes))
              return Sizes{{static_cast<std::uint32_t>(*bytes), 1}};
            const auto* list = as<OptionList>(value);
            if (list == nullptr || list->empty()) return std::nullopt;
            return parse_each<SizeShare>(*list, parse_size);
          }};
}

OptionKind<std::vector<std::uint32_t>> dims() {
  return {.range = "a list of whole numbers",
          .parse = [](const OptionValue& value) -> std::optional<std::vector<std::uint32_t>> {
            const auto* list = as<OptionList>(value);
            if (list == nullptr || list->empty()) return std::nullopt;
            std::vector<std::uint32_t> dims;
            for (const OptionValue& each : *list) {
              const auto dim = whole_in(each, 1, 65536);
              if (!dim) return std::nullopt;
              dims.push_back(static_cast<std::uint32_t>(*dim));
            }
            return dims;
          }};
}

OptionKind<std::string> algorithm() {
  std::string known;
  for (const MulticastAlgorithm& row : multicast_algorithms())
    known += (known.empty() ? "" : ", ") + row.name;
  return checked_text("one of " + known, [](const std::string& name) {
    return find_multicast_algorithm(name) != nullptr;
  });
}

OptionKind<std::string> system() {
  return checked_text("one of " + list_systems(),
                      [](const std::string& name) { return find_system(name) != nullptr; });
}

template <std::size_t N>
OptionKind<std::array<std::uint32_t, N>> numbers() {
  return {.range = fmt::format("a list of {} whole numbers", N),
          .parse = [](const OptionValue& value) -> std::optional<std::array<std::uint32_t, N>> {
            const auto* list = as<OptionList>(value);
            if (list == nullptr || list->size() != N) return std::nullopt;
            std::array<std::uint32_t, N> out{};
            for (std::size_t i = 0; i < N; ++i) {
              const auto number = whole_in((*list)[i], 0, 1e9);
              if (!number) return std::nullopt;
              out[i] = static_cast<std::uint32_t>(*number);
            }
            return out;
          }};
}

OptionKind<ReconfigurationMode> mode() {
  return {.range = "certified, basic, improved, or words of an assimilation",
          .parse = [](const OptionValue& value) {
            const auto* text = as<std::string>(value);
            return text == nullptr ? std::nullopt : parse_reconfiguration_mode(*text);
          }};
}

OptionKind<ComputingTime> computing() {
  return {.range = R"("none", "measured", or microseconds for each computation)",
          .parse = [](const OptionValue& value) -> std::optional<ComputingTime> {
            if (const auto fixed = scaled(kMicroInNanos, 0, 1e9).parse(value))
              return ComputingTime{.fixed = Duration{*fixed}};
            const auto* text = as<std::string>(value);
            if (text == nullptr || (*text != "none" && *text != "measured")) return std::nullopt;
            return ComputingTime{.measured = *text == "measured"};
          }};
}

// Keys that set more than one field.

bool set_preset(const OptionValue& value, Scenario& s) {
  const auto* name = as<std::string>(value);
  if (name == nullptr) return false;
  if (*name == "myrinet" || *name == "unit") {
    s.worm.options = *name == "unit" ? WormOptions::unit() : WormOptions::myrinet();
  } else if (!find_preset(*name, s.packet)) {
    return false;
  }
  s.preset = *name;
  return true;
}

bool set_vls(const OptionValue& value, Scenario& s) {
  const auto number = whole_in(value, 1, 15);
  const unsigned vls = static_cast<unsigned>(number.value_or(0));
  if (!number || vl_code(vls) == 0) return false;
  s.program.vls = s.packet.vls = vls;
  return true;
}

bool set_load_unit(const OptionValue& value, Scenario& s) {
  const auto* text = as<std::string>(value);
  if (text == nullptr || (*text != "share" && *text != "flits/ns/switch")) return false;
  s.worm.per_switch = *text != "share";
  return true;
}

bool set_sl(const OptionValue& value, Scenario& s) {
  const auto* text = as<std::string>(value);
  const auto sl = whole_in(value, 0, 15);
  if (text != nullptr && *text == "path") {
    s.traffic.sl_choice = SlChoice::Path;
  } else if (text != nullptr && *text == "random") {
    s.traffic.sl_choice = SlChoice::Random;
    s.traffic.sl = 15;
  } else if (sl) {
    s.traffic.sl_choice = SlChoice::Fixed;
    s.traffic.sl = static_cast<std::uint8_t>(*sl);
  } else {
    return false;
  }
  return true;
}

ScenarioKey row(std::string_view section,
                std::string_view key,
                std::string range,
                bool (*set)(const OptionValue&, Scenario&)) {
  return {.section = section, .key = std::string(key), .range = std::move(range), .apply = set};
}

Keys fabric_keys() {
  const auto fabric = option_section<Scenario>("fabric", std::identity{});
  const auto program = option_section<Scenario>("fabric", &Scenario::program);
  const auto packet = option_section<Scenario>("fabric", &Scenario::packet);
  return {
      row("fabric",
          "preset",
          R"("thesis", "modern", "cycles", "booksim" or "multistage"; of worms "myrinet" or "unit")",
          set_preset)
          .means("switches, adapters and cables; the keys of their sections change it"),
      fabric("model",
             &Scenario::model,
             choice<NetModel>({{"packets", NetModel::Packets},
                               {"worms", NetModel::Worms},
                               {"worm", NetModel::Worms}}))
          .means("InfiniBand's packets, or worms with source routes; some keys are of one alone"),
      fabric("name", &Scenario::fabric, some_text("a FABRIC: a generator's call or a file"))
          .means("what is simulated"),
      program("engine", &ProgramOptions::engine, some_text("a routing engine"))
          .means("whose tables the switches hold"),
      program("lmc", &ProgramOptions::lmc, whole(0, 7)).means("a host has 2^lmc LIDs"),
      program("non_minimal",
              &ProgramOptions::non_minimal,
              choice<NonMinimal>({{"off", NonMinimal::Off},
                                  {"valiant", NonMinimal::Valiant},
                                  {"almost-minimal", NonMinimal::AlmostMinimal}}))
          .means("what LIDs beyond the first lead to, as sm.non_minimal"),
      program("path_sets",
              &ProgramOptions::path_sets,
              choice<bool>({{"off", false}, {"updn-shortest", true}}))
          .means("the first LIDs by updn and the others by the engine, as sm.path_sets"),
      program("orientation",
              &ProgramOptions::search,
              choice<OrientationSearch>({{"breadth-first", OrientationSearch::BreadthFirst},
                                         {"depth-first", OrientationSearch::DepthFirst}}))
          .means("of updn, as sm.orientation"),
      row("fabric", "vls", "1, 2, 4, 8 or 15", set_vls).means("data VLs in use"),
      program("mtu", &ProgramOptions::mtu, mtu()).means("bytes of payload per packet"),
      option_section<Scenario>("fabric", std::identity{})(
          "multicast_trees",
          &Scenario::multicast_trees,
          choice<TreeShape>({{"up-down", TreeShape::UpDown},
                             {"by-sender", TreeShape::BySender},
                             {"path-shared", TreeShape::PathShared},
                             {"dual-path", TreeShape::DualPath},
                             {"multi-path", TreeShape::MultiPath}}))
          .means("of every [[group]], as sm.multicast_trees"),
      packet("lifetimes", &PacketOptions::lifetimes, flag())
          .means("packets grow old, by HOQLife and SwitchLifeTime of 0x12"),
  };
}

Keys switch_keys() {
  const auto switches =
      option_section<Scenario>("switch", [](auto& s) -> auto& { return s.packet.switches; });
  return {
      switches("output_buffers", &SwitchModel::output_buffers, flag())
          .means("packets cross into a buffer of the output; else onto the link"),
      switches("multiplexed", &SwitchModel::multiplexed, flag())
          .means("the VLs of an input share one way into the crossbar"),
      switches("oldest_first", &SwitchModel::oldest_first, flag())
          .means("who is in the network for longest crosses first; else who asked first"),
      switches(
          "copies",
          &SwitchModel::copies,
          choice<CopyOrder>({{"in-turn", CopyOrder::InTurn}, {"together", CopyOrder::Together}}))
          .means("of multicast packets: port after port, or all when every port has room"),
      switches("speed_up_percent", &SwitchModel::speed_up_percent, whole(100, 1600))
          .means("of the crossbar"),
      switches("input_buffer", &SwitchModel::input_buffer_bytes, whole(64, 131072))
          .means("bytes per port and VL"),
      switches("output_buffer", &SwitchModel::output_buffer_bytes, whole(64, 131072))
          .means("bytes per port and VL"),
      switches("routing_ns", &SwitchModel::routing, scaled(kNano, 0, 1e9)).means("table look-up"),
  };
}

Keys adapter_keys() {
  const auto adapters =
      option_section<Scenario>("adapter", [](auto& s) -> auto& { return s.packet.adapters; });
  return {
      adapters("queues",
               &AdapterModel::waiting,
               choice<SourceQueues>({{"shared", SourceQueues::Shared},
                                     {"hashed", SourceQueues::Hashed},
                                     {"per-destination", SourceQueues::PerDestination},
                                     {"pool", SourceQueues::Pool}}))
          .means("how packets wait for the port"),
      adapters("hashed_queues", &AdapterModel::queues, whole(1, 4096))
          .means("queues per VL, where they are hashed"),
      adapters("pool", &AdapterModel::pool_bytes, whole(64, 1e9))
          .means("bytes of the pool per VL, headers included"),
      adapters("most_waiting", &AdapterModel::most_waiting, whole(0, 1e6))
          .means("packets; more are not made; 0: no limit"),
      adapters("static_rate", &AdapterModel::static_rate, flag())
          .means("keep the pace of slower destinations"),
  };
}

Keys cable_keys() {
  const auto cables =
      option_section<Scenario>("cable", [](auto& s) -> auto& { return s.packet.links; });
  return {
      cables("propagation_ns", &LinkModel::propagation, scaled(kNano, 0, 1e6))
          .means("from end to end"),
      cables("group", &LinkModel::group_switches, whole(1, 65536))
          .means("switches of a group, in the fabric's order"),
      cables("within_groups_ns", &LinkModel::within_groups, scaled(kNano, 0, 1e6))
          .means("of cables between switches of a group"),
      cables("between_groups_ns", &LinkModel::between_groups, scaled(kNano, 0, 1e6))
          .means("of cables between switches of different groups"),
      cables("header_bytes", &LinkModel::header_bytes, whole(0, 126))
          .means("headers and CRCs of a packet"),
      cables("flow_control_packets", &LinkModel::flow_control_packets, flag())
          .means("credits take time on the link"),
  };
}

Keys routes_keys() {
  const auto rule =
      option_section<Scenario>("routes", [](auto& s) -> auto& { return s.routes.rule; });
  const auto shape =
      option_section<Scenario>("routes", [](auto& s) -> auto& { return s.routes.shape; });
  return {
      rule("rule",
           &RuleSpec::rule,
           found_by(R"("tables", "min", "min-adaptive", "valiant", "ugal-l", "ugal-g", "par", )"
                    R"("piggyback" or "dal")",
                    find_rule))
          .means("who says where packets leave a switch: its tables, or a rule"),
      rule("threshold", &RuleSpec::threshold, whole(-100000, 100000))
          .means("T of rules that weigh minimal ways against others: blocks of 64 bytes"),
      rule("valiant",
           &RuleSpec::via,
           choice<IntermediateKind>(
               {{"router", IntermediateKind::ByRouter}, {"group", IntermediateKind::ByGroup}}))
          .means("the intermediate of Valiant's paths on a dragonfly"),
      rule("among",
           &RuleSpec::among,
           choice<IntermediateSet>({{"all", IntermediateSet::All},
                                    {"not-own", IntermediateSet::NotOwn},
                                    {"others", IntermediateSet::Others}}))
          .means("whom it is drawn from; others: without the source's and the destination's"),
      rule(
          "trunk",
          &RuleSpec::trunk,
          choice<Spread>(
              {{"jsq", Spread::ShortestQueue}, {"random", Spread::Random}, {"hash", Spread::Hash}}))
          .means("which of several cables to one router"),
      rule("gateway",
           &RuleSpec::gateway,
           choice<Spread>({{"own-first", Spread::OwnFirst},
                           {"jsq", Spread::ShortestQueue},
                           {"random", Spread::Random},
                           {"hash", Spread::Hash}}))
          .means("which of several routers with a cable to the other group"),
      shape("dims", &ShapeKeys::dims, dims())
          .means("sides of a butterfly, switches in the fabric's order; else recognised"),
      shape("group", &ShapeKeys::group, whole(1, 65536))
          .means("switches of a dragonfly's group, in the fabric's order; else recognised"),
  };
}

Keys worm_routes_keys() {
  const auto worm = option_section<Scenario>("routes", &Scenario::worm);
  const auto routes =
      option_section<Scenario>("routes", [](auto& s) -> auto& { return s.worm.routes; });
  const auto chosen =
      option_section<Scenario>("routes", [](auto& s) -> auto& { return s.worm.choice; });
  return {
      worm("system", &WormSpec::system, system()).means("of worms: how their routes are made"),
      worm("second", &WormSpec::second, system())
          .means("of worms: a set of routes beside the first"),
      worm("algorithm", &WormSpec::algorithm, algorithm())
          .means("of worms to several hosts: which lists they are sent as, and their ways"),
      routes("per_pair", &SystemOptions::per_pair, whole(1, 1000))
          .means("of worms: candidates of a pair of switches, at most"),
      routes("root", &SystemOptions::root, whole(0, 65535))
          .means("of worms: the switch that breadth-first orders begin with"),
      routes("seed", &SystemOptions::seed, whole(0, 1e9))
          .means("of worms: of what is drawn for routes"),
      routes("itb_host",
             &SystemOptions::host,
             choice<ItbHostRule>({{"random", ItbHostRule::Random},
                                  {"by-input", ItbHostRule::ByInput},
                                  {"by-output", ItbHostRule::ByOutput},
                                  {"round-robin", ItbHostRule::RoundRobin}}))
          .means("of worms: which host of a switch takes a message in"),
      chosen("choose",
             &RouteChoiceSpec::kind,
             found_by(R"("one", "random", "rotate", "contention", "size" or "share")",
                      find_choice_kind))
          .means("of worms: which of several routes a message takes"),
      chosen("small", &RouteChoiceSpec::small, whole(0, 65535))
          .means("of worms: bytes up to which size takes the first set"),
      chosen("share", &RouteChoiceSpec::share, real(0, 1))
          .means("of worms: of messages that share sends by the first set"),
      chosen("margin", &RouteChoiceSpec::margin, real(0, 1000))
          .means("of worms: how much worse the first set may be, of contention"),
  };
}

Keys worm_keys() {
  const auto net =
      option_section<Scenario>("worm", [](auto& s) -> auto& { return s.worm.options; });
  const auto nic = option_section<Scenario>("nic", [](auto& s) -> auto& { return s.worm.options; });
  const auto header = option_section<Scenario>("nic", &Scenario::worm);
  return {
      net("cycle_ps", &WormOptions::cycle, whole(1, kLongestWormCycle))
          .means("of a flit, which is a byte, on a link"),
      net("cable", &WormOptions::cable, whole(1, 10000)).means("cycles that a cable hides"),
      net("routing", &WormOptions::routing, whole(1, 10000))
          .means("cycles from a head to its request"),
      net("transfer", &WormOptions::transfer, whole(0, 1)).means("cycles from buffer to cable"),
      net("buffer", &WormOptions::buffer, whole(1, 1e6)).means("flits at each input"),
      net("stop", &WormOptions::stop, whole(1, 1e6)).means("STOP is sent above it"),
      net("go", &WormOptions::go, whole(1, 1e6)).means("GO is sent below it"),
      net("flow",
          &WormOptions::flow,
          choice<WormFlow>({{"stop-and-go", WormFlow::StopAndGo}, {"credits", WormFlow::Credits}}))
          .means("what tells a sender that there is room"),
      net("copies",
          &WormOptions::copies,
          choice<WormCopies>(
              {{"lock-step", WormCopies::LockStep}, {"asynchronous", WormCopies::Asynchronous}}))
          .means("how flits leave where a worm forks: by all branches at once, or by each"),
      net("allocation",
          &WormOptions::allocation,
          choice<WormAllocation>(
              {{"non-atomic", WormAllocation::NonAtomic}, {"atomic", WormAllocation::Atomic}}))
          .means("when a lane is free: once the worm before has left for it, or once its buffer is "
                 "empty"),
      nic("detection", &WormOptions::detection, whole(1, 1e6))
          .means("cycles until a host knows that a message is to be passed on"),
      nic("dma", &WormOptions::dma, whole(1, 1e6)).means("cycles until it begins to leave"),
      nic("memory", &WormOptions::memory, whole(1, 1e9)).means("bytes for messages in transit"),
      nic("local_after", &WormOptions::local_after, numbers<3>())
          .means("messages in transit before a local one, with few, more and many of these"),
      nic("local_marks", &WormOptions::local_marks, numbers<2>())
          .means("which are more, which many"),
      header("channels", &WormSpec::channels, whole(1, 16))
          .means("from each host and to it, a message at a time each"),
      header("header", &WormSpec::header, flag())
          .means("route bytes and marks are on the cable; of an algorithm a flit for each "
                 "destination"),
  };
}

Keys traffic_keys() {
  const auto traffic = option_section<Scenario>("traffic", &Scenario::traffic);
  const auto arrivals =
      option_section<Scenario>("traffic", [](auto& s) -> auto& { return s.traffic.arrivals; });
  return {
      traffic("pattern", &TrafficSpec::pattern, pattern()).means("who sends to whom"),
      traffic("among", &TrafficSpec::among_rails, choice<bool>({{"all", false}, {"rail", true}}))
          .means(
              "of hosts with several adapters: all of them; or rail by rail, the adapters of one "
              "number among each other"),
      traffic("load", &TrafficSpec::loads, loads())
          .means("share of the hosts' links, headers included"),
      row("traffic", "load_unit", R"("share" or "flits/ns/switch")", set_load_unit)
          .means("of worms: what loads are"),
      arrivals(
          "arrivals",
          &ArrivalModel::kind,
          found_by(
              R"("poisson", "constant", "bernoulli", "on-off", "uniform-gap" or "self-similar")",
              find_arrivals))
          .means("gaps between messages"),
      arrivals("burst", &ArrivalModel::burst, real(1, 1e6))
          .means("messages of a burst, on average"),
      arrivals("shape", &ArrivalModel::shape, real(1.05, 2))
          .means("of the Pareto law of self-similar arrivals"),
      arrivals("slot_ns", &ArrivalModel::slot, scaled(kNano, 0.001, 1e6))
          .means("of bernoulli arrivals"),
      traffic("size", &TrafficSpec::sizes, sizes())
          .means("of a message; above the MTU it is several packets"),
      row("traffic", "sl", R"(0 to 15, "path" or "random")", set_sl)
          .means("service level; path: as the engine says"),
      traffic("lid", &TrafficSpec::any_lid, choice<bool>({{"first", false}, {"any", true}}))
          .means("of the destination's LIDs: its first, or any, drawn for each message"),
      traffic("destinations", &TrafficSpec::destinations, whole(1, 65535))
          .means("of worms: hosts that a message goes to, any of them; loads count each copy"),
      traffic("multicast_share", &TrafficSpec::multicast_share, real(0, 1))
          .means("of messages that go to so many, or to a [[group]] of their sender's; the rest to "
                 "one, by the pattern"),
      traffic("share", &TrafficSpec::share, real(0, 1))
          .means("of hot-spot and combined: what goes to hot spots"),
      traffic("targets", &TrafficSpec::targets, whole(1, 49151))
          .means("hot spots; targets of an incast"),
      traffic("radius", &TrafficSpec::radius, whole(0, 100))
          .means("switch hops that are near, of local and combined"),
      traffic("dims", &TrafficSpec::dims, dims())
          .means("the grid of the switches with hosts, of mdn and tornado"),
      traffic("group", &TrafficSpec::switches_per_group, whole(1, 65536))
          .means("switches of a group, of adv+1"),
      traffic("collective", &TrafficSpec::collective, found_by(list_collectives(), find_collective))
          .means("an exchange instead of a pattern, of all hosts or of the first [[group]]"),
      traffic("bytes", &TrafficSpec::bytes, whole(1, 1e9))
          .means("of a collective: each message, or each host's data"),
      traffic("segment", &TrafficSpec::segment, whole(0, 1e9))
          .means("of binomial-broadcast and multicast-all-reduce: bytes that a host passes on at a "
                 "time; 0: all of them"),
      traffic("combine_ns", &TrafficSpec::combining, scaled(kNano, 0, 1e6))
          .means("of in-network-all-reduce: what a switch's port takes to add a packet"),
      traffic("combine_radix", &TrafficSpec::combine_radix, whole(2, 254))
          .means("of in-network-all-reduce: what a switch adds up at most, hosts and switches"),
      traffic("trace", &TrafficSpec::trace, some_text("a file (docs/formats/trace.md)"))
          .means("messages instead of a pattern"),
  };
}

Keys measure_keys() {
  const auto plan =
      option_section<Scenario>("measure", [](auto& s) -> auto& { return s.measure.plan; });
  const auto measure = option_section<Scenario>("measure", &Scenario::measure);
  return {
      plan("warm_up_us", &SteadyPlan::warm_up, scaled(kMicro, 0, 1e7))
          .means("before anything counts"),
      plan("interval_us", &SteadyPlan::interval, scaled(kMicro, 0.001, 1e7))
          .means("one batch, and one row of the series"),
      plan("least_intervals", &SteadyPlan::least_intervals, whole(2, 1e6))
          .means("before a run may end"),
      plan("most_intervals", &SteadyPlan::most_intervals, whole(2, 1e6))
          .means("after which it ends"),
      plan("precision", &SteadyPlan::precision, real(0, 1))
          .means("half of the 95 % interval of the mean latency, of the mean: then a run ends"),
      plan("warm_up_messages", &SteadyPlan::warm_up_messages, whole(0, 1e9))
          .means("that arrive before anything counts, in place of a time"),
      plan("messages", &SteadyPlan::messages, whole(0, 1e9))
          .means("that arrive before a run ends, in place of intervals; 0: as above"),
      measure("saturation", &MeasureSpec::saturation, flag())
          .means("look for the highest stable load"),
      measure("tolerance", &MeasureSpec::tolerance, real(0.001, 0.5)).means("of that load"),
      measure("limit_us", &MeasureSpec::limit, scaled(kMicro, 0.001, 1e7))
          .means("of a collective, a trace, a network that changes"),
  };
}

Keys manager_keys() {
  const auto manager = option_section<Scenario>("manager", &Scenario::manager);
  return {
      manager("mode", &ManagerSpec::how, mode()).means("how a change is taken in"),
      manager("computing", &ManagerSpec::computing, computing())
          .means("time that routes and plans take"),
      manager("drain_us", &ManagerSpec::drain, scaled(kMicroInNanos, 0, 1e7))
          .means("between phases of a plan that counts on buffers to empty"),
      manager("debounce_us", &ManagerSpec::debounce, scaled(kMicroInNanos, 0, 1e7))
          .means("from the first trap to the cycle that looks"),
      manager("sweep_us", &ManagerSpec::sweep_interval, scaled(kMicroInNanos, 0, 1e9))
          .means("between sweeps; 0: only traps"),
  };
}

Keys congestion_keys() {
  const auto whole_scenario = option_section<Scenario>("congestion", std::identity{});
  const auto congestion = option_section<Scenario>("congestion", &Scenario::congestion);
  const auto thresholds = option_section<Scenario>(
      "congestion", [](auto& s) -> auto& { return s.congestion.thresholds; });
  const auto window =
      option_section<Scenario>("congestion", [](auto& s) -> auto& { return s.congestion.window; });
  const auto iba =
      option_section<Scenario>("congestion", [](auto& s) -> auto& { return s.congestion.iba; });
  return {
      whole_scenario(
          "preset",
          &Scenario::congestion,
          found_by(
              R"("none", "standard", "renato-window", "renato", "renato-fimd", "pfister", "iocm" or "mvcm")",
              find_mechanism))
          .means("congestion control; the other keys change it"),
      congestion("marking",
                 &CongestionSpec::marking,
                 found_by(R"("none", "ipm", "rpm", "opm", "iopm", "mvpm" or "iba")", find_marking))
          .means("at switches"),
      congestion("echo",
                 &CongestionSpec::echo,
                 choice<EchoKind>({{"none", EchoKind::None},
                                   {"acks", EchoKind::Acknowledgements},
                                   {"notifications", EchoKind::Notifications}}))
          .means("of destinations: for each packet, or for each marked one"),
      congestion("reaction",
                 &CongestionSpec::reaction,
                 choice<ReactionKind>({{"none", ReactionKind::None},
                                       {"window", ReactionKind::Window},
                                       {"iba", ReactionKind::Iba}}))
          .means("of sources: windows and paces, or the congestion control table"),
      thresholds("input_percent", &MarkThresholds::input, whole(0, 100))
          .means("of an input buffer: above it ipm, iopm and mvpm mark"),
      thresholds("output_percent", &MarkThresholds::output, whole(0, 100))
          .means("of an output buffer, likewise; opm too"),
      window("window",
             &WindowRule::kind,
             choice<WindowKind>({{"none", WindowKind::None},
                                 {"static", WindowKind::Static},
                                 {"dynamic", WindowKind::Dynamic},
                                 {"fractional", WindowKind::Fractional}}))
          .means("packets of a flow on the way"),
      window("window_packets", &WindowRule::most, whole(0, 255))
          .means("the most; 0: what the longest empty path holds"),
      window("window_mean", &WindowRule::mean_per_mille, scaled(1000, 1, 60))
          .means("of a fractional window: its average"),
      congestion("scope",
                 &CongestionSpec::scope,
                 choice<Scope>({{"pair", Scope::Pair}, {"host", Scope::Host}}))
          .means("what a window is of"),
      congestion("pace",
                 &CongestionSpec::pace,
                 found_by(R"("none", "slots", "fimd", "aimd", "lipd" or "pfister")", find_pace))
          .means("gaps between the packets of a flow"),
      congestion("recovery",
                 &CongestionSpec::recovery,
                 choice<Recovery>(
                     {{"immediate", Recovery::Immediate}, {"progressive", Recovery::Progressive}}))
          .means("of windows and paces: also by an empty queue, or by acks alone"),
      congestion("radix", &CongestionSpec::radix, whole(0, 254))
          .means("by which slots grow; 0: most hosts of a switch"),
      congestion("stages", &CongestionSpec::stages, whole(0, 62))
          .means("how often they grow; 0: by the longest route"),
      congestion("cap",
                 &CongestionSpec::cap,
                 choice<cc::WaitCap>({{"stages", cc::WaitCap::Stages},
                                      {"stages-1", cc::WaitCap::StagesMinusOne},
                                      {"none", cc::WaitCap::None}}))
          .means("of slots: radix to this power"),
      congestion("round_trip_ns", &CongestionSpec::round_trip, scaled(kNano, 0, 1e9))
          .means("one slot; 0: of the longest empty path"),
      congestion("hot_sources", &CongestionSpec::hot_sources, whole(0, 49151))
          .means("that pfister reckons with; 0: a fifth of the hosts"),
      iba("threshold", &IbaSpec::threshold, whole(0, 15))
          .means("of iba: 0 never marks, 15 most eagerly"),
      iba("marking_rate", &IbaSpec::marking_rate, whole(0, 65535))
          .means("of iba: packets between two marks"),
      iba("packet_size", &IbaSpec::packet_size, whole(0, 255))
          .means("of iba: blocks of 64 bytes; shorter packets are not marked"),
      iba("victims", &IbaSpec::victims, flag())
          .means("of iba: ports before hosts mark as victims too"),
      iba("ccti_increase", &IbaSpec::increase, whole(0, 255)).means("of iba: for each BECN"),
      iba("ccti_limit", &IbaSpec::limit, whole(0, 16383))
          .means("of iba: the highest index; index i delays by i packet times"),
      iba("ccti_timer", &IbaSpec::timer, whole(0, 65535))
          .means("of iba: units of 1.024 us; 0: never falls"),
      iba("ccti_min", &IbaSpec::least, whole(0, 255)).means("of iba: the index never falls below"),
      iba("per_sl", &IbaSpec::per_sl, flag())
          .means("of iba: an index for each SL of a port; else for each flow"),
  };
}

Keys make_keys() {
  Keys all;
  for (const Keys& part : {fabric_keys(),
                           switch_keys(),
                           adapter_keys(),
                           cable_keys(),
                           routes_keys(),
                           worm_routes_keys(),
                           worm_keys(),
                           traffic_keys(),
                           measure_keys(),
                           manager_keys(),
                           congestion_keys()}) {
    std::ranges::copy(part, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::span<const ScenarioKey> scenario_keys() {
  static const Keys keys = make_keys();
  return keys;
}

}  // namespace smd::sim
