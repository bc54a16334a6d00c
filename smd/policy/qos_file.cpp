#include "smd/policy/qos_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "smd/policy/partition_text.h"

namespace smd {
namespace {

using partition_text::read_number;
using partition_text::trim;

constexpr std::size_t kMostFaults = 20;
constexpr std::uint64_t kKeyBits = 0x7fff;
constexpr std::uint64_t kMostServices = ~std::uint64_t{0};

// Service ids of upper layers: the TCP port is the lower 16 bits.
constexpr std::uint64_t kSdp = 0x10000;
constexpr std::uint64_t kTcp = 0x1060000;  // RDS and iSER
constexpr std::uint64_t kRdsPort = 0x48ca;
constexpr std::uint64_t kIserPort = 0x0cbc;

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

bool same_name(std::string_view a, std::string_view b) { return lowered(a) == lowered(b); }

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(by);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

enum class Section : std::uint8_t {
  Top,
  Ulps,
  PortGroups,
  PortGroup,
  Setup,
  Levels,
  Level,
  Rules,
  Rule
};

struct SectionName {
  std::string_view name;  // "end-" and it closes the section
  Section inside;
  Section outside;
};

constexpr SectionName kSections[] = {
    {"qos-ulps", Section::Ulps, Section::Top},
    {"port-groups", Section::PortGroups, Section::Top},
    {"port-group", Section::PortGroup, Section::PortGroups},
    {"qos-setup", Section::Setup, Section::Top},
    {"qos-levels", Section::Levels, Section::Top},
    {"qos-level", Section::Level, Section::Levels},
    {"qos-match-rules", Section::Rules, Section::Top},
    {"qos-match-rule", Section::Rule, Section::Rules},
};

std::string_view name_of(Section section) {
  const auto found = std::ranges::find(kSections, section, &SectionName::inside);
  return found == std::end(kSections) ? "the file" : found->name;
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void take_line(std::string_view text, int line) {
    line_ = line;
    text = trim(text.substr(0, text.find('#')));
    if (text.empty() || change_section(text)) return;
    if (section_ == Section::Setup) {
      if (!std::exchange(said_setup_, true))
        remark("qos-setup means nothing, as in OpenSM; tables are options: qos.sl2vl, …");
      return;
    }
    const std::size_t colon = text.rfind(':');
    if (section_ == Section::Ulps) return take_ulp(text, colon);
    const std::size_t first = text.find(':');
    if (first == std::string_view::npos)
      return fault(fmt::format("'{}' in {}; KEYWORD: VALUE", text, name_of(section_)));
    take(trim(text.substr(0, first)), trim(text.substr(first + 1)));
  }

  Parsed<QosReading> finish() && {
    if (section_ != Section::Top)
      fault(fmt::format("{} is not closed; end-{}", name_of(section_), name_of(section_)));
    resolve();
    if (!faults_.empty()) return tl::unexpected(std::move(faults_));
    return std::move(out_);
  }

 private:
  /// A rule of the file, its names not looked up yet.
  struct Rule {
    int line = 0;
    QosMatch match;
    std::vector<std::string> sources;
    std::vector<std::string> targets;
    std::string level;
  };

  bool change_section(std::string_view text) {
    for (const SectionName& each : kSections) {
      if (text == each.name) {
        if (section_ != each.outside) {
          fault(fmt::format(
              "{} in {}; it stands in {}", each.name, name_of(section_), name_of(each.outside)));
        }
        section_ = each.inside;
        began_ = line_;
        open();
        return true;
      }
      if (text.starts_with("end-") && text.substr(4) == each.name) {
        if (section_ != each.inside) {
          fault(fmt::format("{} where {} is open", text, name_of(section_)));
        } else {
          close();
        }
        section_ = each.outside;
        return true;
      }
    }
    return false;
  }

  void open() {
    if (section_ == Section::PortGroup) out_.rules.groups.emplace_back();
    if (section_ == Section::Level) {
      out_.rules.levels.emplace_back();
      has_sl_ = false;
    }
    if (section_ == Section::Rule) rules_.push_back({.line = line_});
  }

  void close() {
    const auto twice = [](const auto& list) {
      return std::ranges::count_if(list, [&](const auto& each) {
               return same_name(each.name, list.back().name);
             }) > 1;
    };
    if (section_ == Section::PortGroup) {
      const auto& groups = out_.rules.groups;
      if (groups.back().name.empty())
        fault_at(began_, "port-group has no name; name: NAME");
      else if (twice(groups))
        fault_at(began_, two("port-group", groups.back().name));
    } else if (section_ == Section::Level) {
      const auto& levels = out_.rules.levels;
      if (levels.back().name.empty())
        fault_at(began_, "qos-level has no name; name: NAME");
      else if (twice(levels))
        fault_at(began_, two("qos-level", levels.back().name));
      if (!has_sl_) fault_at(began_, "qos-level has no SL; sl: 0 to 15");
    } else if (section_ == Section::Rule && rules_.back().level.empty()) {
      fault_at(began_, "qos-match-rule has no level; qos-level-name: NAME");
    }
  }

  static std::string two(std::string_view what, std::string_view name) {
    return fmt::format("a second {} '{}'; each name once", what, name);
  }

  void take(std::string_view key, std::string_view value) {
    const bool known = section_ == Section::PortGroup ? take_group(key, value)
                       : section_ == Section::Level   ? take_level(key, value)
                       : section_ == Section::Rule    ? take_rule(key, value)
                                                      : false;
    if (!known) fault(fmt::format("no keyword '{}' in {}", key, name_of(section_)));
  }

  bool take_group(std::string_view key, std::string_view value) {
    QosPortGroup& group = out_.rules.groups.back();
    if (key == "name") {
      group.name = unquoted(value);
    } else if (key == "port-guid") {
      take_ranges(key, value, kMostServices, group.guids);
    } else if (key == "port-name") {
      for (const std::string_view each : split(value, ',')) take_port_name(each, group);
    } else if (key == "pkey") {
      take_keys(key, value, group.p_keys);
    } else if (key == "partition") {
      for (const std::string_view each : split(value, ','))
        group.partitions.push_back(unquoted(each));
    } else if (key == "node-type") {
      for (const std::string_view each : split(value, ',')) take_node_type(each, group);
    } else {
      return key == "use";
    }
    return true;
  }

  void take_port_name(std::string_view text, QosPortGroup& group) {
    const std::string name = unquoted(text);
    const std::size_t slash = name.rfind('/');
    const std::string_view number =
        slash == std::string::npos ? std::string_view{} : std::string_view(name).substr(slash + 1);
    const bool is_port = number.starts_with('P') || number.starts_with('p');
    const auto port = is_port ? read_number(number.substr(1)) : std::nullopt;
    if (!port || *port > 254)
      return fault(fmt::format("'{}' is no port; NODE DESCRIPTION/P1", name));
    group.ports.push_back({std::string(trim(std::string_view(name).substr(0, slash))), *port});
  }

  void take_node_type(std::string_view text, QosPortGroup& group) {
    const std::string type = lowered(text);
    if (type == "ca") {
      group.adapters = true;
    } else if (type == "switch") {
      group.switches = true;
    } else if (type == "router") {
      group.routers = true;
    } else if (type == "self") {
      group.self = true;
    } else if (type == "all") {
      group.all = true;
    } else {
      fault(fmt::format("no node type '{}'; CA, SWITCH, ROUTER, SELF or ALL", text));
    }
  }

  bool take_level(std::string_view key, std::string_view value) {
    QosLevel& level = out_.rules.levels.back();
    if (key == "name") {
      level.name = unquoted(value);
    } else if (key == "sl") {
      if (const auto sl = take_number(key, value, 0, 15)) {
        level.sl = *sl;
        has_sl_ = true;
      }
    } else if (key == "mtu-limit") {
      level.mtu_limit = take_number(key, value, 1, 5);
    } else if (key == "rate-limit") {
      level.rate_limit = take_number(key, value, 2, 24);
    } else if (key == "packet-life") {
      level.packet_life = take_number(key, value, 0, 63);
    } else if (key == "path-bits") {
      take_ranges(key, value, 127, level.path_bits);
    } else if (key == "pkey") {
      take_keys(key, value, level.p_keys);
    } else {
      return key == "use";
    }
    return true;
  }

  bool take_rule(std::string_view key, std::string_view value) {
    Rule& rule = rules_.back();
    if (key == "source" || key == "destination") {
      for (const std::string_view each : split(value, ','))
        (key == "source" ? rule.sources : rule.targets).push_back(unquoted(each));
    } else if (key == "service-id") {
      take_ranges(key, value, kMostServices, rule.match.services);
    } else if (key == "qos-class") {
      take_ranges(key, value, 0xfff, rule.match.classes);
    } else if (key == "pkey") {
      take_keys(key, value, rule.match.p_keys);
    } else if (key == "qos-level-name") {
      rule.level = unquoted(value);
    } else {
      return key == "use";
    }
    return true;
  }

  /// "sdp, port-num 10000-20000 : 3".
  void take_ulp(std::string_view text, std::size_t colon) {
    if (colon == std::string_view::npos)
      return fault(fmt::format("'{}' has no SL; KEYWORD: SL", text));
    const auto sl = take_number("the SL", trim(text.substr(colon + 1)), 0, 15);
    std::string_view what = trim(text.substr(0, colon));
    const std::size_t comma = what.find(',');
    const std::string ulp = lowered(trim(what.substr(0, comma)));
    std::string_view rest =
        comma == std::string_view::npos ? std::string_view{} : trim(what.substr(comma + 1));
    const std::size_t blank = rest.find_first_of(" \t");
    const std::string_view of = rest.substr(0, blank);
    const std::string_view values =
        blank == std::string_view::npos ? std::string_view{} : trim(rest.substr(blank));
    if (!sl) return;
    if (ulp == "default" && rest.empty()) {
      if (default_sl_) return fault("a second default; one");
      default_sl_ = *sl;
      default_line_ = line_;
      return;
    }
    Ulp rule{.line = line_, .sl = *sl};
    if (!read_ulp(ulp, of, values, rule)) {
      return fault(fmt::format(
          "'{}' is no application; default, sdp, rds, iser, ipoib, each with or without port-num "
          "or pkey, srp, target-port-guid GUID, or any, with service-id, pkey, target-port-guid, "
          "source-port-guid or source-target-port-guid",
          what));
    }
    ulps_.push_back(std::move(rule));
  }

  struct Ulp {
    int line = 0;
    std::uint8_t sl = 0;
    QosMatch match;
    std::vector<NumberRange> sources;  // GUIDs
    std::vector<NumberRange> targets;
    bool either = false;  // a source or a target is enough
  };

  bool read_ulp(const std::string& ulp, std::string_view of, std::string_view values, Ulp& rule) {
    QosMatch& match = rule.match;
    const auto ports = [&](std::uint64_t base) {
      take_ranges(of, values, 0xffff, match.services);
      for (NumberRange& each : match.services) each = {each.low + base, each.high + base};
      return true;
    };
    const auto service = [&](std::uint64_t low, std::uint64_t high) {
      match.services = {{low, high}};
      return true;
    };
    if (ulp == "sdp" && of.empty()) return service(kSdp, kSdp + 0xffff);
    if (ulp == "rds" && of.empty()) return service(kTcp + kRdsPort, kTcp + kRdsPort);
    if (ulp == "iser" && of.empty()) return service(kTcp + kIserPort, kTcp + kIserPort);
    if (ulp == "sdp" && of == "port-num") return ports(kSdp);
    if ((ulp == "rds" || ulp == "iser") && of == "port-num") return ports(kTcp);
    if (ulp == "ipoib" && of.empty()) {
      match.p_keys = {{kKeyBits, kKeyBits}};
      return true;
    }
    if ((ulp == "ipoib" || ulp == "any") && of == "pkey") {
      take_keys(of, values, match.p_keys);
      return true;
    }
    if ((ulp == "srp" || ulp == "any") && of == "target-port-guid") {
      take_ranges(of, values, kMostServices, rule.targets);
      return true;
    }
    if (ulp != "any") return false;
    if (of == "service-id") {
      take_ranges(of, values, kMostServices, match.services);
    } else if (of == "source-port-guid") {
      take_ranges(of, values, kMostServices, rule.sources);
    } else if (of == "source-target-port-guid") {
      take_ranges(of, values, kMostServices, rule.sources);
      rule.targets = rule.sources;
      rule.either = true;
    } else {
      return false;
    }
    return true;
  }

  // What names mean, when all are known.

  void resolve() {
    resolve_default();
    for (const Rule& rule : rules_) {
      QosMatch match = rule.match;
      line_ = rule.line;
      for (const std::string& name : rule.sources) add_group(name, match.sources);
      for (const std::string& name : rule.targets) add_group(name, match.targets);
      const auto level = find_level(rule.level);
      if (!level && !rule.level.empty())
        fault(fmt::format("no qos-level is called '{}'", rule.level));
      match.level = level.value_or(0);
      out_.rules.matches.push_back(std::move(match));
    }
    for (const Ulp& rule : ulps_) add_ulp(rule);
  }

  void resolve_default() {
    const auto level = find_level("default");
    if (level && default_sl_)
      fault_at(default_line_, "a second default level, beside that of qos-levels; one");
    if (!level && !default_sl_ && faults_.empty())
      fault_at(0, "no default level; a qos-level with name: DEFAULT, or default: SL in qos-ulps");
    out_.rules.default_level = level ? *level : simple_level(default_sl_.value_or(0), "default");
  }

  void add_ulp(const Ulp& rule) {
    const std::size_t level = simple_level(rule.sl, fmt::format("SL {}", rule.sl));
    QosMatch match = rule.match;
    match.level = level;
    QosMatch other = match;
    if (!rule.sources.empty()) match.sources = {guid_group(rule.sources)};
    if (!rule.targets.empty()) (rule.either ? other : match).targets = {guid_group(rule.targets)};
    out_.rules.matches.push_back(match);
    if (rule.either) out_.rules.matches.push_back(other);
  }

  std::size_t guid_group(const std::vector<NumberRange>& guids) {
    QosPortGroup group;
    group.guids = guids;
    out_.rules.groups.push_back(std::move(group));
    return out_.rules.groups.size() - 1;
  }

  std::size_t simple_level(std::uint8_t sl, std::string name) {
    QosLevel level;
    level.name = std::move(name);
    level.sl = sl;
    const auto& levels = out_.rules.levels;
    const auto found = std::ranges::find(levels, level);
    if (found != levels.end()) return static_cast<std::size_t>(found - levels.begin());
    out_.rules.levels.push_back(std::move(level));
    return levels.size() - 1;
  }

  void add_group(const std::string& name, std::vector<std::size_t>& to) {
    const auto& groups = out_.rules.groups;
    const auto found = std::ranges::find_if(
        groups, [&](const QosPortGroup& each) { return same_name(each.name, name); });
    if (found == groups.end()) return fault(fmt::format("no port-group is called '{}'", name));
    to.push_back(static_cast<std::size_t>(found - groups.begin()));
  }

  std::optional<std::size_t> find_level(std::string_view name) const {
    const auto& levels = out_.rules.levels;
    const auto found = std::ranges::find_if(
        levels, [&](const QosLevel& each) { return same_name(each.name, name); });
    if (found == levels.end()) return std::nullopt;
    return static_cast<std::size_t>(found - levels.begin());
  }

  // Values.

  static std::string unquoted(std::string_view text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
      text = text.substr(1, text.size() - 2);
    return std::string(text);
  }

  std::optional<std::uint8_t> take_number(std::string_view what,
                                          std::string_view text,
                                          std::uint64_t min,
                                          std::uint64_t max) {
    const auto number = read_number(text);
    if (number && *number >= min && *number <= max) return static_cast<std::uint8_t>(*number);
    fault(fmt::format("{} is '{}'; a number from {} to {}", what, text, min, max));
    return std::nullopt;
  }

  void take_ranges(std::string_view what,
                   std::string_view text,
                   std::uint64_t max,
                   std::vector<NumberRange>& to) {
    for (const std::string_view each : split(text, ',')) {
      const std::size_t dash = each.find('-');
      const auto low = read_number(trim(each.substr(0, dash)));
      const auto high =
          dash == std::string_view::npos ? low : read_number(trim(each.substr(dash + 1)));
      if (!low || !high || *low > *high || *high > max) {
        fault(fmt::format("{} has '{}'; numbers up to 0x{:x} and ranges of them, such as 0x10-0x1f",
                          what,
                          each,
                          max));
      } else {
        to.push_back({*low, *high});
      }
    }
  }

  /// Membership does not count: 0x8001 is partition 1. A range lies on one side of bit 15.
  void take_keys(std::string_view what, std::string_view text, std::vector<NumberRange>& to) {
    const std::size_t before = to.size();
    take_ranges(what, text, 0xffff, to);
    for (std::size_t i = before; i < to.size(); ++i) {
      if ((to[i].low > kKeyBits) == (to[i].high > kKeyBits)) {
        to[i] = {to[i].low & kKeyBits, to[i].high & kKeyBits};
      } else {
        fault(fmt::format("{} has a range over 0x7fff; P_Keys from 0x0001 to 0x7fff", what));
      }
    }
  }

  void remark(std::string message) { out_.remarks.push_back({file_, line_, std::move(message)}); }

  void fault(std::string message) { fault_at(line_, std::move(message)); }

  void fault_at(int line, std::string message) {
    if (faults_.size() < kMostFaults) faults_.push_back({file_, line, std::move(message)});
  }

  const std::string& file_;
  int line_ = 0;
  int began_ = 0;  // the section
  Section section_ = Section::Top;
  bool has_sl_ = false;
  bool said_setup_ = false;
  std::optional<std::uint8_t> default_sl_;  // of qos-ulps
  int default_line_ = 0;
  std::vector<Rule> rules_;
  std::vector<Ulp> ulps_;
  QosReading out_;
  Faults faults_;
};

}  // namespace

bool is_in(const std::vector<NumberRange>& ranges, std::uint64_t number) {
  return std::ranges::any_of(ranges, [number](const NumberRange& each) {
    return each.low <= number && number <= each.high;
  });
}

Parsed<QosReading> parse_qos_file(std::string_view text, const std::string& file) {
  Reader reader(file);
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    reader.take_line(text.substr(0, end), ++line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::move(reader).finish();
}

}  // namespace smd
