#include "sim-backend/scenario/scenario.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim-backend/scenario/key_uses.h"
#include "sim-backend/scenario/scenario_keys.h"
#include "smd/base/text.h"

namespace smd::sim {
namespace {

constexpr std::string_view kNoSaturation = "a saturation load is that of a network without faults";

std::string nearest_key(std::string_view section, std::string_view key) {
  std::vector<std::string_view> names;
  for (const ScenarioKey& row : scenario_keys()) {
    if (row.section == section) names.push_back(row.key);
  }
  return std::string(find_nearest(key, names));
}

std::vector<std::string_view> section_names() {
  std::vector<std::string_view> names;
  for (const ScenarioKey& row : scenario_keys()) {
    if (std::ranges::find(names, row.section) == names.end()) names.push_back(row.section);
  }
  return names;
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) { out_.file = file; }

  Parsed<Scenario> read(const OptionTable& document) {
    for (const OptionPair& entry : document) {
      if (entry.key == "fault") {
        read_list(entry, &Reader::read_fault);
      } else if (entry.key == "group") {
        read_list(entry, &Reader::read_group);
      } else {
        check_section(entry);
      }
    }
    // In the order of the table: a preset comes before what changes it.
    for (const ScenarioKey& row : scenario_keys()) read_key(row, document);
    check_whole();
    if (faults_.empty()) return out_;
    std::ranges::stable_sort(faults_, {}, &Fault::line);
    return tl::unexpected(std::move(faults_));
  }

 private:
  void complain(int line, std::string message) {
    faults_.push_back({file_, line, std::move(message)});
  }

  void check_section(const OptionPair& entry) {
    const std::string& name = entry.key;
    const auto names = section_names();
    if (std::ranges::find(names, name) == names.end()) {
      return complain(entry.line,
                      fmt::format("unknown section [{}]; the nearest known one is [{}]",
                                  name,
                                  find_nearest(name, names)));
    }
    const auto* section = as<OptionTable>(entry.value);
    if (section == nullptr) {
      return complain(entry.line, fmt::format("{} is no section; write [{}]", name, name));
    }
    for (const OptionPair& each : *section) {
      const bool known = std::ranges::any_of(scenario_keys(), [&](const ScenarioKey& row) {
        return row.section == name && row.key == each.key;
      });
      if (known) continue;
      complain(each.line,
               fmt::format("unknown key {}.{}; the nearest known one is {}.{}",
                           name,
                           each.key,
                           name,
                           nearest_key(name, each.key)));
    }
  }

  void read_list(const OptionPair& entry, void (Reader::*one)(const OptionTable&, int)) {
    const std::string right = fmt::format("{0} is a list of tables; write [[{0}]]", entry.key);
    const auto* list = as<OptionList>(entry.value);
    if (list == nullptr) return complain(entry.line, right);
    for (const OptionValue& item : *list) {
      if (const auto* table = as<OptionTable>(item)) {
        (this->*one)(*table, item.line);
      } else {
        complain(item.line, right);
      }
    }
  }

  void read_fault(const OptionTable& table, int here) {
    constexpr double kMostMicros = 1e9;
    FaultText fault{.line = here};
    for (const auto& [key, line, value, column] : table) {
      const auto* text = as<std::string>(value);
      if (key == "at_us") {
        const auto* whole = as<std::int64_t>(value);
        const auto* real = as<double>(value);
        const double at = whole != nullptr  ? static_cast<double>(*whole)
                          : real != nullptr ? *real
                                            : -1;
        if (at >= 0 && at <= kMostMicros) {
          fault.at = static_cast<Picos>(std::llround(at * static_cast<double>(kMicro)));
        } else {
          complain(line, "fault.at_us must be 0 to 1e9");
        }
      } else if (key == "what") {
        fault.what = text == nullptr ? "" : *text;
        if (!is_fault_word(fault.what)) {
          complain(line, fmt::format("fault.what must be {}", fault_grammar()));
        }
      } else if (key == "where") {
        fault.where = text == nullptr ? "" : *text;
        if (fault.where.empty()) complain(line, "fault.where must be a node, or NODE:PORT");
      } else {
        complain(line, fmt::format("unknown key fault.{}; known are at_us, what, where", key));
      }
    }
    for (const char* key : {"at_us", "what", "where"}) {
      if (find_value(table, key) == nullptr) complain(here, fmt::format("a fault needs {}", key));
    }
    out_.faults.push_back(std::move(fault));
  }

  /// Names, or one name.
  static std::vector<std::string> names_in(const OptionValue& value) {
    std::vector<std::string> out;
    if (const auto* one = as<std::string>(value)) return {*one};
    const auto* list = as<OptionList>(value);
    for (const OptionValue& each : list == nullptr ? OptionList{} : *list) {
      const auto* name = as<std::string>(each);
      if (name == nullptr || name->empty()) return {};
      out.push_back(*name);
    }
    return out;
  }

  void read_group(const OptionTable& table, int here) {
    constexpr std::int64_t kMostHosts = 49151;
    GroupText group{.line = here, .mlid_line = here};
    int choices = 0;
    for (const auto& [key, line, value, column] : table) {
      const auto* whole = as<std::int64_t>(value);
      const auto number = [&](std::int64_t least, std::int64_t most) {
        return whole != nullptr && *whole >= least && *whole <= most;
      };
      if (key == "members" || key == "leaf") {
        std::vector<std::string> names = names_in(value);
        const bool all = key == "members" && names == std::vector<std::string>{"all"};
        if (names.empty()) {
          complain(line,
                   key == "leaf" ? "group.leaf must be a switch, or a list of switches"
                                 : "group.members must be \"all\", a host, or a list of hosts");
        } else if (!all) {
          (key == "leaf" ? group.leaves : group.names) = std::move(names);
        }
      } else if (key == "count" || key == "random") {
        if (number(2, kMostHosts)) {
          (key == "count" ? group.count : group.random) = static_cast<std::uint32_t>(*whole);
        } else {
          complain(line, fmt::format("group.{} must be 2 to {}", key, kMostHosts));
        }
      } else if (key == "seed") {
        if (number(0, 1'000'000'000)) {
          group.seed = static_cast<std::uint64_t>(*whole);
        } else {
          complain(line, "group.seed must be 0 to 1e9");
        }
      } else if (key == "sender") {
        group.sender_line = line;
        if (const auto* name = as<std::string>(value); name != nullptr && !name->empty()) {
          group.sender = *name;
        } else {
          complain(line, "group.sender must be a host");
        }
      } else if (key == "mlid") {
        group.mlid_line = line;
        if (number(0xC000, 0xFFFE)) {
          group.mlid = static_cast<std::uint16_t>(*whole);
        } else {
          complain(line, "group.mlid must be 0xc000 to 0xfffe");
        }
      } else {
        complain(line,
                 fmt::format("unknown key group.{}; known are members, leaf, count, random, seed, "
                             "sender, mlid",
                             key));
      }
      if (key != "members" && key != "leaf" && key != "count" && key != "random") continue;
      group.line = line;
      if (++choices == 2) {
        complain(line, "a group's members are one of members, leaf, count and random");
      }
    }
    if (group.random == 0 && find_value(table, "seed") != nullptr) {
      complain(here, "group.seed is of group.random; leave it out");
    }
    out_.groups.push_back(std::move(group));
  }

  void read_key(const ScenarioKey& row, const OptionTable& document) {
    const OptionValue* section = find_value(document, row.section);
    if (section == nullptr || as<OptionTable>(*section) == nullptr) return;
    const OptionValue* value = find_value(*as<OptionTable>(*section), row.key);
    if (value == nullptr) return;
    const int line = value->line;
    out_.lines[row.name()] = line;
    if (row.section == "fabric" && row.key == "name") out_.fabric_line = line;
    if (row.section == "routes" && out_.routes_line == 0) out_.routes_line = line;
    if (row.section == "traffic" && out_.traffic_line == 0) out_.traffic_line = line;
    if (row.section == "manager" && manager_line_ == 0) manager_line_ = line;
    if (row.apply(*value, out_)) return;
    complain(line, fmt::format("{} must be {}", row.name(), row.range));
  }

  [[nodiscard]] int line(std::string_view key) const { return out_.line_of(key); }

  /// Keys of the model that this one is not.
  void check_model() {
    static constexpr std::array<std::string_view, 13> kWormKeys{"routes.system",
                                                                "routes.second",
                                                                "routes.per_pair",
                                                                "routes.root",
                                                                "routes.seed",
                                                                "routes.itb_host",
                                                                "routes.choose",
                                                                "routes.small",
                                                                "routes.share",
                                                                "routes.margin",
                                                                "routes.algorithm",
                                                                "traffic.destinations",
                                                                "traffic.load_unit"};
    static constexpr std::array<std::string_view, 15> kPacketKeys{"fabric.engine",
                                                                  "fabric.vls",
                                                                  "fabric.mtu",
                                                                  "fabric.lifetimes",
                                                                  "fabric.lmc",
                                                                  "fabric.non_minimal",
                                                                  "fabric.path_sets",
                                                                  "fabric.orientation",
                                                                  "fabric.multicast_trees",
                                                                  "traffic.among",
                                                                  "traffic.segment",
                                                                  "traffic.combine_ns",
                                                                  "traffic.combine_radix",
                                                                  "traffic.lid",
                                                                  "traffic.sl"};
    const bool worms = out_.model == NetModel::Worms;
    for (const auto& [name, at] : out_.lines) {
      const std::string section = name.substr(0, name.find('.'));
      const bool of_worms = section == "worm" || section == "nic" ||
                            std::ranges::find(kWormKeys, name) != kWormKeys.end();
      const bool of_packets = section == "switch" || section == "adapter" || section == "cable" ||
                              section == "manager" || section == "congestion" ||
                              (section == "routes" && !of_worms) ||
                              std::ranges::find(kPacketKeys, name) != kPacketKeys.end();
      if (worms ? of_packets : of_worms) {
        complain(
            at,
            fmt::format(
                "{} is of fabric.model = \"{}\"; leave it out", name, worms ? "packets" : "worms"));
      }
    }
    if (worms && line("fabric.preset") == 0) out_.preset = "myrinet";
    if (worms != (out_.preset == "myrinet" || out_.preset == "unit")) {
      complain(line("fabric.preset"),
               worms ? "fabric.preset of worms is \"myrinet\" or \"unit\""
                     : fmt::format("fabric.preset \"{}\" is of worms: fabric.model = \"worms\"",
                                   out_.preset));
    }
    if (!worms) return;
    if (!out_.groups.empty()) {
      complain(
          out_.groups.front().line,
          "a [[group]] is of fabric.model = \"packets\"; messages of worms go to several hosts "
          "by traffic.destinations");
    }
    check_algorithm();
    check_worm_traffic();
    for (const FaultText& fault : out_.faults) {
      if (fault.what.starts_with("link-")) continue;
      complain(fault.line, "fault.what of worms must be link-down or link-up");
    }
    if (!out_.faults.empty() && out_.worm.header) {
      complain(line("nic.header"), "nic.header is of a network without [[fault]]; leave it out");
    }
    if (!out_.faults.empty() && out_.measure.saturation) {
      complain(line("measure.saturation"), std::string(kNoSaturation));
    }
    if (const std::string why = check_options(out_.worm.options); !why.empty()) {
      complain(
          std::max(
              {line("worm.buffer"), line("worm.stop"), line("worm.go"), line("worm.allocation")}),
          why);
    }
    const RouteChoiceKind kind = out_.worm.choice.kind;
    const bool two = kind == RouteChoiceKind::Size || kind == RouteChoiceKind::Share;
    if (two && out_.worm.second.empty()) {
      complain(line("routes.choose"), "choosing by size or share needs two sets: routes.second");
    }
    if (!out_.worm.second.empty() && !two && kind != RouteChoiceKind::Contention) {
      complain(line("routes.second"),
               "a second set needs routes.choose = \"size\", \"share\" or \"contention\"");
    }
    out_.traffic.sl_choice = SlChoice::Fixed;
    out_.traffic.sl = 0;
  }

  /// Each message goes to another host than its source, by a route of its own.
  void check_worm_traffic() {
    const auto& kind = out_.traffic.collective;
    if (kind && needs_group(*kind)) {
      complain(line("traffic.collective"),
               "this traffic.collective sends to a [[group]], which is of fabric.model = "
               "\"packets\": one that sends to one host each, as binomial-broadcast");
    }
    if (find_pattern(out_.traffic.pattern)->includes_self) {
      complain(line("traffic.pattern"),
               fmt::format("traffic.pattern {} has hosts send to themselves, which worms do not: "
                           "uniform",
                           out_.traffic.pattern));
    }
  }

  /// Of messages to several hosts.
  void check_algorithm() {
    if (out_.worm.algorithm.empty()) {
      if (out_.traffic.destinations > 1)
        complain(line("traffic.destinations"),
                 "source routes lead to one host: several need routes.algorithm");
      return;
    }
    for (const char* key : {"system",
                            "second",
                            "per_pair",
                            "root",
                            "seed",
                            "itb_host",
                            "choose",
                            "small",
                            "share",
                            "margin"}) {
      const std::string name = fmt::format("routes.{}", key);
      if (const int at = line(name); at > 0)
        complain(at, name + " is of source routes, not of routes.algorithm; leave it out");
    }
    if (!out_.faults.empty()) {
      complain(line("routes.algorithm"),
               "routes.algorithm is of a network without [[fault]]; leave one of them out");
    }
  }

  void check_whole() {
    if (!faults_.empty()) return;
    check_model();
    check_intervals();
    if (out_.model == NetModel::Worms) {
      check_traffic();
      check_uses();
      return;
    }
    if (const std::string why = check_options(out_.packet); !why.empty()) complain(0, why);
    const unsigned packet = out_.largest_packet();
    const SwitchModel& sw = out_.packet.switches;
    if (sw.input_buffer_bytes < packet) {
      complain(line("switch.input_buffer"),
               fmt::format("an input buffer of {} bytes never takes a packet of {}",
                           sw.input_buffer_bytes,
                           packet));
    }
    if (sw.output_buffers && sw.output_buffer_bytes < packet) {
      complain(line("switch.output_buffer"),
               fmt::format("an output buffer of {} bytes never takes a packet of {}",
                           sw.output_buffer_bytes,
                           packet));
    }
    if (manager_line_ > 0 && !out_.is_managed()) {
      complain(manager_line_, "[manager] takes part where there is a [[fault]]");
    }
    if (out_.is_managed()) check_registers();
    for (const char* key : {"fabric.lmc",
                            "fabric.non_minimal",
                            "fabric.path_sets",
                            "fabric.orientation",
                            "traffic.lid"}) {
      if (!out_.is_managed() || line(key) == 0) continue;
      complain(line(key), fmt::format("{} is of a network without [[fault]]; leave it out", key));
    }
    check_routes();
    check_groups();
    const CongestionSpec& congestion = out_.congestion;
    if (congestion.reaction == ReactionKind::Window &&
        congestion.echo != EchoKind::Acknowledgements &&
        congestion.window.kind != WindowKind::None) {
      complain(line("congestion.echo"),
               "a window needs acknowledgements: congestion.echo = \"acks\"");
    }
    if (congestion.window.kind == WindowKind::Fractional && congestion.window.mean_per_mille == 0) {
      complain(line("congestion.window"), "a fractional window needs congestion.window_mean");
    }
    if (out_.is_managed() && out_.measure.saturation) {
      complain(line("measure.saturation"), std::string(kNoSaturation));
    }
    check_traffic();
    check_uses();
  }

  void check_intervals() {
    const SteadyPlan& plan = out_.measure.plan;
    if (!has_most_intervals(out_) || plan.least_intervals <= plan.most_intervals) return;
    const int least = line("measure.least_intervals");
    complain(least > 0 ? least : line("measure.most_intervals"),
             fmt::format("measure.least_intervals is {}, more than measure.most_intervals, {}",
                         plan.least_intervals,
                         plan.most_intervals));
  }

  /// What has been complained about is not said twice.
  void check_uses() {
    for (Fault& idle : find_idle_keys(out_)) {
      if (std::ranges::find(faults_, idle.line, &Fault::line) == faults_.end())
        faults_.push_back(std::move(idle));
    }
  }

  void check_traffic() {
    const int kinds = (line("traffic.pattern") > 0) + (line("traffic.collective") > 0) +
                      (line("traffic.trace") > 0);
    if (kinds > 1) {
      complain(std::max(line("traffic.collective"), line("traffic.trace")),
               "traffic is a pattern, a collective or a trace: one of them");
    }
    if (!out_.traffic.among_rails) return;
    const auto& kind = out_.traffic.collective;
    if (line("traffic.trace") > 0) {
      complain(line("traffic.among"),
               "traffic.among is of patterns and collectives: a trace says who sends to whom");
    } else if (kind && (needs_group(*kind) || !out_.groups.empty())) {
      complain(
          line("traffic.among"),
          "traffic.among = \"rail\" is of collectives without a [[group]]; leave one of them out");
    }
  }

  /// And what sends to them.
  void check_groups() {
    const bool none = out_.groups.empty();
    if (!none && out_.is_managed()) {
      complain(out_.groups.front().line,
               "a [[group]] is of a network that does not change; leave it or the [[fault]] out");
    }
    if (!none && out_.routes.has_rule()) {
      complain(out_.groups.front().line,
               "packets to a [[group]] go by the tables; leave it or routes.rule out");
    }
    if (!none && !out_.groups.front().sender.empty() &&
        out_.traffic.collective == CollectiveKind::InNetworkAllReduce) {
      complain(out_.groups.front().sender_line,
               "in-network-all-reduce: every member of its group receives; leave group.sender out");
    }
    for (const char* key : {"traffic.multicast_share", "fabric.multicast_trees"}) {
      if (none && line(key) > 0) complain(line(key), fmt::format("{} needs a [[group]]", key));
    }
    const auto& kind = out_.traffic.collective;
    if (none && kind && needs_group(*kind)) {
      complain(line("traffic.collective"),
               "this traffic.collective needs a [[group]]: the members of the first one take part");
    }
    const bool segments =
        kind == CollectiveKind::BinomialBroadcast || kind == CollectiveKind::MulticastAllReduce;
    if (line("traffic.segment") > 0 && !segments) {
      complain(line("traffic.segment"),
               "traffic.segment is of binomial-broadcast and multicast-all-reduce; leave it out");
    }
    for (const char* key : {"traffic.combine_ns", "traffic.combine_radix"}) {
      if (line(key) == 0 || kind == CollectiveKind::InNetworkAllReduce) continue;
      complain(line(key), fmt::format("{} is of in-network-all-reduce; leave it out", key));
    }
  }

  void check_routes() {
    const RoutesSpec& routes = out_.routes;
    if (out_.routes_line == 0) return;
    if (!routes.has_rule()) {
      if (line("routes.rule") == 0) {
        complain(out_.routes_line, "[routes] needs routes.rule: without one the tables are used");
      }
      return;
    }
    if (out_.is_managed()) {
      complain(out_.routes_line,
               "a rule is for a network that does not change: leave out [routes] or the [[fault]]");
    }
    if (line("routes.dims") > 0 && line("routes.group") > 0) {
      complain(line("routes.group"),
               "routes.dims is of a butterfly, routes.group of a dragonfly: one of them");
    }
    if (routes.rule.rule == RuleKind::Progressive &&
        routes.rule.via == IntermediateKind::ByRouter) {
      complain(line("routes.valiant"), "par goes by groups: routes.valiant = \"group\"");
    }
  }

  /// In a network that changes they are the manager's, which works them out of what it finds.
  void check_registers() {
    for (const char* key : {"threshold",
                            "marking_rate",
                            "packet_size",
                            "victims",
                            "ccti_increase",
                            "ccti_limit",
                            "ccti_timer",
                            "ccti_min",
                            "per_sl"}) {
      const std::string name = fmt::format("congestion.{}", key);
      if (const int at = line(name); at > 0)
        complain(at, name + " is the manager's to set where there is a [[fault]]; leave it out");
    }
    const CongestionSpec& spec = out_.congestion;
    if ((spec.marking == MarkingKind::Iba) != (spec.reaction == ReactionKind::Iba))
      complain(std::max(line("congestion.marking"), line("congestion.reaction")),
               "where there is a [[fault]], \"iba\" is both marking and reaction, or neither");
  }

  std::string file_;
  Scenario out_;
  Faults faults_;
  int manager_line_ = 0;
};

}  // namespace

unsigned Scenario::largest_packet() const {
  const unsigned mtu = mtu_bytes(program.mtu);
  if (traffic.collective || !traffic.trace.empty()) return mtu;
  std::uint32_t most = 0;
  for (const SizeShare& size : traffic.sizes) most = std::max(most, size.bytes);
  return std::min(mtu, most);
}

Parsed<Scenario> parse_scenario(std::string_view text, const std::string& file) {
  const auto document = parse_toml(text, file, "smsim");
  if (!document) return tl::unexpected(document.error());
  return Reader(file).read(*document);
}

std::string list_scenario_keys() {
  std::string out;
  std::string_view section;
  for (const ScenarioKey& row : scenario_keys()) {
    if (row.section != section) out += fmt::format("[{}]\n", row.section);
    section = row.section;
    out += fmt::format("  {:<22} {}: {}\n", row.key, row.meaning, row.range);
  }
  out += "[[fault]]\n";
  out += "  at_us                  since the traffic began: 0 to 1e9\n";
  out += fmt::format("  what                   of a network that changes: {}\n", fault_grammar());
  out +=
      "  where                  the node, or NODE:PORT of a link: a description, an id or a GUID\n";
  out += "[[group]]\n";
  out +=
      "  members                \"all\" (as without this, leaf, count or random), a host, a list\n";
  out += "  leaf                   a switch, or a list: the hosts there\n";
  out += "  count, random          so many hosts: the first, or drawn; 2 to 49151\n";
  out += "  seed                   of what is drawn: 0 to 1e9\n";
  out += "  sender                 a host: it alone sends to the group, and receives nothing\n";
  out += "  mlid                   0xc000 to 0xfffe; without it the lowest that is free\n";
  out += "patterns\n";
  for (const PatternRow& row : traffic_patterns()) {
    out += fmt::format("  {:<22} {}\n", row.name, row.meaning);
  }
  return out;
}

}  // namespace smd::sim
